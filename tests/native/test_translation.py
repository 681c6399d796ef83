"""Loops in C do what their Python source does: each small loop is run both ways."""

import shutil
from importlib.util import module_from_spec, spec_from_file_location
from typing import NamedTuple

import numpy as np
import pytest

from sfumato.native.array_types import Bool, Float64, Int32, Int64, Int64_2, UInt8, UInt64, UInt64_2
from sfumato.native.build import BuildError, build, program
from sfumato.native.byte_kernels import put_word, word_at
from sfumato.native.c_codegen.c_values import TranslationError
from sfumato.native.c_codegen.program import CProgram

NONE = -1
_WORD = np.uint64(0x9E3779B97F4A7C15)


class Pair(NamedTuple):
    one: Int64
    other: Float64


def divided(a: int, b: int):
    return a // b, a % b, a / b, -a, abs(a), ~a


def mixed(word: np.uint64, by: int):
    return (word * _WORD) >> np.uint64(by), word & np.uint64(255), float(word >> np.uint64(40))


def extremes(a: int, b: float):
    return min(a, b), max(a, b), min(a, 3), max(a, 3, -2), b if a > 2 else a, bool(a) and b > 0.0, 1 < a <= 4


def counted(values: Int64, step: int):
    total, last = 0, NONE
    for at in range(len(values) - 1, -1, -1):
        if values[at] < 0:
            continue
        if values[at] > 90:
            break
        total += values[at] * step
        last = at
    while total > 1000:
        total //= 2
    return total, last


def widened(values: Int64 | Int32):
    best = 0
    for value in values:
        best += value
        if value > 5:
            best *= 0.5
    return best


def swapped(values: Int64):
    values[0], values[-1] = values[-1], values[0]
    values[1:3] = 7
    one = two = values[1] + 1
    part = values[2:]
    part[0] += 1
    for place in (0, 1):
        values[place] += one + two


def moved(table: Int64_2, row: int, begin: int):
    table[row] = table[0]
    table[:, begin:] = 5
    return table[1:, :2].copy(), table.shape[1], table[row, 1:].max(), table.ravel().min()


def arranged(values: Float64, k: int):
    order = np.sort(values)
    part = np.partition(values, k)[k]
    found = np.searchsorted(order, values[0])
    mine = values.copy()
    mine.sort()
    return order, part, found, mine[-1], mine[:100]


def made(count: int):
    flags = np.zeros(count, np.bool_)
    flags[1] = True
    flags[count - 1] = True
    table = np.full((2, count), 3, np.int32)
    return np.flatnonzero(flags), table, np.full(2, np.inf), np.ones(3), np.zeros_like(table), np.empty(0)


def inner(values, factor):
    room = np.zeros(3)
    for place in range(len(room)):
        room[place] = values[place] * factor
    return room[0] + room[1], room[2]


def outer(pair: Pair, both: tuple[Int64, Bool]):
    numbers, flags = both
    ends = inner(pair.one, 2)
    rest = inner(pair.other, 0.5)
    low, high = inner(*(numbers, 1))
    pair.other[0] = 9
    return ends[0] + rest[1], low, high, flags[0], len(pair.one)


def packed(keys: UInt64_2, out: UInt64):
    for row in range(keys.shape[1]):
        out[row] = 0
        for at in range(len(keys)):
            out[row] ^= keys[at, row] << np.uint64(at)


def many_rooms(count: int):
    total = 0.0
    for _ in range(count):
        total += inner(np.ones(9000), 1)[0]
    return total


def moved_bytes(data: UInt8, begin: int, to: int):
    word = word_at(data, begin)
    put_word(data, to, word)
    return word, word_at(data, to - 1)


LOOPS = {
    function.__name__: function
    for function in (
        *(divided, mixed, extremes, counted, widened, swapped, moved, arranged, made, outer, packed, many_rooms),
        moved_bytes,
    )
}


def ints(*values: int):
    return np.array(values, np.int64)


def random_reals(size: int):
    return np.random.default_rng(size).normal(size=size)


CASES = [
    *(("divided", (a, b)) for a, b in ((7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (2**62, 3))),
    ("mixed", (np.uint64(2**63 + 12345), 33)),
    *(("extremes", (a, b)) for a, b in ((1, 2.5), (3, -1.0), (5, 5.0), (0, 1.0))),
    *(("counted", (ints(*values), 3)) for values in ((1, 2, 3), (99, 5, -3, 80), (), (900, 400), (90, 90, 90, 80))),
    ("widened", (ints(1, 9, 2),)),
    ("widened", (np.array([4, 6], np.int32),)),
    ("swapped", (ints(1, 2, 3, 4, 5),)),
    ("moved", (np.arange(12).reshape(3, 4), 2, 2)),
    ("moved", (np.arange(30).reshape(3, 10)[:, :4].copy(), 1, 9)),
    *(("arranged", (random_reals(size), size // 3)) for size in (1, 2, 17, 40, 1000)),
    ("arranged", (np.ones(500), 3)),
    ("arranged", (np.arange(2000.0) % 7, 1000)),
    ("arranged", (np.sort(random_reals(3000))[::-1].copy(), 2999)),
    ("made", (4,)),
    ("outer", (Pair(ints(1, 2, 3), np.array([0.5, 1.5, 2.5])), (ints(4, 5, 6), np.array([True])))),
    ("packed", (np.arange(8, dtype=np.uint64).reshape(2, 4), np.ones(4, np.uint64))),
    ("many_rooms", (50,)),
    ("moved_bytes", (np.arange(1, 250, 7, dtype=np.uint8), 3, 17)),
]


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler here")
    path = build(tmp_path_factory.mktemp("native"), LOOPS)
    spec = spec_from_file_location("native", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def copied(value):
    if isinstance(value, tuple):
        parts = [copied(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.copy() if isinstance(value, np.ndarray) else value


def assert_same(one, other):
    if isinstance(one, tuple):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            assert_same(*pair)
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    else:
        assert one == other


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_a_loop_in_c_does_what_its_source_does(native, name, arguments):
    own = copied(arguments)
    with np.errstate(over="ignore"):
        expected = LOOPS[name](*own)
    if name == "arranged":  # which of several equal numbers come first is not said
        expected = (*expected[:4], expected[4])
    assert_same(getattr(native, name)(*arguments), expected)
    assert_same(arguments, own)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("swapped", (np.ones(5),)),
        ("swapped", (np.ones((2, 5), np.int64),)),
        ("swapped", (np.arange(10)[::2],)),
        ("swapped", ([1, 2, 3],)),
        ("swapped", ()),
        ("divided", (1.5, 2)),
        ("mixed", (-1, 2)),
        ("outer", ((ints(1),), (ints(4), np.array([True])))),
    ],
)
def test_other_types_than_those_of_the_signature_are_refused(native, name, arguments):
    with pytest.raises(TypeError, match="compiled for another type"):
        getattr(native, name)(*arguments)


def test_an_array_that_may_not_be_written_is_refused_where_it_would_be(native):
    values = ints(1, 2, 3, 4, 5)
    values.flags.writeable = False
    with pytest.raises(TypeError, match="compiled for another type"):
        native.swapped(values)
    assert native.widened(values) == 15


def unclear_types(values: Int64):
    total = 0
    for value in values:
        total += value
    total = values
    return total[0]


def mixed_words(word: np.uint64, number: int):
    return word + number


def unknown_call(values: Int64):
    return np.cumsum(values)


@pytest.mark.parametrize("function", [unclear_types, mixed_words, unknown_call])
def test_what_is_not_translated_is_named_with_its_loop(function):
    with pytest.raises(TranslationError, match=f"{function.__name__}: line"):
        program({function.__name__: function})


def test_a_refusing_compiler_is_an_error_that_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "false")
    with pytest.raises(BuildError):
        build(tmp_path, {"divided": divided})
    monkeypatch.setenv("CC", str(tmp_path / "absent"))
    with pytest.raises(BuildError, match="no C compiler"):
        build(tmp_path, {"divided": divided})
    assert not list(tmp_path.iterdir())


def test_a_loop_that_others_call_is_written_once_for_each_type():
    text = CProgram()
    names = {text.specialize(inner, kinds)[0] for kinds in _kinds_of_inner() for _ in range(2)}
    assert len(names) == len(text.functions) == 2


def _kinds_of_inner():
    from sfumato.native.c_codegen.c_values import Array, Scalar

    return [(Array("i8", 1), Scalar("i8")), (Array("f8", 1), Scalar("f8"))]
