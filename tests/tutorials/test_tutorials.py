"""Every command of the tutorials and how-tos runs, and prints what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tutorials.pages import Block, complaint, read_blocks
from tutorials.zygote import STUB

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for name in ("tutorials", "howto") for path in (DOCS / name).glob("*.md") if read_blocks(path))


@pytest.fixture(scope="module")
def commands() -> Iterator[dict[str, str]]:
    """An environment whose `groundling` and `run-python` are answered by one warm process."""
    with tempfile.TemporaryDirectory(prefix="tutorials-") as folder:
        address = f"{folder}/socket"
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{folder}:{os.environ['PATH']}"}
        environment.pop("GROUNDLING_DATA", None)  # what a new user has
        for name in ("groundling", "run-python"):
            script = Path(folder) / name
            script.write_text(STUB.format(python=sys.executable, address=address, name=name), encoding="utf-8")
            script.chmod(script.stat().st_mode | stat.S_IXUSR)
        server = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("zygote.py")), address],
            stdout=subprocess.PIPE, env=environment, text=True,
        )  # fmt: skip
        assert server.stdout is not None and server.stdout.readline() == "ready\n"
        yield environment
        server.terminate()
        server.wait(10)
        server.stdout.close()


def run(block: Block, folder: Path, environment: dict[str, str]) -> str:
    """Run one block as a reader would, in one shell, stopping at the first fault."""
    if block.kind == "python":
        (folder / "block.py").write_text(block.code, encoding="utf-8")
        words = ["run-python", "block.py"]
    else:
        words = ["bash", "-euo", "pipefail", "-c", block.code]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{block.code}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=[f"{path.parent.name}-{path.stem}" for path in PAGES])
def test_a_page_runs_and_prints_what_it_shows(page: Path, tmp_path: Path, commands: dict[str, str]) -> None:
    blocks = read_blocks(page)
    for example in (DOCS / "examples").glob("*.py"):
        shutil.copy(example, tmp_path)
    wrong = [text for block in blocks if (text := complaint(block, run(block, tmp_path, commands)))]
    assert not wrong, "\n\n".join(wrong)
    asked = {name for block in blocks for name in re.findall(r"--report (\S+)", block.code)}
    for name in asked:  # each is whole, says how to repeat it, and loads nothing
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.endswith("</html>\n") and "groundling " in text and text.count("<section") >= 1, name
        assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), name


def test_there_is_a_page_for_every_job() -> None:
    jobs = ("score", "captions", "speech", "meaning", "programs", "words", "transfer", "look")
    assert {f"tutorials/{job}.md" for job in jobs} <= {f"{page.parent.name}/{page.name}" for page in PAGES}


def test_a_wrong_page_is_noticed() -> None:
    block = Block("sh", "", "score = 63.5 (n=2)\n...\nend", "about")
    assert complaint(block, "score = 66.0 (n=9)\nmore\nend") == ""
    assert "too far apart" in complaint(block, "score = 40.0 (n=9)\nmore\nend")
    assert "shown" in complaint(block, "mark = 63.5 (n=2)\nmore\nend")
    assert "shown" in complaint(block._replace(leniency=""), "score = 66.0 (n=2)\nmore\nend")
