"""Webhooks: signed notifications that a job has ended, with the same address checks as configurations.

Notifications are kept in a folder until they are delivered, so that neither a server restart nor an unavailable
receiver loses one. They say that and how a job has ended, never a value.

A receiver checks `X-Sfumato-Signature`: `sha256=` and the HMAC of `X-Sfumato-Timestamp`, a dot and the body, with the
secret from the request for the job.
"""

import hashlib
import hmac
import json
import logging
import time
from pathlib import Path
from typing import Any

from sfumato.attributes.fetching import Fetcher
from sfumato.errors import PlanError
from sfumato.localization.messages import Message
from sfumato.service.problems import RefusedError
from sfumato.values import Value, asdict

LOG = logging.getLogger("sfumato.service")
SHORTEST_SECRET, LONGEST_SECRET = 16, 200
LONGEST_ADDRESS = 2048
# Seconds before each further attempt; after these, delivery is given up.
PAUSES = (1.0, 5.0, 30.0, 120.0)
# A server that was killed during delivery leaves a renamed note, which is stale after this time.
STALE_SECONDS = 60.0


class Webhook(Value):
    """An address to notify, and the secret that signs notifications."""

    address: str
    secret: str

    def __post_init__(self) -> None:
        if not SHORTEST_SECRET <= len(self.secret) <= LONGEST_SECRET or len(self.address) > LONGEST_ADDRESS:
            raise ValueError(Message("error.value.secret_too_short_or"))


def read_webhook(address: Any, secret: Any) -> Webhook | None:
    """Return the webhook that a request names, or None.

    Raises:
        RefusedError: Its secret is missing or has an invalid length.
    """
    if address is None and secret is None:
        return None
    try:
        if isinstance(address, str) and isinstance(secret, str):
            return Webhook(address, secret)
    except ValueError:
        pass
    what = Message("request.webhook", least=SHORTEST_SECRET, most=LONGEST_SECRET)
    raise RefusedError("jobs.webhook", what)


def sign(secret: str, moment: str, body: bytes) -> str:
    """Return the signature of a notification.

    >>> sign("0123456789abcdef", "1", b"{}")[:15]
    'sha256=2af693cb'
    """
    return "sha256=" + hmac.new(secret.encode(), moment.encode() + b"." + body, hashlib.sha256).hexdigest()


class Webhooks:
    """The pending notifications of a server."""

    def __init__(self, folder: Path, fetcher: Fetcher) -> None:
        self._folder, self._fetcher = folder, fetcher
        self._tries: dict[str, tuple[int, float]] = {}

    def add(self, job_id: str, webhook: Webhook) -> None:
        """Add a webhook for a job; addresses that may not be fetched are refused."""
        try:
            self._fetcher.check(webhook.address)
        except PlanError as error:
            told = Message("error.part.webhook", message=error.message)
            raise PlanError(error.code.partition(".")[2], message=told, hint=error.hint) from None
        self._folder.mkdir(mode=0o700, exist_ok=True)
        note = self._folder / f".{job_id}"
        note.write_text(json.dumps(asdict(webhook)), encoding="utf-8")
        note.rename(self._folder / f"{job_id}.json")

    def waiting(self) -> list[str]:
        """Return the jobs with pending notifications that are due."""
        self._free_stale()
        now = time.monotonic()
        names = sorted(path.stem for path in self._folder.glob("*.json"))
        self._tries = {name: entry for name, entry in self._tries.items() if name in names}
        return [name for name in names if self._tries.get(name, (0, 0.0))[1] <= now]

    def drop(self, job_id: str) -> None:
        """Remove the webhook of a job that no longer exists."""
        (self._folder / f"{job_id}.json").unlink(missing_ok=True)

    def tell(self, job_id: str, content: dict[str, Any]) -> None:
        """Send the notification of an ended job; failures are retried a few times."""
        note, taken = self._folder / f"{job_id}.json", self._folder / f"{job_id}.telling"
        try:
            note.rename(taken)  # the rename prevents two servers from sending the same
        except FileNotFoundError:
            return
        if self._told(Webhook(**json.loads(taken.read_text(encoding="utf-8"))), content):
            taken.unlink()
            return
        tries = self._tries.get(job_id, (0, 0.0))[0] + 1
        LOG.warning(json.dumps({"job": job_id, "webhook": "not told", "tries": tries}))
        if tries > len(PAUSES):
            taken.unlink()
            return
        self._tries[job_id] = (tries, time.monotonic() + PAUSES[tries - 1])
        taken.rename(note)

    def _told(self, webhook: Webhook, content: dict[str, Any]) -> bool:
        body, moment = json.dumps(content).encode(), str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "X-Sfumato-Timestamp": moment,
            "X-Sfumato-Signature": sign(webhook.secret, moment, body),
        }
        try:
            return 200 <= self._fetcher.post(webhook.address, body, headers) < 300
        except PlanError:
            return False

    def _free_stale(self) -> None:
        for path in self._folder.glob("*.telling"):
            if abs(time.time() - path.stat().st_ctime) > STALE_SECONDS:
                path.rename(path.with_suffix(".json"))
