"""Bitext by a translation model: a tiny one with random weights, saved to a folder as any other is."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundling.errors import ConfigError, DataError
from groundling.systems.subdp.translate import CHUNK, translate_file

WORDS = "the dog sees a cat der hund sieht eine katze .".split()
CODES = ("en_XX", "de_DE", "fr_XX")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    special = ["<pad>", "<s>", "</s>", "<unk>"]
    vocabulary = {word: k for k, word in enumerate([*special, *WORDS])}
    raw = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>",
        additional_special_tokens=list(CODES),
    )  # fmt: skip
    config = transformers.BartConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=64, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=2,
    )  # fmt: skip
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("translator")
    transformers.BartForConditionalGeneration(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def test_translates_lines_the_same_every_time_and_keeps_empty_ones(folder: Path) -> None:
    from groundling.backbones.translation import Translator

    lines = ["the dog sees a cat .", "", "a cat"]
    one, two = (Translator(str(folder)).translate(lines) for _ in range(2))
    assert one == two and len(one) == 3 and one[1] == ""
    assert all("<" not in line and "\n" not in line for line in one)
    assert Translator(str(folder)).translate(["", " "]) == ["", ""]


def test_translations_that_name_another_language_come_back_empty(folder: Path) -> None:
    from groundling.backbones.translation import Translator

    translator = Translator(str(folder), "en_XX", "de_DE")
    start = translator._tokenizer.get_vocab()["de_DE"]
    others = {translator._tokenizer.get_vocab()[code] for code in ("en_XX", "fr_XX")}
    assert translator._others == others and translator._start == start
    lines = [" ".join(WORDS[k : k + 4]) for k in range(8)]
    translator._others = set()
    spoken = translator.translate(lines)
    word = next(line for line in spoken if line).split()[0]
    translator._others = {translator._tokenizer.get_vocab()[word]}  # as if that word were a language's token
    assert translator.translate(lines) == ["" if word in line.split() else line for line in spoken]


def test_the_command_translates_a_file(folder: Path, tmp_path: Path) -> None:
    from groundling.cli.subdp import app

    (tmp_path / "en.txt").write_text("the dog sees a cat .\n\na cat\n")
    words = ["translate", str(tmp_path / "en.txt"), "--translator", str(folder), "-o", str(tmp_path / "de.txt")]
    result = CliRunner().invoke(app, [*words, "--codes", "en_XX-de_DE", "--device", "cpu"])
    assert result.exit_code == 0, result.output
    assert len((tmp_path / "de.txt").read_text().splitlines()) == 3 and "lines have no translation" in result.stderr


def test_unknown_languages_and_folders_are_explained(folder: Path, tmp_path: Path) -> None:
    from groundling.backbones.translation import Translator

    with pytest.raises(ConfigError, match=r"knows no language 'de_DD'\. Did you mean 'de_DE'"):
        Translator(str(folder), "en_XX", "de_DD")
    with pytest.raises(DataError, match="no translation model at"):
        Translator(str(tmp_path))


def upper(lines: Sequence[str]) -> list[str]:
    return [line.upper() for line in lines]


def test_a_killed_translation_goes_on_after_the_last_whole_chunk(tmp_path: Path) -> None:
    source, out = tmp_path / "en.txt", tmp_path / "xx.txt"
    source.write_text("".join(f"line {k}\n" for k in range(3 * CHUNK + 5)), encoding="utf-8")
    calls: list[int] = []

    def killed(lines: Sequence[str]) -> list[str]:
        calls.append(len(lines))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return upper(lines)

    with pytest.raises(KeyboardInterrupt):
        translate_file(str(source), out, killed)
    part = tmp_path / "xx.txt.part"
    part.write_bytes(part.read_bytes() + b"LINE 64\nLIN")  # a half-written chunk
    assert not out.exists()
    seen: list[str] = []
    assert translate_file(str(source), out, lambda lines: seen.extend(lines) or upper(lines)) == 0
    assert seen[0] == f"line {2 * CHUNK}" and not part.exists()
    assert out.read_text(encoding="utf-8") == source.read_text(encoding="utf-8").upper()


def test_a_treebank_is_translated_from_its_text(tmp_path: Path) -> None:
    rows = "1\tdo\t_\tX\t_\t_\t0\troot\t_\t_\n2\tn't\t_\tX\t_\t_\t1\tdep\t_\t_\n\n"
    (tmp_path / "en.conllu").write_text(f"# text = don't\n{rows}{rows}")
    assert translate_file(str(tmp_path / "en.conllu"), tmp_path / "xx.txt", upper) == 0
    assert (tmp_path / "xx.txt").read_text() == "DON'T\nDO N'T\n"
