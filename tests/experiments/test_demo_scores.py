from groundling.experiments.demo_scores import run


def test_the_demo_scores_and_draws_the_same_each_time() -> None:
    said: list[str] = []
    sections = run(said.append, seed=0)
    assert [section.title for section in sections] == ["Scores of trees", "Scores of speech", "Perturbed boundaries"]
    assert len(said) == 3 and sections == run(said.append, seed=0)
    table = sections[1].tables[0].rows
    assert [row[1] for row in table] == [0.75, 0.7181]
    assert all(section.pictures for section in sections)
