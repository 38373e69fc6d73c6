"""The interpreter goes on as before when its code has been moved, and stays where it is when it cannot be."""

import subprocess
import sys

from groundling.execution.guest import large_pages

MOVED = """
from groundling.execution.guest import large_pages
before = large_pages._code_of(open('/proc/self/maps').read().splitlines())
moved = large_pages.share_code()
import decimal, json, re, threading
thread = threading.Thread(target=lambda: json.dumps({'a': decimal.Decimal(2) ** 0.5 if 0 else 1}))
thread.start(); thread.join()
class A:
    def __eq__(self, other): raise ValueError(re.sub('a', 'b', 'aaa'))
try: A() == 1
except ValueError as error: print(error, moved, before is not None)
lines = open('/proc/self/maps').read().splitlines()
start = '%x-' % before[0] if before else '-'
print(any(line.startswith(start) and ' r-xp 00000000 00:00 0' in line for line in lines))
"""


def test_moved_code_runs_on() -> None:
    done = subprocess.run([sys.executable, "-c", MOVED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said, found = done.stdout.splitlines()
    assert said.startswith("bbb ")
    _, moved, movable = said.split()
    assert found == moved  # an anonymous mapping that may be run stands in its place, or nothing has changed
    assert moved == "False" or movable == "True"


def test_nothing_is_moved_without_a_known_library() -> None:
    lines = [
        "00400000-00800000 r-xp 00000000 fe:00 1 /usr/bin/other",
        "7ffc0000-7ffd0000 rw-p 00000000 00:00 0 [stack]",
    ]
    assert large_pages._code_of(lines) is None  # pyright: ignore[reportPrivateUsage]
    assert large_pages._large_bytes(12345) == 0  # pyright: ignore[reportPrivateUsage]
