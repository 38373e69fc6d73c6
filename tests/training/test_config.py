"""Settings: types, overrides, exact round trips, and each message."""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import ConfigError
from groundling.training.config import differences, dump_config, load_config, parse_config


@dataclass(frozen=True, kw_only=True)
class Config:
    epochs: int = 30
    margin: float = 0.2
    shuffle: bool = True
    name: str = "x"
    note: str | None = None
    limit: int | None = 3
    kind: Literal["bilinear", "mlp"] = "mlp"
    sizes: tuple[int, ...] = (1, 2)
    pair: tuple[str, float] = ("a", 1.0)

    def __post_init__(self) -> None:
        if self.epochs < 0:
            raise ConfigError("epochs is negative; use 0 or more.")


@dataclass(frozen=True)
class Needy:
    data: str
    parts: tuple[int, ...] = field(default_factory=tuple)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
INTS = st.integers(-(2**63), 2**63 - 1)
CONFIGS = st.builds(
    Config,
    epochs=st.integers(0, 2**63 - 1),
    margin=st.floats(),
    shuffle=st.booleans(),
    name=TEXT,
    note=st.none() | TEXT.filter(lambda text: text != "none"),
    limit=st.none() | INTS,
    kind=st.sampled_from(["bilinear", "mlp"]),
    sizes=st.lists(INTS, max_size=4).map(tuple),
    pair=st.tuples(TEXT, st.floats()),
)


@given(CONFIGS)
@settings(max_examples=200, deadline=None)
def test_the_resolved_text_reads_back_to_the_same_config(config: Config) -> None:
    again = parse_config(Config, dump_config(config))
    assert repr(again) == repr(config)  # repr, for nan is unequal to itself; it tells 0.0 from -0.0 and 1 from 1.0
    assert dump_config(again) == dump_config(config)
    assert differences(config, again) == []


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_config_or_a_config_error(text: str) -> None:
    try:
        assert isinstance(parse_config(Config, text), Config)
    except ConfigError as error:
        assert str(error).startswith("config: ")


@given(st.text(max_size=30))
@settings(max_examples=300, deadline=None)
def test_any_override_is_taken_or_a_config_error(text: str) -> None:
    try:
        assert isinstance(load_config(Config, overrides=[text]), Config)
    except ConfigError as error:
        assert str(error).startswith(("--set ", "Config: "))


def test_file_then_overrides(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text("epochs = 3\nmargin = 1\nsizes = [5]\n")
    config = load_config(Config, path, ["epochs=4", "name = abc", "shuffle=false", "pair=['b', 2]"])
    assert config == Config(epochs=4, margin=1.0, sizes=(5,), name="abc", shuffle=False, pair=("b", 2.0))
    assert type(config.margin) is float


@pytest.mark.parametrize(
    ("override", "key", "value"),
    [
        ("name=5", "name", "5"),
        ("name='5 6'", "name", "5 6"),
        ("name=a=b", "name", "a=b"),
        ("name=", "name", ""),
        ("note=none", "note", None),
        ("note=true", "note", "true"),
        ("limit=none", "limit", None),
        ("limit=1_000", "limit", 1000),
        ("margin=1e-3", "margin", 0.001),
        ("margin=inf", "margin", math.inf),
        ("kind=bilinear", "kind", "bilinear"),
        ("sizes=[]", "sizes", ()),
    ],
)
def test_overrides_need_no_quotes(override: str, key: str, value: object) -> None:
    assert getattr(load_config(Config, overrides=[override]), key) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("marjin = 1", "config: Config has no key 'marjin'. Did you mean 'margin'? It has: epochs, margin,"),
        ("epochs = 1.5", "config: key 'epochs': 1.5 is not an integer."),
        ("epochs = true", "config: key 'epochs': True is not an integer."),
        ("epochs = 9223372036854775808", "config: key 'epochs': 9223372036854775808 is not an integer."),
        ("epochs = -1", "config: epochs is negative; use 0 or more."),
        ("shuffle = 1", "config: key 'shuffle': 1 is not true or false."),
        ("name = 1", "config: key 'name': 1 is not text."),
        ("kind = 'mpl'", "config: key 'kind': 'mpl' is not one of 'bilinear', 'mlp'."),
        ("sizes = ['a']", "config: key 'sizes': ['a'] is not a list, each an integer."),
        ("pair = ['a']", "config: key 'pair': ['a'] is not a list of text, a number."),
        ("limit = 'x'", "config: key 'limit': 'x' is not an integer or \"none\"."),
        ("[margin]\nx = 1", "config: key 'margin': {'x': 1} is not a number."),
        ("epochs 3", "config: not TOML: "),
        ("epochs = " + "9" * 5000, "config: not TOML: "),
        ("sizes = " + "[" * 5000, "config: not TOML: "),
    ],
)
def test_each_fault_of_a_file_is_named(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match="^" + re.escape(message)):
        parse_config(Config, text)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("epochs", "--set epochs: no `key=value`. Write for example `--set epochs=...`."),
        ("=3", "--set =3: no `key=value`."),
        ("epoch=3", "--set epoch=3: Config has no key 'epoch'. Did you mean 'epochs'?"),
        ("epochs=many", "--set epochs=many: 'many' is not an integer."),
        ("sizes=1,2", "--set sizes=1,2: '1,2' is not a list, each an integer."),
        ("margin=0.1\nepochs=2", "--set margin=0.1\nepochs=2: '0.1\\nepochs=2' is not a number."),
    ],
)
def test_each_fault_of_an_override_is_named(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match="^" + re.escape(message)):
        load_config(Config, overrides=[override])


def test_faults_of_the_file_itself(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read \(No such file"):
        load_config(Config, tmp_path / "gone.toml")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(ConfigError, match=r"latin\.toml: not UTF-8 text \(byte 8\)"):
        load_config(Config, tmp_path / "latin.toml")
    (tmp_path / "big.toml").write_bytes(b"#" * (2**20 + 1))
    with pytest.raises(ConfigError, match=r"big\.toml: over 1 MB"):
        load_config(Config, tmp_path / "big.toml")
    with pytest.raises(ConfigError, match=r"Needy needs key 'data'. Set it: `--set data=\.\.\.`"):
        load_config(Needy)
    assert load_config(Needy, overrides=["data=d"]) == Needy("d")


def test_what_toml_cannot_hold_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Config\.note: the text 'none' stands for no value"):
        dump_config(Config(note="none"))
    with pytest.raises(ConfigError, match=r"Config\.name: .* is not Unicode text"):
        dump_config(Config(name="\ud800"))
    with pytest.raises(ConfigError, match=r"Config\.epochs: 'x' is not an integer"):
        dump_config(_forged())


def _forged() -> Config:
    config = Config()
    object.__setattr__(config, "epochs", "x")
    return config


def test_differences_name_both_values() -> None:
    assert differences(Config(), Config(margin=0.1)) == ["margin (0.2, now 0.1)"]
