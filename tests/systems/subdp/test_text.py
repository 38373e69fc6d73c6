from itertools import islice

import pytest

from groundling.algorithms.bitext_filters import fault_of, mismatches
from groundling.errors import ConfigError, DataError, FormatError
from groundling.experiments.subdp_data import read_ntrex
from groundling.formats import conllu
from groundling.formats.files import open_text
from groundling.systems.subdp.bitext import kept_pairs, read_bitext, warnings_of
from groundling.systems.subdp.tokens import cut, tokenise
from groundling.systems.subdp.word_encoder import read_vectors


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("it", "Dell'arte della città (nel 2018).", "Di l' arte di la città ( in il 2018 ) ."),
        ("de", "Er ging zum Haus-Arzt, im Mai.", "Er ging zu dem Haus - Arzt , in dem Mai ."),
        ("fr", "Aujourd'hui, l’eau du États-Unis...", "Aujourd'hui , l' eau de le États-Unis ..."),
        ("tr", "Meksika'nın kuzeyi.", "Meksika'nın kuzeyi ."),
        ("hi", "“इसे Twp से जोड़ा जाए”।", "“ इसे Twp से जोड़ा जाए ” ।"),
        ("en", "It's 3:30 p.m., Mr. O'Neil -- can't you?", "It 's 3:30 p.m. , Mr. O'Neil -- ca n't you ?"),
        ("zh", "我爱你。", "我 爱 你 。"),
        ("", "  ", ""),
    ],
)
def test_text_is_cut_as_treebanks_cut_it(language: str, text: str, words: str) -> None:
    assert tokenise(text, language) == words.split()
    tokens = cut(text, language)
    assert [w for t in tokens for w in t.words] == words.split()


def test_surfaces_put_the_text_together_again() -> None:
    text = "Er ging zum Arzt, im Mai (2018)."
    assert "".join(t.surface + " " * t.space_after for t in cut(text, "de")).strip() == text


def test_unknown_language_is_refused() -> None:
    with pytest.raises(ConfigError, match="'German' is no language code"):
        tokenise("Hallo", "German")


def test_filters_find_copies_repetitions_lengths_and_empty_sides() -> None:
    source = "one two three four five".split()
    assert fault_of(source, source) == "copy"
    assert fault_of(source, "eins eins eins zwei zwei".split()) == "repetition"
    assert fault_of(source, ["w"] * 3 + [str(k) for k in range(20)]) == "length"
    assert fault_of(source, []) == fault_of([], source) == "empty"
    assert fault_of(["Paris", "!"], ["Paris", "!"]) is None  # too short to tell
    bitext = kept_pairs([source, source], [source, "eins zwei drei vier fünf".split()])
    assert bitext.kept == [1] and bitext.dropped == {"copy": 1}
    assert any("left out: copy" in warning for warning in warnings_of(bitext))
    with pytest.raises(DataError, match="none of 1 sentence pairs"):
        kept_pairs([source], [source])


def test_warnings_say_how_bitext_and_text_differ() -> None:
    short = [["der", "Hund", "bellt", "."]] * 60
    long = [["the", "dog", "that", "barked", "ran", "home", "in", "a", "hurry", "x"] * 2] * 60
    found = mismatches(short, long)
    assert (
        len(found) == 3 and "words a sentence" in found[0] and "never occur" in found[1] and "punctuation" in found[2]
    )
    assert mismatches(short, short) == [] and mismatches([], long) == []


def test_files_of_unequal_length_are_refused(tmp_path) -> None:
    (tmp_path / "a").write_text("one two\nthree\n")
    (tmp_path / "b").write_text("eins zwei\n")
    with pytest.raises(DataError, match=r"a has 2 lines but .*b has 1"):
        read_bitext(tmp_path / "a", tmp_path / "b")


def test_word_vectors_are_read_and_faults_named(tmp_path) -> None:
    path = tmp_path / "x.vec"
    path.write_text("2 3\nder 1 0 0\nHund 0 1 0\n")
    encoder = read_vectors(path)
    assert encoder.dim == 3 and encoder.pieces("Der") == encoder.pieces("der") == [1] and encoder.pieces("?") == [0]
    for text, what in (
        ("a 1 2\nb 1\n", "x.vec:2: 1 numbers"),
        ("a one\nb two 3\n", "not a word"),
        ("", "no word vectors"),
    ):
        path.write_text(text)
        with pytest.raises(FormatError, match=what):
            read_vectors(path)


def test_warnings_tell_news_from_phrase_books_on_real_corpora(data_dir) -> None:
    """NTREX is news like PUD; Tatoeba's short sentences made a prototype lose up to 10 UAS."""
    ud, bitext = data_dir / "crosslingual" / "ud" / "pud", data_dir / "crosslingual" / "bitext"
    if not (bitext / "tatoeba_en-hi.tsv.xz").exists():
        pytest.skip("the corpora of chapter 9 are absent")
    text = [tree.words for tree in conllu.read(ud / "hi_pud-ud-test.conllu.gz")]
    news = read_ntrex(bitext / "ntrex128_15langs.tsv.xz", ("en", "hi"))["hi"]
    with open_text(bitext / "tatoeba_en-hi.tsv.xz") as lines:
        phrases = [tokenise(line.split("\t")[1], "hi") for line in islice(lines, 1000)]
    assert mismatches(news, text) == []
    assert any("words a sentence" in found for found in mismatches(phrases, text))
