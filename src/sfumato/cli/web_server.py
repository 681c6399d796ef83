"""A server that prints the address of its pages as soon as they can be opened."""

import logging
import socket

import uvicorn

LOG = logging.getLogger("sfumato.service")


class PagesServer(uvicorn.Server):
    """A server of one process, with pages."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and print the address of the pages; for port 0, the port chosen by the system."""
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            LOG.info("The pages are at %s (Press CTRL+C to quit)", pages_address(self.config.host, port))


def pages_address(host: str, port: int) -> str:
    """Return the address of the pages on this machine.

    >>> pages_address("0.0.0.0", 8000), pages_address("::1", 8000)
    ('http://127.0.0.1:8000/app', 'http://[::1]:8000/app')
    """
    here = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host
    return f"http://[{here}]:{port}/app" if ":" in here else f"http://{here}:{port}/app"
