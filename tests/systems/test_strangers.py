"""Model folders from strangers: whatever stands in them, loading gives a model or one of our errors."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from groundling.errors import ConfigError, DataError, FormatError, GroundlingError  # noqa: E402
from groundling.systems import avnsl, g2l2, mlpalign, subdp, vgnsl  # noqa: E402
from groundling.training.models import load_model, save_model  # noqa: E402

MEMORY = 256 << 20  # that loading may take beyond what the process has


def make_vgnsl(folder: Path) -> None:
    from groundling.systems.vgnsl.learner import Learner
    from groundling.systems.vgnsl.words import Vocabulary

    config = vgnsl.Config(embedding_dim=8, scorer_hidden_dim=4)
    vocabulary = Vocabulary(("<pad>", "<unk>", "a", "dog"), True)
    vgnsl.Model(config, vocabulary, Learner(config, len(vocabulary), 5), {}).save(folder)


def make_avnsl(folder: Path) -> None:
    from groundling.systems.avnsl.encoder import build_encoder
    from groundling.systems.avnsl.learner import Learner
    from groundling.systems.avnsl.model import Network

    config = avnsl.Config(encoder_dim=8, encoder_heads=2, embedding_dim=8, hidden_dim=8, scorer_hidden_dim=4)
    network = Network(build_encoder(config, 5), Learner(config, config.encoder_dim, 5))
    avnsl.Model(config, network, {"seed": 0}).save(folder)


def make_g2l2(folder: Path) -> None:
    from groundling.systems.g2l2.model import Lexicon

    domain = g2l2.load_domain("scan")
    g2l2.Model(g2l2.Config(), Lexicon(domain, ["run", "twice"], generator=None), {"seed": 0}).save(folder)


def make_mlpalign(folder: Path) -> None:
    from groundling.systems.mlpalign.counts import count
    from groundling.systems.mlpalign.model import MLP

    config = mlpalign.Config()
    mlpalign.Model(config, MLP(config), count([(["a", "b"], ["c"], None)])).save(folder)


def make_subdp(folder: Path) -> None:
    from groundling.systems.subdp.parser import Parser
    from groundling.systems.subdp.silver import Inventory
    from groundling.systems.subdp.word_encoder import WordVectors

    config = subdp.Config(arc_dim=4, label_dim=4, lstm_dim=4)
    words = WordVectors({"a": torch.ones(3).numpy()})
    inventory = Inventory(("root", "nsubj"), ("NOUN",))
    subdp.Model(config, inventory, Parser(config, 1, 3, 2, 1), encoder=words, device="cpu").save(folder)


def load_subdp(folder: Path) -> Any:
    from groundling.systems.subdp.word_encoder import WordVectors

    return subdp.Model.load(folder, encoder=WordVectors({"a": torch.ones(3).numpy()}), device="cpu")


SYSTEMS: dict[str, tuple[Callable[[Path], None], Callable[[Path], Any], Any]] = {
    "vgnsl": (make_vgnsl, vgnsl.Model.load, vgnsl.Config),
    "avnsl": (make_avnsl, avnsl.Model.load, avnsl.Config),
    "g2l2": (make_g2l2, g2l2.Model.load, g2l2.Config),
    "mlpalign": (make_mlpalign, mlpalign.Model.load, mlpalign.Config),
    "subdp": (make_subdp, load_subdp, subdp.Config),
}
pytestmark = pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")  # torch's, about a size of 0
VALUES = (None, 0, -1, 2**40, 1.5, "x", [], [1], ["a"] * 7, {}, {"a": 1}, True)


@pytest.fixture(params=SYSTEMS)
def system(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Callable[[Path], Any], Any]:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # hundreds of forged models are written; none must last
    make, load, config = SYSTEMS[request.param]
    make(tmp_path / "model")
    return tmp_path / "model", load, config


def refused_or_loaded(load: Callable[[Path], Any], folder: Path, what: object) -> bool:
    try:
        load(folder)
    except GroundlingError as error:
        assert str(folder) in str(error), (what, error)
        return True
    return False


def test_a_model_comes_back(system) -> None:
    folder, load, _ = system
    assert not refused_or_loaded(load, folder, "untouched")


def test_any_fact_of_run_json_may_be_wrong(system) -> None:
    folder, load, _ = system
    info = json.loads((folder / "run.json").read_text())
    refused = 0
    for key in info:
        for value in (*VALUES, "missing"):
            forged = {k: v for k, v in info.items() if k != key} | ({} if value == "missing" else {key: value})
            (folder / "run.json").write_text(json.dumps(forged))
            refused += refused_or_loaded(load, folder, (key, value))
    assert refused > 10
    for text in ("", "[]", "null", "3", "{", '{"format": 1}', "[" * 100_000):
        (folder / "run.json").write_text(text)
        assert refused_or_loaded(load, folder, text)


def numbers_of(config_class: Any) -> list[str]:
    return [f.name for f in fields(config_class) if f.type in ("int", "float") and not f.name.endswith("epochs")]


@pytest.mark.parametrize("size", [10**9, 2**40, -1, 0])
def test_a_config_that_asks_for_the_moon_is_refused_before_it_is_given(system, size: int) -> None:
    folder, load, config_class = system
    config, tensors, info = load_model(folder, config_class)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rest = {k: v for k, v in info.items() if k not in ("format", "config", "versions", "sha256")}
    for name in numbers_of(config_class):
        try:
            forged = replace(config, **{name: type(getattr(config, name))(size)})
        except ConfigError:
            continue
        save_model(folder, forged, tensors, rest)
        refused_or_loaded(load, folder, (name, size))
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10 < MEMORY


def test_tensors_of_other_shapes_names_and_kinds_are_refused(system) -> None:
    folder, load, config_class = system
    config, tensors, info = load_model(folder, config_class)
    rest = {k: v for k, v in info.items() if k not in ("format", "config", "versions", "sha256")}
    for name, tensor in tensors.items():
        for other in (None, tensor.new_zeros(1, 2, 3), torch.zeros(0)):
            forged = {k: v for k, v in tensors.items() if k != name} | ({} if other is None else {name: other})
            save_model(folder, config, forged, rest)
            assert refused_or_loaded(load, folder, (name, other)), (name, other)
    save_model(folder, config, {**tensors, "../../evil": torch.zeros(1)}, rest)
    assert refused_or_loaded(load, folder, "a name more")


@pytest.mark.parametrize("name", ["run.json", "config.toml", "model.safetensors"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(system, name: str) -> None:
    folder, load, _ = system
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises((FormatError, DataError)):
        load(folder)


def test_no_python_file_is_run_on_a_strangers_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_g2l2(tmp_path / "model")
    config, tensors, info = load_model(tmp_path / "model", g2l2.Config)
    evil = tmp_path / "model" / "evil.py"
    evil.write_text("import pathlib\npathlib.Path('ran').write_text('')\n")
    monkeypatch.chdir(tmp_path)
    save_model(tmp_path / "model", replace(config, domain="model/evil.py"), tensors, {"words": info["words"]})
    with pytest.raises(ConfigError, match=r"its domain is a Python file, model/evil\.py, which would be run"):
        g2l2.Model.load(tmp_path / "model")
    assert not (tmp_path / "ran").exists()
    with pytest.raises(ConfigError, match="has no function"):  # named by hand, it is run
        g2l2.Model.load(tmp_path / "model", "model/evil.py")
    assert (tmp_path / "ran").exists()


def test_a_pickle_in_the_place_of_weights_is_not_opened(system, tmp_path: Path) -> None:
    import pickle

    folder, load, _ = system

    class Evil:
        def __reduce__(self):
            return Path.touch, (tmp_path / "ran",)

    (folder / "model.safetensors").write_bytes(pickle.dumps(Evil()))
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Evil()))
    info = json.loads((folder / "run.json").read_text())
    from groundling.training.store import hash_file

    info["sha256"]["model.safetensors"] = hash_file(folder / "model.safetensors")
    (folder / "run.json").write_text(json.dumps(info))
    with pytest.raises(FormatError, match="not a readable safetensors file"):
        load(folder)
    assert not (tmp_path / "ran").exists()


def test_no_loader_of_the_library_reads_pickles() -> None:
    """By grep: a guard against a thoughtless `torch.load` or `allow_pickle=True`."""
    source = Path(sys.modules["groundling"].__file__ or "").parent
    pattern = r"pickle\.load|allow_pickle=True|weights_only=False|trust_remote_code=True|joblib\.load"
    done = subprocess.run(["grep", "-rnE", "--include=*.py", pattern, str(source)], capture_output=True, text=True)
    assert done.stdout == ""
