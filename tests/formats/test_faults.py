"""Each message of each format: what is wrong, where, what to do."""

import io

import pytest

from groundling.errors import ConfigError, DataError, FormatError
from groundling.formats import FORMATS, aligned, brackets, conllu, ctm, format_of, load_format, samples, textgrid, wa
from groundling.formats.checking import check_file
from groundling.structures import Alignment, Dependencies, Program, Samples, Segment, Segmentation

ROW = "\t".join
WORD = ROW(["1", "a", *"____", "0", "root", "_", "_"])
GRID = '"ooTextFile" "TextGrid" 0 2 <exists> 1\n'

CASES = [
    ("brackets", "(S (A a)\n", 1, "1 bracket(s) of the tree that begins here are not closed"),
    ("brackets", "(S a))", 1, "column 6: ')' closes nothing"),
    ("brackets", "(S\n  (A a)\n  (B))", 3, "column 5: this constituent has no word"),
    ("brackets", "(S a) (S b)", 1, "column 7: a second tree begins here"),
    ("brackets", "(S a) b", 1, "column 7: the word 'b' stands outside the tree"),
    ("brackets", "b (S a)", 1, "column 1: the word 'b' stands outside the tree"),
    ("brackets", "two words", 1, "2 words but no bracket"),
    ("conllu", "# sent_id = x\n1\ta", 2, "sentence 'x': 2 columns instead of 10"),
    ("conllu", WORD.replace("a", ""), 1, "column 2 is empty. Write `_`."),
    ("conllu", WORD.replace("1", "2"), 1, "ID is '2' where word 1 should come"),
    ("conllu", WORD + "\n" + WORD.replace("1", "4.1"), 2, "ID is '4.1' where word 2 should come"),
    ("conllu", ROW(["1-3", *"_________"]) + "\n" + WORD, 1, "the range goes to word 3, but"),
    ("conllu", WORD + "\n# late", 2, "a comment inside the sentence"),
    ("conllu", "# sent_id = s\n\n", 1, "sentence 's': no word"),
    ("conllu", WORD.replace("\t0\t", "\t_\t"), 1, "HEAD is '_', which is no number"),
    ("conllu", WORD.replace("\t0\t", "\t9\t"), 1, "HEAD is 9 but the sentence has 1 words"),
    ("conllu", WORD.replace("\t0\t", "\t1\t"), 1, "word 1 is its own head"),
    ("pharaoh", "0-0\nx", 2, "'x' is not a link"),
    ("pharaoh", "0-0:2", 1, "a probability lies between 0 and 1"),
    ("pharaoh", "0-0:e", 1, "'e' is not a number"),
    ("wa", "1 1\n", 1, "'1 1' is not a link"),
    ("wa", "2 1 1\n1 1 1\n", 2, "sentence 1 after sentence 2"),
    ("wa", "99999 1 1\n", 1, "sentence 99999 after sentence 0"),
    ("aligned", "a\tb", 1, "2 columns instead of 3"),
    ("aligned", "a\tb\t0-1", 1, "the link 0-1 lies outside a pair of 1 and 1 words"),
    ("ctm", "a 1 0 1", 1, "4 columns instead of 5 or 6"),
    ("ctm", "a 1 x 1 w", 1, "'x' is not a time"),
    ("ctm", "a 1 -1 1 w", 1, "'-1' is not a time"),
    ("ctm", "a 1 0 0 w", 1, "recording 'a': the word 'w' takes no time"),
    ("ctm", "a 1 0 1 w\na 1 0.5 1 v", 2, "recording 'a': 'v' begins at 0.5, before the last word ends at 1.0"),
    ("samples", "[]", 1, "not a JSON object"),
    ("samples", "\n{", 2, "not JSON"),
    ("samples", "[" * 100_000, 1, "JSON nested too deep"),
    ("samples", '{"completion": "a"}', 1, "no `task_id`"),
    ("samples", '{"task_id": "t", "prompt": 1, "completion": "a"}', 1, "task 't': `prompt` is no text"),
    ("samples", '{"task_id": "t"}', 1, "task 't': give either `completion` or `completions`"),
    ("samples", '{"task_id": "t", "completions": "a"}', 1, "`completions` is no list"),
    (
        "samples",
        '{"task_id": "t", "completions": ["a"], "logprob": []}',
        1,
        "`logprob` has 0 entries for 1 completions",
    ),
    ("samples", '{"task_id": "t", "completion": 1}', 1, "a completion is no text"),
    (
        "samples",
        '{"task_id": "t", "completion": "a", "language": "c"}',
        1,
        "language 'c' is not one of python, sql, bash",
    ),
    ("samples", '{"task_id": "t", "completion": "a", "model": 1}', 1, "`model` is no text"),
    ("samples", '{"task_id": "t", "completion": "a", "logprob": NaN}', 1, "NaN is not JSON"),
    (
        "samples",
        '{"task_id": "t", "completion": "a", "logprob": 1e999}',
        1,
        "`logprob` is 'inf', which is no finite number",
    ),
    ("samples", '{"task_id": "t", "completion": "a", "logprobs": 1}', 1, "`logprobs` is no list of numbers"),
    ("samples", '{"task_id": "t", "completion": "a", "tokens": -1}', 1, "`tokens` is no count"),
    ("textgrid", '"ooTextFile" "Pitch"', 1, "not a TextGrid"),
    ("textgrid", '"ooTextFile\n', 1, "this text is not closed"),
    ("textgrid", '"ooTextFile" "TextGrid" 0\n', 1, "the file ends where a number should come"),
    ("textgrid", '"ooTextFile" "TextGrid" 0 "x"', 1, "stands where a number should"),
    ("textgrid", '"ooTextFile" "TextGrid" 0 1 <exists> 1.5', 1, "1.5 stands where a count should"),
    ("textgrid", GRID + '"Tier" "w" 0 2', 2, "the tier 'w' is a 'Tier', neither IntervalTier nor TextTier"),
    ("textgrid", GRID + '"IntervalTier" "w" 0 2 1\n 1 1 "a"', 3, "tier 'w': the interval (1.0, 1.0) is empty"),
    ("textgrid", GRID + '"IntervalTier" "w" 0 2 0\n 1 1 "a"', 3, "more text after the last tier"),
]


@pytest.mark.parametrize(("name", "text", "line", "message"), CASES, ids=[f"{c[0]}-{c[3][:24]}" for c in CASES])
def test_reading_says_what_and_where(name: str, text: str, line: int, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(load_format(name).read(io.BytesIO(text.encode())))
    assert str(caught.value).startswith(f"<memory>:{line}: ")
    assert message in str(caught.value)
    faults = check_file(io.BytesIO(text.encode()), name).faults
    assert any(fault.line == line and message in fault.message for fault in faults)


def test_a_position_of_0_in_a_file_that_counts_from_1() -> None:
    with pytest.raises(FormatError, match="1: the link '0-1' counts from 0, but 1-based positions were promised"):
        list(load_format("pharaoh").read(io.BytesIO(b"0-1"), base=1))


def test_check_names_every_fault_of_a_treebank() -> None:
    loop = [ROW([str(i), "w", *"____", head, "x", "_", "_"]) for i, head in ((1, "2"), (2, "1"), (3, "0"), (4, "0"))]
    text = "\n".join(["# sent_id = good", WORD, "", "# sent_id = loop", *loop, "", "1\tx", "9\ty", "", WORD, ""])
    report = check_file(io.BytesIO(text.encode()), "conllu")
    assert report.items == 2
    assert [(fault.line, fault.message.split(".")[0]) for fault in report.faults] == [
        (4, "sentence 'loop': 2 words hang from the root; there must be exactly one"),
        (4, "sentence 'loop': words 1 -> 2 -> 1 form a cycle"),
        (10, "2 columns instead of 10"),
        (10, "no word"),
        (11, "2 columns instead of 10"),
    ]
    assert len(list(conllu.read(io.BytesIO("\n".join(loop).encode())))) == 1  # reading lets loops through


def test_one_missing_bracket_spoils_one_tree() -> None:
    text = "(S (A a)\n" + "(S (A a))\n" * 20 + "(S (A a)))\n(S)\n" + "(S (A \xe9))\n"
    report = check_file(io.BytesIO(text.encode("latin-1")), "brackets")
    assert [fault.line for fault in report.faults] == [1, 22, 23, 24]
    assert report.items == 21


def test_an_unclosed_tree_at_the_start_does_not_hide_the_faults_after_it() -> None:
    report = check_file(io.BytesIO(b"(S (A a)\n(S (B b)\n(S)\n"), "brackets")
    assert [fault.line for fault in report.faults] == [1, 2, 3]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["((a (young man)) (at night))"], True),
        (["(a (young (man (skate boarding))))"] * 3, True),
        (["((A man) sleeps)", "(the dog)", "(a (dog))"], True),
        (["( ( A man ) ( with ( a hat ) ) . )"], False),
        (["(sn (espec.ms (da0ms0 El)) (grup.nom.ms (ncms000 gato)))", "(S (sn (p yo)))"], False),
        (["( (S (NP-SBJ (-NONE- *)) (VP (V go))))"], False),
        (["(NP a cat)"], False),
        (["(X x)", "(# #)"], False),
        ([], False),
    ],
)
def test_words_in_the_place_of_labels_are_noticed(texts: list[str], expected: bool) -> None:
    assert brackets.looks_unlabelled(texts) is expected


def test_comments_and_blank_lines_between_trees_only() -> None:
    text = "# one\n%% two\n\n(S (# #) (NN\n  # (X x)))\n"
    assert [tree.words for tree in brackets.read(io.BytesIO(text.encode()))] == [("#", "#", "x")]


def test_unlabelled_and_labelled_by_choice() -> None:
    [words] = brackets.read(io.BytesIO(b"(NP cat)"), labelled=False)
    [label] = brackets.read(io.BytesIO(b"( np cat)"), labelled=True)
    assert (words.words, label.words, label.labels) == (("NP", "cat"), ("cat",), ("np",))


def test_wa_sentences_beyond_the_count_are_told() -> None:
    with pytest.raises(DataError, match="sentence 2 has links, but there are 1 sentences"):
        list(wa.read(io.BytesIO(b"1 1 1\n2 1 1\n"), count=1))


def test_wa_null_links_are_no_links() -> None:
    assert list(wa.read(io.BytesIO(b"1 0 3 S\n1 2 2 P\n"))) == [Alignment(frozenset(), frozenset({(1, 1)}))]


def test_a_tier_that_is_not_there_is_told() -> None:
    with pytest.raises(FormatError, match="no interval tier is called 'phones'"):
        list(textgrid.read(io.BytesIO((GRID + '"IntervalTier" "w" 0 2 0').encode()), tier="phones"))


def test_samples_of_a_task_are_gathered() -> None:
    text = (
        b'{"task_id": "a", "completion": "1"}\n{"task_id": "b", "completion": "2"}\n{"task_id": "a", "completion": "3"}'
    )
    merged = samples.merged(samples.read(io.BytesIO(text)))
    assert [(item.task_id, [str(p) for p in item.programs]) for item in merged] == [("a", ["1", "3"]), ("b", ["2"])]


def test_token_logprobs_are_summed_and_lists_go_with_completions() -> None:
    text = b'{"task_id": 7, "completions": ["a", "b"], "logprobs": [[-1, -2.5], []], "model": "m"}'
    [item] = samples.read(io.BytesIO(text))
    assert item == Samples("7", (Program("a", "python", -3.5, 2, "m"), Program("b", "python", 0.0, 0, "m")))


WRITES = [
    (conllu.write, Dependencies(("a\tb",), (0,), ("x",)), "a column that is empty or holds a tab"),
    (conllu.write, Dependencies((), (), ()), "no words"),
    (
        conllu.write,
        Dependencies(("a",), (0,), ("x",), comments=("no",)),
        "each comment is one line that begins with '#'",
    ),
    (ctm.write, Segmentation((Segment(0, 1, "a b"),), id="r"), "the word 'a b' has spaces"),
    (ctm.write, Segmentation((Segment(0, 1, "a"),)), "it needs a name of its own"),
    (ctm.write, Segmentation((), id="r"), "at least one segment"),
    (textgrid.write, Segmentation((), id="r"), "at least one segment or a finite duration"),
    (samples.write, Samples("t", (), extra={"prompt": "x"}), "the extra field 'prompt' has a meaning of its own"),
    (samples.write, Samples("t", (Program("a", logprob=float("inf")),)), "cannot be written as JSON"),
    (aligned.write, aligned.AlignedPair(("a b",), (), Alignment(frozenset())), "the word 'a b' cannot stand in a line"),
]


@pytest.mark.parametrize(("write", "item", "message"), WRITES)
def test_what_a_format_cannot_hold_is_refused(tmp_path, write, item: object, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        write(tmp_path / "x", [item])
    assert list(tmp_path.iterdir()) == []


def test_formats_by_name_and_suffix() -> None:
    assert format_of("A.TextGrid") == "textgrid"
    assert format_of("a.wa.xz") == "wa"
    with pytest.raises(ConfigError, match="Did you mean 'conllu'"):
        format_of("a", "conll")
    with pytest.raises(
        ConfigError, match=r"a.txt: the name does not tell the format. Name it: one of aligned, brackets"
    ):
        format_of("a.txt")
    for name in FORMATS:
        module = load_format(name)
        assert callable(module.read) and callable(module.write) and callable(module.scan)
