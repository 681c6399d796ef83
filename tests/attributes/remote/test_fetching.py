"""Fetching of others' addresses: every way into the inside of the network is closed."""

import shutil
import socket
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sfumato.attributes.fetching import Fetcher, FetchLimits, is_public
from sfumato.errors import PlanError

REFUSED = {
    "loopback": "http://127.0.0.1/c",
    "other loopback": "http://127.8.9.1/c",
    "loopback name": "http://localhost/c",
    "loopback name with a dot": "http://localhost./c",
    "loopback name, capitals": "http://LOCALHOST/c",
    "private 10": "http://10.0.0.1/c",
    "private 172": "http://172.16.0.1/c",
    "private 192": "http://192.168.1.1/c",
    "carrier": "http://100.64.0.1/c",
    "link-local, metadata": "http://169.254.169.254/latest/meta-data",
    "multicast": "http://224.0.0.1/c",
    "broadcast": "http://255.255.255.255/c",
    "unspecified": "http://0.0.0.0/c",
    "this network": "http://0.1.2.3/c",
    "documentation": "http://192.0.2.1/c",
    "benchmarking": "http://198.18.0.1/c",
    "reserved": "http://240.0.0.1/c",
    "IPv6 loopback": "http://[::1]/c",
    "IPv6 unspecified": "http://[::]/c",
    "IPv6 link-local": "http://[fe80::1]/c",
    "IPv6 link-local with zone": "http://[fe80::1%25eth0]/c",
    "IPv6 private": "http://[fc00::1]/c",
    "IPv6 multicast": "http://[ff02::1]/c",
    "IPv6 site-local": "http://[fec0::1]/c",
    "IPv6 documentation": "http://[3fff::1]/c",
    "assignments of protocols": "http://192.0.0.8/c",
    "relays": "http://192.88.99.1/c",
    "IPv4-mapped": "http://[::ffff:127.0.0.1]/c",
    "IPv4-mapped in hexadecimal": "http://[::ffff:7f00:1]/c",
    "IPv4-mapped private": "http://[::ffff:10.0.0.1]/c",
    "IPv4-compatible": "http://[::127.0.0.1]/c",
    "translated": "http://[64:ff9b::7f00:1]/c",
    "6to4": "http://[2002:7f00:1::]/c",
    "decimal": "http://2130706433/c",
    "octal": "http://0177.0.0.1/c",
    "octal in one": "http://017700000001/c",
    "hexadecimal": "http://0x7f.0.0.1/c",
    "hexadecimal in one": "http://0x7f000001/c",
    "short": "http://127.1/c",
    "decimal, public": "http://134744072/c",
    "fullwidth digits": "http://１２７.０.０.１/c",
    "other dots": "http://127。0。0。1/c",
    "percent signs": "http://127%2e0%2e0%2e1/c",
    "user name": "http://example.org@127.0.0.1/c",
    "password": "http://a:b@example.org/c",
    "backslash": "http://example.org\\@127.0.0.1/c",
    "file": "file:///etc/passwd",
    "ftp": "ftp://example.org/c",
    "gopher": "gopher://127.0.0.1:70/c",
    "data": "data:application/json,{}",
    "no scheme": "//127.0.0.1/c",
    "no host": "http:///c",
    "only a name": "configuration",
    "empty": "",
    "port zero": "http://127.0.0.1:0/c",
    "port too large": "http://127.0.0.1:99999/c",
    "line break": "http://example.org/c\r\nX: y",
    "space": "http://exa mple.org/c",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(PlanError) as refusal:
        Fetcher().fetch(REFUSED[name])
    assert refusal.value.code.removeprefix("plan.") in {"url", "url-host", "url-refused"}


@pytest.mark.parametrize("address", ["10.1.2.3", "::1", "169.254.169.254", "::ffff:192.168.0.1", "fe80::1%1"])
def test_name_that_resolves_to_the_inside(address):
    fetcher = Fetcher(resolver=lambda host, port: [address])
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.url-refused"):
        fetcher.fetch("http://public.example/c")


def test_one_inner_address_among_public_ones_is_enough():
    fetcher = Fetcher(resolver=lambda host, port: ["8.8.8.8", "10.0.0.1"])
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.url-refused"):
        fetcher.fetch("http://public.example/c")


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:4700:4700::1111"])
def test_public_addresses_are_public(address):
    assert is_public(address)


def test_allowed_host_is_fetched(pages):
    address = pages.put("/c", b'{"a": 1}', Content_Type="application/ld+json; charset=utf-8")
    found = Fetcher(frozenset({"127.0.0.1"})).fetch(address)
    assert (found.text, found.media_type) == ('{"a": 1}', "application/ld+json")
    assert Fetcher(frozenset({f"127.0.0.1:{pages.port}"})).fetch(address) == found
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.url-refused"):
        Fetcher(frozenset({f"127.0.0.1:{pages.port + 1}"})).fetch(address)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_to_the_inside_is_refused(pages, status):
    pages.put("/secret", b'{"secret": 1}')
    pages.put("/c", b"", status, Location=pages.url("/secret"))
    fetcher = Fetcher(frozenset({f"localhost:{pages.port}"}))
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.url-refused"):
        fetcher.fetch(pages.url("/c", "localhost"))
    assert [path for path, _ in pages.asked] == ["/c"]


@pytest.mark.parametrize("target", ["file:///etc/passwd", "http://2130706433/", "gopher://127.0.0.1/"])
def test_redirect_to_another_form_is_refused(pages, target):
    address = pages.put("/c", b"", 302, Location=target)
    with pytest.raises(PlanError):
        Fetcher(frozenset({"127.0.0.1"})).fetch(address)


def test_redirect_within_an_allowed_host_is_followed(pages):
    pages.put("/there", b'{"a": 2}')
    address = pages.put("/here", b"", 302, Location="/there")
    assert Fetcher(frozenset({"127.0.0.1"})).fetch(address).text == '{"a": 2}'


def test_redirects_end(pages):
    address = pages.put("/loop", b"", 302, Location="/loop")
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.url-redirects"):
        Fetcher(frozenset({"127.0.0.1"})).fetch(address)
    assert len(pages.asked) == 4


def test_connection_goes_to_the_address_that_was_checked(pages):
    """A name that resolves differently a moment later (rebinding) is asked once, and its header keeps the name."""
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])
    fetcher = Fetcher(frozenset({"config.test"}), resolver=lambda host, port: next(answers))
    pages.put("/c", b"{}")
    assert fetcher.fetch(f"http://config.test:{pages.port}/c").text == "{}"
    assert pages.asked == [("/c", f"config.test:{pages.port}")]
    assert next(answers) == ["10.0.0.1"]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for config.test, made for the occasion."""
    program = shutil.which("openssl")
    if not program:
        pytest.skip("needs openssl to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    names = ["-subj", "/CN=config.test", "-addext", "subjectAltName=DNS:config.test"]
    command = [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *files, *names]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def test_https_checks_the_name_and_connects_to_the_checked_address(certificate, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.headers["Host"])
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_):  # a client that refuses the certificate hangs up
            pass

    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    port = server.server_address[1]
    hosts = frozenset({"config.test", "other.test"})
    try:
        with pytest.raises(
            PlanError, check=lambda error: error.code == "plan.url-unreachable"
        ):  # nobody vouches for the certificate
            Fetcher(hosts, resolver=lambda host, port: ["127.0.0.1"]).fetch(f"https://config.test:{port}/c")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
        fetcher = Fetcher(hosts, resolver=lambda host, port: ["127.0.0.1"])
        assert fetcher.fetch(f"https://config.test:{port}/c").text == "{}"
        assert asked == [f"config.test:{port}"]
        with pytest.raises(
            PlanError, check=lambda error: error.code == "plan.url-unreachable"
        ):  # the certificate is for another name
            fetcher.fetch(f"https://other.test:{port}/c")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_cache_and_its_end(pages):
    address = pages.put("/c", b"{}")
    fetcher = Fetcher(frozenset({"127.0.0.1"}), FetchLimits(cache_seconds=0.3, cache_entries=2))
    fetcher.fetch(address)
    fetcher.fetch(address)
    assert len(pages.asked) == 1
    time.sleep(0.35)
    fetcher.fetch(address)
    assert len(pages.asked) == 2
    for number in range(3):
        fetcher.fetch(pages.put(f"/c{number}"))
    assert len(fetcher._kept) == 2


@pytest.mark.parametrize("extra", [{}, {"Transfer_Encoding": "identity"}])
def test_too_large(pages, extra):
    address = pages.put("/c", b"x" * 1_000_001, **extra)
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.url-too-large"):
        Fetcher(frozenset({"127.0.0.1"})).fetch(address)


def test_dripping_answer_ends_in_time(pages):
    address = pages.put("/c", b"x" * 100, seconds=0.1)
    started = time.monotonic()
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.url-unreachable"):
        Fetcher(frozenset({"127.0.0.1"}), FetchLimits(seconds=0.5)).fetch(address)
    assert time.monotonic() - started < 2


def test_silent_server_ends_in_time():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        with pytest.raises(PlanError, check=lambda error: error.code == "plan.url-unreachable"):
            fetcher = Fetcher(frozenset({"127.0.0.1"}), FetchLimits(seconds=0.4))
            fetcher.fetch(f"http://127.0.0.1:{silent.getsockname()[1]}/c")
        assert time.monotonic() - started < 2


def test_slow_resolver_ends_in_time():
    def resolve(host: str, port: int) -> list[str]:
        time.sleep(1)
        return ["8.8.8.8"]

    started = time.monotonic()
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.url-unreachable"):
        Fetcher(limits=FetchLimits(seconds=0.2), resolver=resolve).fetch("http://slow.example/")
    assert time.monotonic() - started < 0.9


@pytest.mark.parametrize(("status", "body"), [(404, b""), (500, b"x"), (204, b"")])
def test_other_status(pages, status, body):
    with pytest.raises(PlanError, match=f"status {status}"):
        Fetcher(frozenset({"127.0.0.1"})).fetch(pages.put("/c", body, status))


def test_incomplete_and_undecodable(pages):
    fetcher = Fetcher(frozenset({"127.0.0.1"}), FetchLimits(seconds=1))
    with pytest.raises(PlanError):
        fetcher.fetch(pages.put("/short", b"{}", Content_Length="9"))
    with pytest.raises(PlanError, match="UTF-8"):
        fetcher.fetch(pages.put("/latin", b"\xe9"))
