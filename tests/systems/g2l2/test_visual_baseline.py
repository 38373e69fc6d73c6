"""The end-to-end attention model of the CLEVR table learns what it sees."""

import numpy as np
import torch

from groundling.systems.g2l2.visual_baseline import AnswerClassifier, train_classifier
from groundling.worlds import clevr_questions, clevr_scenes


def questions(count: int) -> list[clevr_questions.Question]:
    rng = np.random.default_rng(1)
    scenes = [clevr_scenes.make_scene(number, rng) for number in range(count)]
    return [question for scene in scenes for question in clevr_questions.make_questions(scene, 4, rng)]


def test_it_repeats_its_training_data() -> None:
    few = questions(8)
    model = train_classifier(few, seed=0, steps=60, batch_size=32, learning_rate=1e-3, device="cpu")
    right = [answer == item.answer for answer, item in zip(model.answer(few), few, strict=True)]
    assert sum(right) / len(right) > 0.9


def test_the_order_of_objects_and_padding_change_nothing() -> None:
    few = questions(3)
    model = AnswerClassifier(sorted({word for q in few for word in q.words}), ["no", "yes"]).eval()
    words, features, mask = model.encode(few[:1])
    count = int(mask.sum())
    turned = features.clone()
    turned[:, :count] = features[:, :count].flip(1)
    turned[:, count:] = 5.0
    with torch.no_grad():
        torch.testing.assert_close(model(words, features, mask), model(words, turned, mask), rtol=1e-4, atol=1e-5)
