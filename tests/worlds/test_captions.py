import numpy as np

from groundling.worlds.canvas import COLOURS, RADIUS, SHAPES, SIDE, Thing, draw, filter_responses
from groundling.worlds.captions import RELATIONS, VERBS, make_world


def test_same_seed_gives_the_same_world() -> None:
    first, second = (make_world(5, np.random.default_rng(3)) for _ in range(2))
    assert first.trees == second.trees and first.scenes == second.scenes
    assert np.array_equal(first.features, second.features)


def test_captions_speak_of_what_is_drawn() -> None:
    world = make_world(40, np.random.default_rng(0), captions=3)
    assert len(world.trees) == 120
    for tree, image in zip(world.trees, world.images, strict=True):
        shapes = {thing.shape for thing in world.scenes[image]}
        colours = {thing.colour for thing in world.scenes[image]}
        assert {word for word in tree.words if word in SHAPES} <= shapes
        assert {word for word in tree.words if word in COLOURS} <= colours
        assert tree.words[-1] == "." and tree.tags[-1] == "."


def test_trees_follow_the_grammar() -> None:
    for tree in make_world(40, np.random.default_rng(1)).trees:
        assert tree.labels[0] == "S"
        for word, tag in zip(tree.words, tree.tags, strict=True):
            assert (tag == "P") == (word in {*RELATIONS, "in", "on"})
            assert (tag == "V") == (word in VERBS)


def test_split_parts_the_scenes() -> None:
    world = make_world(6, np.random.default_rng(2))
    first, rest = world.split(4)
    assert [len(part.scenes) for part in (first, rest)] == [4, 2]
    assert first.trees + rest.trees == world.trees
    assert rest.images.tolist() == [0, 0, 1, 1]
    assert np.array_equal(rest.features, world.features[4:])


def test_each_shape_colour_and_size_is_drawn_differently() -> None:
    pictures = {
        thing: draw([thing], np.random.default_rng(0))
        for thing in (Thing(s, c, z) for s in SHAPES for c in COLOURS for z in RADIUS)
    }
    assert all(picture.shape == (SIDE, SIDE, 3) for picture in pictures.values())
    assert len({picture.tobytes() for picture in pictures.values()}) == len(pictures)


def test_features_show_what_and_not_where() -> None:
    thing, other = Thing("square", "red", "large"), Thing("ring", "blue", "small")
    pictures = [draw([what], np.random.default_rng(seed)) for what in (thing, other) for seed in range(6)]
    features = filter_responses(np.stack(pictures))
    within = np.linalg.norm(features[:6] - features[:6].mean(0), axis=1).mean()
    between = np.linalg.norm(features[:6].mean(0) - features[6:].mean(0))
    assert between > 1.5 * within
