"""Opening and writing files: streams, encodings, damage, and files that are whole or not there."""

import errno
import gzip
import io
import lzma
import os
import signal
import sys
import tracemalloc
from pathlib import Path
from threading import Thread

import pytest

from groundling.errors import DataError, FormatError, GroundlingError
from groundling.formats import files
from groundling.formats.files import atomic_write, open_text, write_lines


def lines_of(data: bytes) -> list[str]:
    return list(open_text(io.BytesIO(data)))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
@pytest.mark.parametrize("text", ["one\ntwo", "one\r\ntwo\r\n", "one\rtwo\n"])
def test_lines_are_the_same_however_they_end_and_are_packed(pack, text: str) -> None:
    assert lines_of(pack(text.encode())) == ["one", "two"]


def test_byte_order_marks_are_dropped() -> None:
    assert lines_of(b"\xef\xbb\xbfone\n") == ["one"]
    assert lines_of("é\nb".encode("utf-16")) == ["é", "b"]
    assert lines_of(b"\xfe\xff" + "é\nb".encode("utf-16-be")) == ["é", "b"]


def test_only_line_ends_end_a_line() -> None:
    assert lines_of("a\x0bb\x85c\u2028d\n".encode()) == ["a\x0bb\x85c\u2028d"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\nb\xff\n", "<memory>:2: not UTF-8. Save the file as UTF-8 text"),
        (b"a\n\nb\0\n", "<memory>:3: a NUL byte. Save"),
        (b"\xff\xfea", "<memory>:1: not UTF-16 text. Save the file as UTF-8."),
        (gzip.compress(b"a\n" * 9, mtime=0)[:-9], "<memory>:1: the compressed file is damaged or cut off"),
        (lzma.compress(b"a\n" * 9)[:-9], "the compressed file is damaged or cut off"),
    ],
)
def test_damage_is_named_with_its_line(data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        lines_of(data)
    assert message in str(caught.value)


def test_faults_can_be_gathered_and_reading_goes_on() -> None:
    faults: list[GroundlingError] = []
    assert list(open_text(io.BytesIO(b"\xff\nb\n\0\n"), faults)) == ["\ufffd", "b", "\ufffd"]
    assert [str(fault).split(" ")[0] for fault in faults] == ["<memory>:1:", "<memory>:3:"]


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        open_text(tmp_path / "none")
    with pytest.raises(DataError, match="cannot be opened: Is a directory"):
        open_text(tmp_path)
    with pytest.raises(DataError, match="cannot be opened"):
        open_text("a\0b")


class Endless(io.RawIOBase):
    """A file of one line without end."""

    name = "endless"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        buffer[:] = b"(" * len(buffer)
        return len(buffer)


def test_a_line_without_end_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE", 10_000)
    with pytest.raises(FormatError, match=r"endless:1: a line of over 10,000 characters"):
        next(open_text(Endless()))


def test_reading_streams(tmp_path: Path) -> None:
    from groundling.formats import brackets

    path = tmp_path / "big.trees.gz"
    with gzip.open(path, "wb", compresslevel=1) as handle:
        for _ in range(200):
            handle.write(b"(S (NP (D the) (N dog)) (VP (V barks)))\n" * 500)  # 4 MB unpacked
    trees = brackets.read(path)
    next(trees)
    tracemalloc.start()
    for _ in range(20_000):
        next(trees)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500_000


def test_standard_input_is_read_and_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(b"one\n", mtime=0))))
    monkeypatch.setattr(sys, "stdin", stdin)
    with open_text("-") as lines:
        assert list(lines) == ["one"]
        assert lines.where == "<stdin>:1"
    assert not stdin.buffer.closed


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(("name", "unpack"), [("a", bytes), ("a.gz", gzip.decompress), ("a.xz", lzma.decompress)])
def test_atomic_write_packs_by_name(tmp_path: Path, name: str, unpack) -> None:
    with atomic_write(tmp_path / name) as handle:
        handle.write("é\n")
        assert name not in left(tmp_path)
    assert unpack((tmp_path / name).read_bytes()) == "é\n".encode()
    with atomic_write(tmp_path / name, binary=True) as handle:
        handle.write(b"\xff")
    assert unpack((tmp_path / name).read_bytes()) == b"\xff"
    assert left(tmp_path) == [name]


def test_gzip_bytes_depend_on_the_content_only(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.gz", ["x"])
    write_lines(tmp_path / "b.gz", ["x"])
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("name", ["a", "a.gz", "a.xz"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError("of the caller")])
def test_after_an_error_the_old_file_stands_and_nothing_else(tmp_path: Path, name: str, error) -> None:
    write_lines(tmp_path / name, ["old"])
    with pytest.raises(error if isinstance(error, type) else type(error)), atomic_write(tmp_path / name) as handle:
        handle.write("new")
        raise error
    assert left(tmp_path) == [name]
    assert list(open_text(tmp_path / name)) == ["old"]


@pytest.mark.parametrize("name", ["a", "a.gz"])
def test_a_full_disk_is_told_and_nothing_is_left(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"cannot be written: No space left on device\. Nothing was left there"):
        write_lines(tmp_path / name, ["x"])
    assert left(tmp_path) == []


def test_a_kill_in_the_middle_leaves_no_litter(tmp_path: Path) -> None:
    write_lines(tmp_path / "old", ["old"])
    for name in ("new", "old"):
        child = os.fork()
        if child == 0:
            with atomic_write(tmp_path / name) as handle:
                handle.write("x" * 100_000)
                handle.flush()
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
    assert left(tmp_path) == ["old"]
    assert list(open_text(tmp_path / "old")) == ["old"]


def test_a_kill_before_the_rename_is_mended_by_the_next_writer(tmp_path: Path) -> None:
    write_lines(tmp_path / "a", ["old"])
    child = os.fork()
    if child == 0:
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        write_lines(tmp_path / "a", ["lost"])
    os.waitpid(child, 0)
    assert len(left(tmp_path)) == 2 and list(open_text(tmp_path / "a")) == ["old"]
    write_lines(tmp_path / "a", ["new"])
    assert left(tmp_path) == ["a"] and list(open_text(tmp_path / "a")) == ["new"]


def test_writers_of_the_same_file_may_race(tmp_path: Path) -> None:
    texts = [str(k) * 1000 for k in range(4)]
    threads = [Thread(target=lambda t=t: [write_lines(tmp_path / "a", [t]) for _ in range(30)]) for t in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert left(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text().strip() in texts


def test_file_systems_without_nameless_files_get_a_temporary_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def unable(path: str, flags: int, *rest: int) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return real(path, flags, *rest)

    monkeypatch.setattr(os, "open", unable)
    with atomic_write(tmp_path / "a") as handle:
        assert [name for name in left(tmp_path) if name.endswith(".tmp")] == left(tmp_path) != []
        handle.write("x\n")
    assert left(tmp_path) == ["a"] and list(open_text(tmp_path / "a")) == ["x"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_device_is_written_in_place_and_its_errors_are_told() -> None:
    with pytest.raises(DataError, match="No space left on device"):
        write_lines("/dev/full", ["x"])
    assert not os.path.isfile("/dev/full")


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written: No such file or directory"):
        write_lines(tmp_path / "no" / "a", ["x"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="cannot be written: Permission denied"):
        write_lines(tmp_path / "a", ["x"])


def test_links_and_modes_are_kept(tmp_path: Path) -> None:
    write_lines(tmp_path / "a", ["old"])
    (tmp_path / "a").chmod(0o640)
    (tmp_path / "link").symlink_to("a")
    write_lines(tmp_path / "link", ["new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text() == "new\n"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_standard_output(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_lines("-", ["é"])
    with atomic_write("-", binary=True) as handle:
        handle.write(b"b")
    assert capsysbinary.readouterr().out == "é\nb".encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [("a\0", "item 1: a NUL would not"), ("a\rb", "item 1: a carriage return would"), ("\ud800", "a lone surrogate")],
)
def test_what_cannot_be_read_back_is_not_written(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        write_lines(tmp_path / "a", [text])
    assert left(tmp_path) == []
