"""Where the pages are is said as soon as they can be opened."""

import logging

import uvicorn

from sfumato.cli.web_server import PagesServer


async def nothing(_scope, _receive, _send) -> None:
    """An application that answers nothing."""


def test_the_address_of_the_pages_is_told_with_the_port_that_was_taken(complete, caplog) -> None:
    server = PagesServer(uvicorn.Config(nothing, port=0, lifespan="off", log_config=None))
    ports = []

    async def start_and_stop() -> None:
        server.config.load()
        server.lifespan = server.config.lifespan_class(server.config)
        await server.startup()
        ports.append(server.servers[0].sockets[0].getsockname()[1])
        await server.shutdown()

    with caplog.at_level(logging.INFO):
        complete(start_and_stop())
    assert f"The pages are at http://127.0.0.1:{ports[0]}/app" in caplog.text
