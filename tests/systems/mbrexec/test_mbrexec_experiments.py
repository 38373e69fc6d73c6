"""The demo part, and the real corpora in small: a few tasks of each language against their reference."""

import json
from pathlib import Path

import numpy as np
import pytest

from groundling.errors import DataError, ExecutionError
from groundling.execution import Runner
from groundling.experiments import demo_mbrexec, mbrexec
from groundling.structures import Program, Samples
from groundling.systems.mbrexec import Pool, corpora, execute


def test_the_demo_chooses_right_programs() -> None:
    sections = demo_mbrexec.run(lambda _: None, 0)
    if len(sections) == 1:
        pytest.skip(sections[0].text)
    rows = dict(sections[0].tables[0].rows)
    assert rows["mbr-exec"] == 100.0 and rows["random"] < 60
    assert [section.title for section in sections[1:]] == ["second-largest", "vowels", "rotate"]
    assert all("was chosen" in section.text and "<svg" in section.pictures[0].svg for section in sections[1:])


@pytest.fixture(scope="module")
def runner() -> Runner:
    try:
        return Runner()
    except ExecutionError as error:
        pytest.skip(str(error))


def test_corpora_have_the_known_sizes(data_dir: Path, runner: Runner) -> None:
    with runner:
        human, mistral = corpora.humaneval(data_dir, runner), corpora.humaneval(data_dir, runner, "mistral7b_n10")
        mbpp, spider, bash = corpora.mbpp(data_dir, runner), corpora.spider(data_dir), corpora.nl2bash(data_dir)
        assert [len(x) for x in (human, mistral, mbpp, spider, bash)] == [164, 164, 500, 972, 200]
        assert [len(x[0][0]) for x in (human, mistral, mbpp, spider)] == [100, 10, 7, 9]
        assert min(len(task.inputs) for _, task in human + mbpp) >= 1
        rows = map(json.loads, (data_dir / "programs/mbpp/mbpp.jsonl").read_text().splitlines())
        gold = {f"MBPP/{row['task_id']}": row["code"] for row in rows}
        known = {task.task_id: task for _, task in mbpp}
        pairs = [(Samples(n, (Program(gold[n]),)), known[n]) for n in ("MBPP/11", "MBPP/367", "MBPP/300")]
        # 367 passes only where the set-up code runs after the candidate, which defines the class it uses.
        assert [item.passed for item in execute(pairs, runner, grade=True)] == [(True,)] * 3
        few = list(execute(spider[:30], runner, grade=True))
    assert np.mean([np.mean(item.passed or ()) for item in few]) > 0.6
    assert [pool.ids.shape for pool in map(Pool.of, few)] == [(9, 1)] * 30


def test_a_corpus_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no corpus of programs is called 'mbbp'"):
        mbrexec.reproduce("mbbp", tmp_path, tmp_path)
