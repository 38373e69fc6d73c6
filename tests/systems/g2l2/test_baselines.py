"""The sequence-to-sequence baselines learn what they see."""

import pytest
import torch

from groundling.systems.g2l2.baselines import Seq2Seq, train_baseline
from groundling.worlds.scan import phrases

VERBS = [item for item in phrases() if len(item.words) < 3]


@pytest.mark.parametrize(("kind", "steps"), [("lstm", 300), ("transformer", 150)])
def test_a_baseline_repeats_its_training_data(kind: str, steps: int) -> None:
    model = train_baseline(kind, VERBS, seed=0, steps=steps, batch_size=14, size=64, device="cpu")
    right = [answer == item.actions for answer, item in zip(model.answer(VERBS), VERBS, strict=True)]
    assert sum(right) / len(right) > 0.9


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
def test_padding_changes_nothing(kind: str) -> None:
    short, long = VERBS[0], max(phrases(), key=lambda item: len(item.actions))
    model = Seq2Seq(sorted({word for item in phrases() for word in item.words}), kind).eval()
    with torch.no_grad():
        alone = model.logits(*(part for part in model.encode([short])))
        together = model.logits(*(part for part in model.encode([short, long])))
    torch.testing.assert_close(alone[0], together[0, : alone.shape[1]], rtol=1e-4, atol=1e-4)
