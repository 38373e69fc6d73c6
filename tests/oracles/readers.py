"""Small valid files of every format, and what must hold whatever bytes are read; shared by tests and fuzzing."""

import io
import re
from pathlib import Path

from groundling.errors import GroundlingError
from groundling.formats import load_format
from groundling.structures import Tree

PLACE = re.compile(r"<memory>:\d+: \S")

GRID = '''File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 2.5
tiers? <exists>
size = 2
item []:
    item [1]:
        class = "IntervalTier"
        name = "words"
        xmin = 0
        xmax = 2.5
        intervals: size = 2
        intervals [1]:
            xmin = 0
            xmax = 1.5
            text = "say ""hé"""
        intervals [2]:
            xmin = 1.5
            xmax = 2.5
            text = ""
    item [2]:
        class = "TextTier"
        name = "p"
        xmin = 0
        xmax = 2.5
        points: size = 1
        points [1]:
            number = 0.5
            mark = "x"
'''
SHORT_GRID = """File type = "ooTextFile short"
"TextGrid"

0
1
<exists>
1
"IntervalTier"
"w"
0
1
1
0
1
"a"
"""

SEEDS = {
    "brackets": [
        "(S (NP (D a) (N cat)) (VP (V sleeps)))\n(NP (D the) (N dog))\n",
        "( (S\n    (NP-SBJ (-NONE- *T*-1))\n    (VP (V été) (-LRB- -LRB-))))\n\n# comment\n%% comment\n(X x)\n",
        "((a (young man)) (at night))\n(a (b c))\n",
        "( ( A man ) ( with ( a hat ) ) . )\n",
    ],
    "conllu": [
        "# sent_id = s1\n# text = Dogs bark.\n1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n"
        "2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n\n",
        "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\t2\tcase\t_\t_\n2\tle\tle\tDET\t_\t_\t0\troot\t_\t_\n"
        "2.1\té\t_\t_\t_\t_\t_\t_\t0:root\t_\n\n1\tOui\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n",
    ],
    "pharaoh": ["0-0 1-2 2p1\n\n3?4 10-11:0.25\n", "1-1\n0-0 0-1\n"],
    "wa": ["0001 1 1 S\n0001 2 3 P\n0003 1 2\n", "1 1 1\n2 2 2 S 0.5\n2 0 3\n"],
    "aligned": ["a cat\tun chat\t0-0 1-1\nthe dog\tle chien noir\t0-0 1p1 1-2\n", "é\tè\t\n"],
    "textgrid": [GRID, SHORT_GRID],
    "ctm": [";; comment\nrec1 1 0.10 0.25 the\nrec1 1 0.35 0.5 cat 0.98\nrec2 A 0 1.25 é\n", "r 1 1e-2 2.5 <eps>\n"],
    "samples": [
        '{"task_id": "t/0", "completion": "x = 1\\n", "logprob": -2.5, "tokens": 4, "model": "m"}\n'
        '{"task_id": "t/0", "completion": "é", "logprobs": [-1, -0.5]}\n{"task_id": 1, "completion": "", "a": [1]}\n',
        '{"task_id": "t", "prompt": "p", "completions": ["SELECT 1", "b"], "language": "sql", "logprob": [-1, null]}\n',
    ],
}
OPTIONS = {"brackets": [{"labelled": "auto"}, {"labelled": True}, {"labelled": False}], "pharaoh": [{}, {"base": 1}]}


def attempt(name: str, data: bytes, **options: object) -> list[object] | None:
    """Read; None for a well-told error."""
    try:
        return list(load_format(name).read(io.BytesIO(data), **options))
    except GroundlingError as error:
        assert PLACE.match(str(error)), f"no line in {str(error)!r} for {data!r}"
        assert "\n" not in str(error), "an error is one line"
        return None


def assert_survives(name: str, items: list[object], path: Path) -> None:
    module = load_format(name)
    try:
        module.write(path, items)
    except GroundlingError:
        return  # a word with a space, an empty tier: the error is tested elsewhere
    if name == "brackets":  # tree by tree: a file of lower-case labels without tags may be taken for words
        assert [Tree.from_brackets(str(tree)) for tree in items] == items
        return
    again = list(module.read(path))
    if name == "textgrid":  # all tiers last as long as the longest
        assert [(s.id, s.words) for s in again] == [(s.id, s.words) for s in items]
        return
    assert again == items[: len(again)]
    assert all(not item.possible for item in items[len(again) :]) if name == "wa" else len(again) == len(items)
