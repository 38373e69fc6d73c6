"""The program in `docs/developing.md` runs as it stands, and learns."""

import re
from pathlib import Path

import pytest
import torch

PAGE = Path(__file__).parents[2] / "docs" / "developing.md"


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict = {"__name__": "page"}
    exec(compile(program, str(PAGE), "exec", dont_inherit=True), names)
    before, after = (float(number) for number in re.findall(r"\d\.\d+", capsys.readouterr().out))
    assert after < before / 3
    with torch.no_grad():
        assert torch.equal(names["loaded"](names["inputs"]), names["trained"](names["inputs"]))
