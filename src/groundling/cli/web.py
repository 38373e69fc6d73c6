"""`groundling web`: the page in the browser."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from groundling.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

ADDRESS = "127.0.0.1"


def web_command(
    port: int = typer.Option(8765, min=0, max=65535, help="Port; 0 takes a free one."),
    model: list[str] = typer.Option(
        [], "--model", metavar="NAME=DIR", help="A trained model: g2l2, vgnsl, avnsl, subdp."
    ),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Open the page in your browser."),
) -> None:
    """Serve one page to this machine: trees, words, programs, meaning, captions, speech, parser transfer.

    Prints its address and runs until Ctrl-C. Only this machine can reach it; programs run in the sandbox only.

    Example: groundling web --model g2l2=runs/scan --no-browser
    """
    from groundling.names import require

    require("fastapi", "web", "the page")
    require("uvicorn", "web", "the page")
    from groundling.web.shop import parse_models

    models = parse_models(model)
    listener = listen(port)
    address = f"http://{ADDRESS}:{listener.getsockname()[1]}/"
    typer.echo(address)
    if browser:
        open_soon(address)
    serve(listener, models)


def listen(port: int) -> socket.socket:
    """Take the port, on this machine only."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
        listener.listen(128)  # from now on a browser waits, though the imports take a while
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"port {port} cannot be used ({error.strerror}). Give another with --port; 0 is any."
        ) from error
    return listener


def serve(listener: socket.socket, models: dict[str, Path]) -> None:
    """Answer until stopped."""
    import uvicorn

    from groundling.web.app import create_app

    config = uvicorn.Config(create_app(models), log_level="warning", limit_concurrency=200, timeout_keep_alive=10)
    with suppress(KeyboardInterrupt):  # Ctrl-C is how one leaves
        uvicorn.Server(config).run(sockets=[listener])


def open_soon(address: str) -> None:
    """Open the browser once the server has had time to start."""
    import threading
    import webbrowser

    timer = threading.Timer(1.5, webbrowser.open, [address])
    timer.daemon = True
    timer.start()
