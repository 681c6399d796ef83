"""Signed notifications that a job has ended; what a template loads for jobs."""

import socket
import sys
import threading

import pytest

from sfumato.attributes.fetching import Fetcher, FetchLimits
from sfumato.errors import PlanError
from sfumato.service.jobs.webhooks import Webhook, Webhooks
from sfumato.service.jobs.worker import warm_up_kernels

SECRET = "a secret of the receiver's own"
PUBLIC = "93.184.216.34"
NAMES = {
    "inside.example": ["10.1.2.3"],
    "both.example": [PUBLIC, "192.168.0.7"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "translated.example": ["64:ff9b::a00:1"],
    "link.example": ["fe80::1"],
    "metadata.example": ["169.254.169.254"],
}
REFUSED = {
    "loopback": "http://127.0.0.1:8080/told",
    "its name": "https://localhost/told",
    "private": "http://172.20.1.1/told",
    "metadata": "http://169.254.169.254/latest",
    "IPv6 loopback": "http://[::1]:5432/",
    "IPv6 private": "http://[fd12::1]/",
    "IPv4-mapped": "http://[::ffff:192.168.1.1]/",
    "decimal": "http://2130706433/",
    "hexadecimal": "http://0x7f000001/",
    "user name": "http://example.org@127.0.0.1/",
    "port zero": "http://example.org:0/",
    "file": "file:///etc/passwd",
    **{name: f"https://{name}/told" for name in NAMES},
}


class Names:
    """Resolves names as a table says, which may change."""

    def __init__(self, table):
        self.table = dict(table)

    def __call__(self, host, _port):
        return self.table.get(host) or [host]


class Listener:
    """Counts who connects to this machine."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port, self.connections = self.socket.getsockname()[1], 0
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.recv(1000)
            connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            connection.close()


@pytest.fixture
def listener():
    own = Listener()
    yield own
    own.socket.shutdown(socket.SHUT_RDWR)
    own.socket.close()
    own.thread.join(5)


@pytest.mark.parametrize("name", REFUSED)
def test_an_address_inside_is_not_noted(tmp_path, name):
    webhooks = Webhooks(tmp_path / "notes", Fetcher(resolver=Names(NAMES)))
    with pytest.raises(PlanError) as refusal:
        webhooks.add("job", Webhook(REFUSED[name], SECRET))
    assert refusal.value.code.removeprefix("plan.") in {"url", "url-host", "url-refused"}
    assert webhooks.waiting() == []


def test_a_name_that_leads_inside_later_is_not_told(tmp_path, listener):
    names = Names({"receiver.example": [PUBLIC]})
    webhooks = Webhooks(tmp_path / "notes", Fetcher(limits=FetchLimits(seconds=1), resolver=names))
    webhooks.add("job", Webhook(f"http://receiver.example:{listener.port}/told", SECRET))
    names.table["receiver.example"] = ["127.0.0.1"]
    webhooks.tell("job", {"job": "job"})
    assert listener.connections == 0
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["job.json"]  # it is tried again


def test_a_host_that_the_operator_allows_is_told(tmp_path, listener):
    """So that the test before fails for the right reason."""
    fetcher = Fetcher(
        frozenset({f"receiver.example:{listener.port}"}), resolver=Names({"receiver.example": ["127.0.0.1"]})
    )
    webhooks = Webhooks(tmp_path / "notes", fetcher)
    webhooks.add("job", Webhook(f"http://receiver.example:{listener.port}/told", SECRET))
    webhooks.tell("job", {"job": "job"})
    assert listener.connections == 1
    assert webhooks.waiting() == []


def test_an_allowed_host_opens_no_other_port(tmp_path, listener):
    fetcher = Fetcher(frozenset({"127.0.0.1:1"}))
    with pytest.raises(PlanError, match="inside the network"):
        Webhooks(tmp_path / "notes", fetcher).add("job", Webhook(f"http://127.0.0.1:{listener.port}/", SECRET))
    assert listener.connections == 0


def test_the_rehearsal_does_a_whole_job() -> None:
    warm_up_kernels()  # a template goes on without it, and every job would load what it needs
    assert "sfumato.pipelines.release" in sys.modules
