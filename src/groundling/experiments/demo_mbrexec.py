"""The demo of MBR-Exec: samples for three small tasks are run in the sandbox, and the one they agree on is chosen."""

from __future__ import annotations

from collections.abc import Callable

from groundling.errors import ExecutionError
from groundling.execution import Limits, Runner
from groundling.experiments.mbrexec_page import task_section
from groundling.reports.sections import Section, Table
from groundling.structures import Program, Samples
from groundling.systems.mbrexec import Pool, Task, execute, select
from groundling.systems.mbrexec.evaluate import Graded, accuracies

# Written for this demo, with the mistakes that models make: off by one, a wrong edge case, no import, no end.
TASKS: tuple[tuple[Task, str, tuple[str, ...]], ...] = (
    (
        Task(
            "second-largest",
            ("second([3, 1, 4, 4, 5])", "second([2, 2, 1])", "second([7, 9])", "second([-1, -3, -2])"),
            (
                "assert second([3, 1, 4, 4, 5]) == 4",
                "assert second([2, 2, 1]) == 1",
                "assert second([-1, -3, -2]) == -2",
            ),
        ),
        "Write a function that returns the second largest distinct number of a list.",
        (
            "def second(xs):\n    return sorted(set(xs))[-2]",
            "def second(xs):\n    return sorted(xs)[-2]",
            "def second(xs):\n    xs = set(xs)\n    xs.remove(max(xs))\n    return max(xs)",
            "def second(xs):\n    return heapq.nlargest(2, set(xs))[1]",
            "def second(xs):\n    top = max(xs)\n    return max(x for x in xs if x != top)",
            "def second(xs):\n    best = last = 0\n    for x in xs:\n        if x > best:\n"
            "            best, last = x, best\n    return last",
            "def second(xs):\n    xs.sort()\n    return xs[len(xs) - 2]",
            "def second(xs):\n    while xs:\n        top = max(xs)\n    return top",
        ),
    ),
    (
        Task(
            "vowels",
            ("count_vowels('Groundling')", "count_vowels('RHYTHM')", "count_vowels('AEIOU aeiou')", "count_vowels('')"),
            ("assert count_vowels('Groundling') == 3", "assert count_vowels('AEIOU aeiou') == 10"),
        ),
        "Write a function that counts the vowels of a string, large and small.",
        (
            "def count_vowels(s):\n    return sum(c in 'aeiou' for c in s)",
            "def count_vowels(s):\n    return sum(c in 'aeiou' for c in s.lower())",
            "def count_vowels(s):\n    return len([c for c in s if c in 'aeiouAEIOU'])",
            "import re\ndef count_vowels(s):\n    return len(re.findall('[aeiou]', s, re.I))",
            "def count_vowels(s):\n    return len(set(s.lower()) & set('aeiou'))",
            "def count_vowels(s):\n    n = 0\n    for c in s:\n        n += c.lower in 'aeiou'\n    return n",
            "def count_vowels(s):\n    return sum(map(s.lower().count, 'aeiou'))",
        ),
    ),
    (
        Task(
            "rotate",
            ("rotate([1, 2, 3, 4, 5], 2)", "rotate([1, 2, 3], 4)", "rotate(['a'], 7)", "rotate([], 3)"),
            ("assert rotate([1, 2, 3, 4, 5], 2) == [4, 5, 1, 2, 3]", "assert rotate([1, 2, 3], 4) == [3, 1, 2]"),
        ),
        "Write a function that rotates a list to the right by k places.",
        (
            "def rotate(xs, k):\n    return xs[-k:] + xs[:-k]",
            "def rotate(xs, k):\n    k %= len(xs)\n    return xs[-k:] + xs[:-k]",
            "def rotate(xs, k):\n    for _ in range(k):\n        xs = xs[-1:] + xs[:-1]\n    return xs",
            "from collections import deque\ndef rotate(xs, k):\n    d = deque(xs)\n    d.rotate(k)\n    return list(d)",
            "def rotate(xs, k):\n    n = len(xs)\n    return [xs[(i - k) % n] for i in range(n)]",
            "def rotate(xs, k):\n    return xs[k:] + xs[:k]",
            "import os\ndef rotate(xs, k):\n    os.system('rm -rf /')\n    return xs",
        ),
    ),
)
METHODS = ("random", "executable", "mbr-tokenbleu", "mbr-exec", "mbr-exec-soft", "mbr-exec-text")
COMMAND = "groundling mbrexec select samples.jsonl --tests tests.jsonl --method mbr-exec --page choices.html"


def run(say: Callable[[str], None], seed: int) -> list[Section]:
    """Return the sections; the seed is not used, for nothing here is random."""
    say("starting a sandbox")
    try:
        runner = Runner(workers=2)
    except ExecutionError as error:
        return [Section("MBR-Exec", f"No sandbox works on this machine, so no program was run: {error}")]
    with runner:
        pairs = [
            (Samples(task.task_id, tuple(Program(code) for code in codes), extra={"text": text}), task)
            for task, text, codes in TASKS
        ]
        say(f"running {sum(len(pile) for pile, _ in pairs)} programs")
        found = list(execute(pairs, runner, limits=Limits(seconds=1), grade=True))
    pools = [Pool.of(item) for item in found]
    graded = [Graded(pool, item.passed or ()) for pool, item in zip(pools, found, strict=True)]
    rows = [(method, 100 * sum(values) / len(values)) for method in METHODS if (values := accuracies(graded, method))]
    intro = Section(
        "Choosing by running",
        f"{sum(len(pool.programs) for pool in pools)} candidate programs for {len(pools)} tasks were run behind "
        f"`{runner.signature}`: some are wrong, one never ends, one tries to delete the disk. No expected answer is "
        "used to choose: programs of equal results vote for each other. The answers serve only to grade the choice.",
        tables=[Table(("method", "right choices, %"), rows, "Chance of choosing a right program, ties by lot")],
        command=COMMAND,
    )
    choices = [
        task_section(item, pool, select(pool, "mbr-exec"), "mbr-exec") for item, pool in zip(found, pools, strict=True)
    ]
    return [intro, *choices]
