"""What fuzzing has found, kept: each input once broke a promise. And every target stands on its own seeds."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from groundling.errors import FormatError
from groundling.formats.arrays import read_arrays
from groundling.metrics.evalb_prm import parse_prm

sys.path.insert(0, str(Path(__file__).parents[2]))


def npy(header: bytes, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK",
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,"),  # tokenize.TokenError in numpy
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999,)}\n", b"\0" * 80),  # 80 TB promised
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}\n", b"\0" * 80),
        npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n", b"\x80\x04K\x01."),  # a pickle
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': " + b"(" * 5000 + b"}\n"),
        npy(b"[]\n"),
    ],
)
def test_damaged_arrays_are_told(data: bytes) -> None:
    with pytest.raises(FormatError, match="<memory>: not arrays of numpy"):
        read_arrays(io.BytesIO(data))


def test_arrays_come_back(tmp_path: Path) -> None:
    given = {"a": np.arange(6.0).reshape(2, 3), "b": np.asfortranarray(np.eye(3, dtype=np.float32)), "c": np.array(1)}
    np.savez_compressed(tmp_path / "x.npz", **given)
    found = read_arrays(tmp_path / "x.npz")
    assert found.keys() == given.keys()
    assert all(np.array_equal(found[name], given[name]) and found[name].dtype == given[name].dtype for name in given)
    np.save(tmp_path / "x.npy", given["b"])
    assert np.array_equal(read_arrays(tmp_path / "x.npy")[""], given["b"])


@pytest.mark.parametrize("number", ["²", "--5", "1" * 5000, "-"])
def test_numbers_of_prm_files_are_ascii(number: str) -> None:
    with pytest.raises(FormatError, match=r"prm:1: not a line of an EVALB \.prm file"):
        parse_prm(f"CUTOFF_LEN {number}")


DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    ("target", "data"),
    [
        ("scenes", DEEP),  # RecursionError
        (
            "scenes",
            b'{"scenes": [{"directions": {"right": [1], "front": [1]}, "objects": [], "image_index": Infinity}]}',
        ),
        ("manifest", b'{"audio": ' + DEEP),
        ("tasks", b'{"task_id": ' + DEEP),
        ("tasks", b'{"task_id": 1, "test_list": 5}'),
        ("tasks", b'{"task_id": 1, "test": "", "entry_point": "f"}'),  # HumanEval's, without a prompt
        ("pairs", b'{"source": ' + DEEP),
        ("ctm", b"r = 1e12 .5 >\r\r\r\n"),  # read, but what was written of it was not
        ("ctm", b"r 1 0 1e-99 w\n"),
        ("arrays", npy(b" '<f8', 'fortran_order': False, 'shape': (1, 3), }     `     \n", b"\0" * 17)),  # SystemError
        ("reply", DEEP),
        ("value", DEEP),
        ("value", b'{"range": [1, 2, 0]}'),
        ("config", b"several = " + DEEP),
    ],
)
def test_inputs_that_once_broke_a_reader(target: str, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")  # some readers belong to systems
    monkeypatch.setattr("os.fsync", lambda _: None)
    from fuzz.targets import TARGETS

    TARGETS[target](data)


def test_every_fuzz_target_stands_on_its_seeds_and_their_ruins(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr("os.fsync", lambda _: None)  # the targets switch it off; this puts it back
    from fuzz.targets import TARGETS, seeds

    assert len(TARGETS) >= 18
    for name, target in TARGETS.items():
        for seed in seeds(name):
            for data in (seed, b"", seed[:-3], seed[3:], seed + seed, seed.replace(b"1", b"\xff"), seed[::-1]):
                target(data)
