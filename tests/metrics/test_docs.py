"""The examples of docs/metrics.md are true."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_examples_of_the_page_run() -> None:
    blocks = re.findall(r"```pycon\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 7
    globs: dict[str, object] = {"__name__": "docs_metrics"}
    complaints: list[str] = []
    for number, block in enumerate(blocks, 1):
        test = doctest.DocTestParser().get_doctest(block, globs, f"block {number}", str(PAGE), 0)
        runner = doctest.DocTestRunner()
        runner.run(test, out=complaints.append, clear_globs=False)
        globs = test.globs
    assert complaints == []
