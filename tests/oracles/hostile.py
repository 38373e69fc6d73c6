"""A seeded mutator of valid files: what a damaged disk, a wrong editor or a joker makes of them."""

import gzip
import random
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

SCRAPS = [
    b"\0",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\r",
    b"\r\n",
    b"\n",
    b"\n\n",
    b"\t",
    b" ",
    b"\x1c",
    b"\xc2\x85",
    b"\xc2\xa0",
    b"\xe2\x80\xa8",
    b"(",
    b")",
    b"((",
    b"-",
    b"?",
    b"p",
    b":",
    b"#",
    b'"',
    b'""',
    b"{",
    b"[" * 50,
    b"}",
    b"NaN",
    b"Infinity",
    b"-1",
    b"1e999",
    b"1e-999",
    b"9" * 30,
    b"9" * 5000,
    b"0",
    b"00",
    b"\xd9\xa3",
    b"null",
    b"<exists>",
    b"\\ud800",
    b"\x1f\x8b",
    b"\xfd7zXZ\0",
    "é".encode("latin-1"),
]


def mutate(rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    """One hostile input: a valid file with one to four wounds."""
    data = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        data = _wound(rng, data, seeds)
    shape = rng.random()
    if shape < 0.02:
        return data.decode("utf-8", "replace").encode("utf-16")
    if shape < 0.04:
        packed = gzip.compress(data, 1, mtime=0)
        return packed[: rng.randrange(len(packed) + 1)] if rng.random() < 0.5 else packed
    return data


def _wound(rng: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    a, b = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    near = min(b, a + rng.randrange(1, 9))
    kind = rng.randrange(9)
    if kind == 0:
        return data[:a]  # truncated
    if kind == 1:
        return data[:a] + data[near:]  # a hole
    if kind == 2 and data:
        flipped = data[min(a, len(data) - 1)] ^ (1 << rng.randrange(8))
        return data[:a] + bytes([flipped]) + data[a + 1 :]
    if kind in (3, 4):
        return data[:a] + rng.choice(SCRAPS) + data[a:]
    if kind == 5:
        return data[:a] + rng.choice(SCRAPS) + data[near:]
    if kind == 6:
        return data[:b] + data[a:]  # a stretch twice
    if kind == 7:
        other = rng.choice(seeds)
        return data[:a] + other[rng.randrange(len(other) + 1) :]
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"")), rng.choice((1, -1)))


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Fail instead of hanging; CPU seconds, so that a busy machine does not matter."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"still busy after {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
