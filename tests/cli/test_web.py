"""`groundling web`: starts, prints its address, answers, stops; and what it refuses."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundling.cli.main import build
from groundling.cli.web import listen
from groundling.errors import ConfigError


def test_the_page_is_served_until_it_is_stopped(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "groundling", "web", "--port", "0", "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None and process.stderr is not None
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(address, timeout=60) as reply:
            assert b"<title>groundling</title>" in reply.read()
        process.send_signal(signal.SIGINT)
        process.wait(30)
        assert process.stderr.read() == "" and process.returncode == 0
    assert address.startswith("http://127.0.0.1:")


def test_a_taken_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigError, match="cannot be used"):
        listen(taken.getsockname()[1])


def test_a_model_that_no_panel_has_is_refused_before_anything_starts() -> None:
    result = CliRunner().invoke(build("web"), ["web", "--model", "g3l3=x", "--no-browser"])
    assert isinstance(result.exception, ConfigError) and "no panel has a model 'g3l3'" in str(result.exception)
