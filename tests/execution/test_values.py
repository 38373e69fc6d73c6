"""Values survive the way through canonical JSON, equal ones get equal keys, hostile text raises FormatError only."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import FormatError
from groundling.execution.guest.encode import MAX_DEPTH, TooLargeError, encode
from groundling.execution.values import Opaque, agreement_key, decode, parse

surrogates = st.text(st.characters(), max_size=5)  # lone surrogates too
scalars = (
    st.none() | st.booleans() | st.integers() | st.integers(min_value=2**60) | st.floats(allow_nan=False) | surrogates
)
scalars |= st.binary(max_size=4) | st.complex_numbers(allow_nan=False, allow_infinity=False)
hashables = st.recursive(
    scalars, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=4
)
values = st.recursive(
    hashables,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(hashables, inner, max_size=3) | st.sets(hashables, max_size=3)
    ),
    max_leaves=8,
)


def through(value: Any) -> Any:
    return decode(parse(encode(value)))


@settings(max_examples=300, deadline=None)
@given(values)
def test_a_plain_value_survives(value: Any) -> None:
    assert through(value) == value
    assert type(through(value)) is type(value)


@settings(max_examples=300, deadline=None)
@given(values, values)
def test_keys_are_equal_exactly_where_values_are(a: Any, b: Any) -> None:
    key_a, key_b = agreement_key(parse(encode(a))), agreement_key(parse(encode(b)))
    assert key_a is not None
    assert (key_a == key_b) == (a == b)


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (1, True, True),
        (1, 1.0, True),
        (0.0, -0.0, True),
        (2**70, float(2**70), True),
        ([1, 2], (1, 2), False),
        ({1}, frozenset({1}), True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        (b"x", bytearray(b"x"), True),
        ("1", 1, False),
        (1 + 0j, 1, True),
        (math.nan, math.nan, True),  # the one place where we differ from Python: two programs that say nan agree
        (math.inf, -math.inf, False),
        (range(3), range(0, 3), True),
        ("[1]", [1], False),
    ],
)
def test_keys_follow_python(a: Any, b: Any, equal: bool) -> None:
    assert (agreement_key(parse(encode(a))) == agreement_key(parse(encode(b)))) is equal


def test_subclasses_are_read_as_their_base() -> None:
    from collections import Counter, OrderedDict, defaultdict, namedtuple

    point = namedtuple("point", "x y")
    for value in (Counter("aab"), OrderedDict(a=1), defaultdict(int, {1: 2}), point(1, 2)):
        assert through(value) == value

    class Evil(list[int]):
        def __iter__(self) -> Any:
            raise SystemExit

    assert through(Evil([1, 2])) == [1, 2]


def test_objects_are_opaque_and_equal_nothing() -> None:
    for value in (object(), (x for x in "a"), [len], {1: object()}, ValueError("x")):
        assert agreement_key(parse(encode(value))) is None
    opaque = through(object())
    assert isinstance(opaque, Opaque) and opaque != Opaque("object")


def test_numpy_scalars_and_arrays_are_data() -> None:
    numpy = pytest.importorskip("numpy")
    assert through(numpy.float64(1.5)) == 1.5 and through(numpy.int64(3)) == 3
    assert through(numpy.array([1, 2])) == ("array", [1, 2])


def test_too_deep_or_endless_values_are_not_sent() -> None:
    endless: list[Any] = []
    endless.append(endless)
    wide: list[Any] = []
    for _ in range(MAX_DEPTH):
        wide = [wide, wide]
    for value in (endless, wide):
        with pytest.raises(TooLargeError):
            encode(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "1.5",
        "NaN",
        "1" * 30,
        "[" * 100_000,
        '{"a":1,"a":2}',
        b"\xff\xfe\x00",
        b"\x00",
    ],
)
def test_text_that_is_not_strict_json_is_an_error(text: Any) -> None:
    with pytest.raises(FormatError, match="not canonical JSON"):
        parse(text)


@pytest.mark.parametrize(
    "data",
    [
        {"int": 5},
        {"int": "zz"},
        {"float": "x"},
        {"float": "0x1p+99999"},
        {"tuple": 1},
        {"dict": [[1]]},
        {"dict": [[[1], 2]]},
        {"set": [[1]]},
        {"bytes": "0"},
        {"range": [1, 2, 0]},
        {"complex": ["0x1p+0"] * 9},
        {"unknown": 1},
        {"tuple": [], "set": []},
        {},
        1.5,
    ],
)
def test_forms_that_do_not_exist_are_errors(data: Any) -> None:
    with pytest.raises(FormatError, match="not a canonical value"):
        decode(data)
    assert agreement_key(data) is None


def test_deep_data_is_an_error() -> None:
    data: Any = 1
    for _ in range(200):
        data = [data]
    with pytest.raises(FormatError, match="too deep"):
        decode(data)
