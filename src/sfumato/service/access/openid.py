"""Sign-in by OpenID Connect: authorization code flow with PKCE, state and nonce, and verified tokens.

The operator names the provider. Tokens are verified with joserfc; only signatures with a public key are accepted.
"""

import hashlib
import time
from base64 import urlsafe_b64encode
from secrets import token_urlsafe
from typing import Any
from urllib.parse import urlencode

from sfumato.errors import EngineError, extra_part
from sfumato.service.access.sessions import User
from sfumato.values import Value

DISCOVERY = "/.well-known/openid-configuration"
ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA", "RS384", "RS512", "PS384", "PS512", "ES384", "ES512")
FETCHING_SECONDS = 10.0
# How long the provider's metadata is cached, and the tolerance for its clock.
KEPT_SECONDS = 3600.0
LEEWAY_SECONDS = 60
LABELS = ("name", "preferred_username", "email")


class Provider(Value):
    """An OpenID provider and this service's registration; `claim` is the claim with the user's name."""

    issuer: str
    client: str
    secret: str | None = None
    claim: str = "sub"


class Attempt(Value):
    """A sign-in in progress, with the values that the response must match."""

    state: str
    nonce: str
    verifier: str
    redirect: str
    target: str


class SignInError(Exception):
    """A failed sign-in; the text is for the log, and contains nothing that was sent."""


def new_attempt(redirect: str, target: str) -> Attempt:
    """Begin a sign-in."""
    return Attempt(token_urlsafe(24), token_urlsafe(24), token_urlsafe(48), redirect, target)


class OpenId:
    """Authenticates users at a provider."""

    def __init__(self, provider: Provider) -> None:
        with extra_part("httpx and joserfc", "openid"):
            import httpx
            import joserfc  # noqa: F401
        self._provider = provider
        self._http = httpx.Client(timeout=FETCHING_SECONDS, follow_redirects=False, trust_env=False)
        self._known: tuple[float, dict[str, Any]] | None = None
        self._keys: Any = None

    @property
    def identity(self) -> str:
        """The namespace of user names; the same name with another provider, client or claim is another user."""
        return f"{self._provider.issuer} {self._provider.client} {self._provider.claim}"

    def address(self, attempt: Attempt) -> str:
        """Return the address to which a browser is sent to sign in.

        Raises:
            EngineError: The provider does not answer.
        """
        challenge = urlsafe_b64encode(hashlib.sha256(attempt.verifier.encode()).digest()).rstrip(b"=").decode()
        fields = {
            "response_type": "code",
            "client_id": self._provider.client,
            "redirect_uri": attempt.redirect,
            "scope": "openid profile email",
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        place = str(self._metadata()["authorization_endpoint"])
        return f"{place}{'&' if '?' in place else '?'}{urlencode(fields)}"

    def user(self, attempt: Attempt, code: str) -> User:
        """Return the user who signed in, by the code that the provider gave the browser.

        Raises:
            SignInError: The provider does not know the code, or its token is invalid.
            EngineError: The provider does not answer.
        """
        claims = self._claims(self._token(attempt, code), attempt.nonce)
        name = claims.get(self._provider.claim)
        if not isinstance(name, str) or not 0 < len(name) <= 255 or not name.isprintable():
            raise SignInError("the token does not name the user")
        label = next((claims[one] for one in LABELS if isinstance(claims.get(one), str)), name)
        return User(name, "openid", label=str(label)[:100])

    def _token(self, attempt: Attempt, code: str) -> str:
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.redirect,
            "client_id": self._provider.client,
            "code_verifier": attempt.verifier,
        }
        pair = (self._provider.client, self._provider.secret) if self._provider.secret else None
        answer = self._ask("POST", str(self._metadata()["token_endpoint"]), data=fields, auth=pair)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise SignInError("the provider refused the code")
        return token

    def _claims(self, token: str, nonce: str) -> dict[str, Any]:
        """Return the claims of a token, after verifying its provider, its audience and its sign-in."""
        from joserfc import jwt
        from joserfc.errors import JoseError

        provider = self._provider
        registry = jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": provider.issuer},
            aud={"essential": True, "value": provider.client},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        for fresh in (False, True):  # a provider may have changed its keys meanwhile
            try:
                decoded = jwt.decode(token, self._signing_keys(fresh), algorithms=list(ALGORITHMS))
                registry.validate(decoded.claims)
            except (JoseError, ValueError, TypeError) as error:
                fault = type(error).__name__
                continue
            if decoded.claims.get("azp", provider.client) != provider.client:
                raise SignInError("the token is for another service")
            return dict(decoded.claims)
        raise SignInError(f"the token is not valid ({fault})")

    def _metadata(self) -> dict[str, Any]:
        now = time.monotonic()
        if self._known is None or now - self._known[0] > KEPT_SECONDS:
            content = self._ask("GET", self._provider.issuer.rstrip("/") + DISCOVERY)
            if content.get("issuer") != self._provider.issuer:
                raise EngineError("openid.the_openid_provider_calls")
            self._known = (now, content)
        return self._known[1]

    def _signing_keys(self, fresh: bool) -> Any:
        from joserfc.jwk import KeySet

        if fresh or self._keys is None:
            self._keys = KeySet.import_key_set(self._ask("GET", str(self._metadata()["jwks_uri"])))  # type: ignore[arg-type]
        return self._keys

    def _ask(self, method: str, address: str, **more: Any) -> dict[str, Any]:
        import httpx

        try:
            answer = self._http.request(method, address, headers={"accept": "application/json"}, **more)
            content = answer.json() if answer.status_code < 500 else None
        except (httpx.HTTPError, ValueError):
            content = None
        if not isinstance(content, dict):
            raise EngineError("openid.no_answer")
        return content
