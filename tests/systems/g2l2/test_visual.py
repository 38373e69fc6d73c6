"""The visual domain: table 6.3, and a lexicon made by hand that answers the corpus' questions."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from groundling.errors import ConfigError, DataError, FormatError
from groundling.systems.g2l2 import chart
from groundling.systems.g2l2.config import Config
from groundling.systems.g2l2.domain import World
from groundling.systems.g2l2.domains.visual import OPERATIONS, visual
from groundling.systems.g2l2.model import Lexicon
from groundling.systems.g2l2.predict import accuracy, answers
from groundling.systems.g2l2.train import Course, same_length
from groundling.worlds import clevr_questions, clevr_scenes
from groundling.worlds.clevr_questions import WORDS, Question
from groundling.worlds.clevr_scenes import ATTRIBUTES, projection

ENTRY = {
    "any": 5,
    "a": 5,
    "many": 6,
    "number": 6,
    "and": 8,
    "or": 9,
    "things": 0,
    "objects": 0,
    "thing": 0,
    "object": 0,
}
SHARP = 40.0


def test_execution_of_table_6_3() -> None:
    world = World(1, mask=torch.ones(1, 3))
    shiny, cube = torch.tensor([[0.1, 0.8, 0.9]]), torch.tensor([[0.8, 0.1, 0.9]])
    cubes = OPERATIONS["filter"].soft(world, OPERATIONS["scene"].soft(world), cube)
    both = OPERATIONS["filter"].soft(world, cubes, shiny)
    assert both[0].tolist() == pytest.approx([0.08, 0.08, 0.81])
    assert OPERATIONS["count"].soft(world, both).item() == pytest.approx(0.97)
    assert OPERATIONS["union"].soft(world, shiny, cube)[0, 0].item() == pytest.approx(1 - 0.9 * 0.2)
    assert OPERATIONS["exist"].soft(world, torch.zeros(1, 3)).item() == 0


def hand_made(words: list[str]) -> Lexicon:
    """The right entry for each word, and concepts read off the inverse of the projection."""
    lexicon = Lexicon(visual(), words, generator=torch.Generator().manual_seed(0))
    inverse = np.linalg.pinv(projection())  # [features, 17]
    values = [value for values in ATTRIBUTES.values() for value in values]
    said = {word: value for value in values for word in WORDS.get(value, (value,))}
    said |= {word + "s": value for word, value in said.items() if value in ATTRIBUTES["shape"]}
    with torch.no_grad():
        lexicon.usage.zero_()
        lexicon.concepts["Attribute"].fill_(0)
        for number, word in enumerate(words):
            entry = ENTRY.get(word, 10)
            if word in said:
                entry = 1 if said[word] in ATTRIBUTES["shape"] else 2
                vector = SHARP * inverse[:, values.index(said[word])]
                lexicon.concepts["ObjConcept"][number] = torch.tensor([*vector, -SHARP / 2])
            if word in ("left", "right", "front", "behind"):
                entry, axis = 4, 15 if word in ("left", "right") else 16
                sign = 1 if word in ("right", "front") else -1
                lexicon.concepts["RelConcept"][number] = torch.tensor([*(sign * SHARP * inverse[:, axis]), -SHARP / 10])
            if word in ATTRIBUTES:
                entry = 7
                for value in ATTRIBUTES[word]:
                    lexicon.concepts["Attribute"][number, words.index(value)] = SHARP
            lexicon.usage[number, entry] = 1
    return lexicon


def vocabulary(questions: list[Question]) -> list[str]:
    return sorted({word for q in questions for word in q.words} | set(visual().answer_words()))


def made_questions(count: int) -> list[Question]:
    rng = np.random.default_rng(5)
    scenes = [clevr_scenes.make_scene(number, rng) for number in range(count)]
    return [question for scene in scenes for question in clevr_questions.make_questions(scene, 4, rng)]


def test_a_hand_made_lexicon_answers_made_questions() -> None:
    questions = made_questions(60)
    assert {question.form for question in questions} == set(clevr_questions.FAMILIES)
    assert accuracy(hand_made(vocabulary(questions)), questions, clear=True) > 0.98


def test_a_hand_made_lexicon_answers_the_corpus(data_dir: Path) -> None:
    folder = data_dir / "programs" / "clevr"
    scenes = list(clevr_scenes.read(folder / "scenes" / "CLEVR_val_scenes_500.json.gz"))
    path = folder / "questions" / "CLEVR_val_questions_generated.json.gz"
    questions = list(clevr_questions.read(path, scenes))
    assert len(questions) == 754
    assert accuracy(hand_made(vocabulary(questions)), questions, clear=True) > 0.98


def test_given_and_computed_relations_agree(data_dir: Path) -> None:
    scenes = list(clevr_scenes.read(data_dir / "programs" / "clevr" / "scenes" / "CLEVR_val_scenes_500.json.gz"))
    for scene in scenes[:50]:
        assert scene.given is not None
        computed = clevr_scenes.Scene(scene.number, scene.objects).relations
        assert {name: [sorted(row) for row in rows] for name, rows in scene.given.items()} == dict(computed)


def test_loss_falls_and_wrong_answers_cost_more() -> None:
    questions = [question for question in made_questions(40) if len(question.words) == 6][:12]
    lexicon = Lexicon(visual(), vocabulary(questions), generator=torch.Generator().manual_seed(0))
    optimizer = torch.optim.Adam(lexicon.parameters(), lr=0.1)
    first = last = 0.0
    for step in range(10):
        optimizer.zero_grad()
        loss = lexicon.loss(questions, 0.2).mean()
        loss.backward()
        optimizer.step()
        first, last = (loss.item() if step == 0 else first), loss.item()
    assert last < 0.7 * first


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Give the scenes file with `--scenes FILE`"):
        visual().read("q.json")
    with pytest.raises(DataError, match="scene 3 is asked about, but there are 0 scenes"):
        visual([]).ask(("what",), 3)
    with pytest.raises(FormatError, match="not a CLEVR scene"):
        clevr_scenes.parse_scene({"objects": []})
    broken = tmp_path / "q.json"
    broken.write_text("[1")
    with pytest.raises(FormatError, match="not CLEVR's JSON"):
        list(clevr_scenes.read(broken))
    question = made_questions(1)[0]
    with pytest.raises(DataError, match="unknown words: flurb"):
        answers(hand_made(vocabulary([question])), [Question(("flurb",), question.scene, "")])


def test_a_word_that_shares_a_meaning_is_decided_by_the_answers() -> None:
    """`there` means exist in half of its uses and nothing in the others, and `any` nothing: small steps end there."""
    rng = np.random.default_rng(5)
    scenes = [clevr_scenes.make_scene(number, rng) for number in range(60)]
    questions = [q for scene in scenes for q in clevr_questions.make_questions(scene, 6, rng, ["zero_hop"])]
    questions = [q for q in questions if {"any", "many"} & set(q.words) and len(q.words) < 8]
    lexicon = hand_made(vocabulary(questions))
    with torch.no_grad():
        lexicon.weights.copy_(lexicon.usage.log().clamp(min=-6))
        for word, entry, weight in (("any", 10, 5.0), ("there", 5, 0.0), ("there", 10, 0.0)):
            lexicon.weights[lexicon.index[word], entry] = weight
            lexicon.usage[lexicon.index[word], entry] = 1
    there = lexicon.index["there"]
    batches = list(same_length(lexicon, [q for q in questions if "there" in q.words], 16))
    lexicon.decide("there", batches, reach=5.0)
    assert int(lexicon.weights[there].argmax()) == 10
    weights = lexicon.weights[there].detach()
    assert float(weights.max() - weights.min()) == pytest.approx(5.0)


def test_hold_and_prune_keep_what_may_recover() -> None:
    lexicon = Lexicon(visual(), ["a", "b"], generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        lexicon.weights[0] = -20
        lexicon.weights[0, 3] = 2
        lexicon.hold(5.0)
    assert lexicon.weights[0, 0].item() == pytest.approx(-3)
    with torch.no_grad():
        lexicon.weights[0, 4] = 2
        lexicon.usage[0, 3] = 10
    lexicon.prune(0.02, least_use=8, unlikely=0.02)
    assert torch.nonzero(lexicon.active[0])[:, 0].tolist() == [3, 4]  # 4 was not used but is probable
    assert bool(lexicon.active[1].all())  # not used often enough to know


def test_stages_go_by_sentence_length_and_rare_answers_are_drawn_more_often() -> None:
    questions = made_questions(20)
    config = Config(domain="clevr", longest=(6, 20), steps=40, batch_size=8, balance=1.0)
    course = Course(config, questions, Lexicon(visual(), vocabulary(questions), generator=torch.Generator()))
    assert {len(q.words) <= 6 for q in course.sets[0]} == {True} and len(course.sets[1]) == len(questions)
    course.lexicon.progress[0] = 1
    drawn = Counter(q.answer for batch in course.batches(0, np.random.default_rng(0)) for q in batch)
    whole = Counter(q.answer for q in questions)
    common = whole.most_common(1)[0][0]
    assert drawn[common] / drawn.total() < whole[common] / whole.total()
    with pytest.raises(ConfigError, match=r"longest is .* give rising numbers of words"):
        Config(longest=(9, 6))


def test_what_pruning_made_impossible_is_left_out_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [q for q in made_questions(60) if len(q.words) == 11][:8]
    lexicon = hand_made(vocabulary(questions))
    with torch.no_grad():
        lexicon.active.copy_(lexicon.usage > 0)
        lexicon.active[0] = True
    batch = next(iter(same_length(lexicon, questions, 8)))
    found = {}
    for limit in (chart.DEAD, -float("inf")):
        monkeypatch.setattr(chart, "DEAD", limit)
        lexicon.zero_grad()
        loss = lexicon.loss(batch, 0.3)
        loss.sum().backward()
        assert lexicon.weights.grad is not None
        found[limit] = [loss.detach(), lexicon.weights.grad.clone()]
    torch.testing.assert_close(*found.values())


def test_a_pruned_word_can_be_opened_again() -> None:
    questions = made_questions(20)
    lexicon = Lexicon(visual(), vocabulary(questions), generator=torch.Generator().manual_seed(0))
    lexicon.active[:, 1:] = False
    course = Course(Config(domain="clevr"), questions, lexicon)
    course.reopen(questions, ["cube" not in question.words for question in questions])
    opened = {word for word, active in zip(lexicon.words, lexicon.active.tolist(), strict=True) if all(active)}
    assert "cube" in opened and "the" not in opened
