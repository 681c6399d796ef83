"""A small OpenID provider as a process of its own: discovery, keys, code flow with PKCE, signed tokens.

It signs everybody in as the name in its own address (`/authorize?...` answers at once), and tests can have it lie.
"""

import base64
import hashlib
import json
import secrets
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "sfumato", "a secret of the client"
KEYS = {name: RSAKey.generate_key(2048, {"kid": name, "use": "sig"}) for name in ("first", "second")}
CODES = {}
# What tests change: claims of the next tokens, the key that signs, the keys that are published.
STATE = {"claims": {}, "signed": "first", "published": ["first"], "algorithm": "RS256"}


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    @property
    def issuer(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def do_GET(self):
        path, query = urlsplit(self.path).path, {k: v[0] for k, v in parse_qs(urlsplit(self.path).query).items()}
        if path == "/.well-known/openid-configuration":
            ends = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/keys"}
            self.answer({"issuer": self.issuer} | {name: self.issuer + place for name, place in ends.items()})
        elif path == "/keys":
            self.answer({"keys": [KEYS[name].as_dict(private=False) for name in STATE["published"]]})
        elif path == "/authorize":
            assert query["response_type"] == "code"
            assert query["client_id"] == CLIENT
            assert query["code_challenge_method"] == "S256"
            code = secrets.token_urlsafe()
            CODES[code] = query
            self.send_response(302)
            place = query["redirect_uri"] + "?" + urlencode({"code": code, "state": query["state"]})
            self.send_header("Location", place)
            self.end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if urlsplit(self.path).path == "/lie":
            STATE.update(json.loads(body))
            self.answer({})
            return
        fields = {k: v[0] for k, v in parse_qs(body).items()}
        asked = CODES.pop(fields.get("code"), None)
        pair = base64.b64encode(f"{CLIENT}:{SECRET}".replace(" ", "%20").encode()).decode()
        plain = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(fields["code_verifier"].encode()).digest()).rstrip(b"=")
        fits = (
            asked and asked["code_challenge"] == challenge.decode() and asked["redirect_uri"] == fields["redirect_uri"]
        )
        if not fits or self.headers.get("Authorization") not in (f"Basic {pair}", f"Basic {plain}"):
            self.answer({"error": "invalid_grant"}, 400)
            return
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "sub": "7", "name": "Ada Lovelace", "nonce": asked["nonce"]}
        claims |= {"iat": now, "exp": now + 300} | STATE["claims"]
        claims = {name: value for name, value in claims.items() if value is not None}
        token = jwt.encode({"alg": STATE["algorithm"], "kid": STATE["signed"]}, claims, KEYS[STATE["signed"]])
        self.answer({"access_token": "x", "token_type": "Bearer", "id_token": token})

    def answer(self, content, status=200):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
