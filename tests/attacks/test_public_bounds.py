"""A stranger with the file to hand out alone, and integer programs written apart, computes no sensitive cell back.

He takes what the file shows: nothing is negative, numbers are whole, and where no zero is suppressed, a suppressed cell
is none. It makes no difference to him which rule suppressed it.
"""

import csv
import itertools
import random

import numpy as np
import pandas
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import sfumato as sf
from sfumato.errors import InternalError, UnattainableError
from sfumato.pipelines.tables import table_release
from sizes import size

KINDS = {
    "frequency": {"primary": [{"rule": "frequency", "min": 4}]},
    "frequency of holdings": {"table": {"holdings": "holdings"}, "primary": [{"rule": "frequency", "min": 4}]},
    "holdings": {"table": {"holdings": "holdings"}, "primary": [{"rule": "holdings", "min": 2}]},
    "status": {"primary": [{"rule": "status", "column": "mark"}]},
    "status of holdings": {"table": {"holdings": "holdings"}, "primary": [{"rule": "status", "column": "mark"}]},
    "group": {"primary": [{"rule": "group-disclosure", "dimension": "d0"}, {"rule": "frequency", "min": 3}]},
    "zeros": {"primary": [{"rule": "frequency", "min": 4}], "method": {"name": "optimal", "zeros": True}},
    "range": {"primary": [{"rule": "range", "min": 1, "max": 4}]},
    "sums": {"table": {"frequency": "people"}, "primary": [{"rule": "frequency", "min": 3}]},
    "status of sums": {"table": {"frequency": "people"}, "primary": [{"rule": "status", "column": "mark"}]},
}
SHAPES = [(4,), (2, 3), (3, 3), (2, 2, 2)]


def drawn(rng, sums):
    """A table with all totals: codes, value, holdings, people and mark of each cell."""
    shape = rng.choice(SHAPES)
    few = rng.choice([0.0, 0.2, 0.4])
    inner = list(itertools.product(*map(range, shape)))
    values = {key: 0 if rng.random() < few else rng.choice([1, 1, 1, 2, 2, 3, 5, 9, 30]) for key in inner}
    holdings = {key: min(value, rng.randint(1, 3)) for key, value in values.items()}
    amounts = {key: value * (rng.randint(1, 20) if sums else 1) for key, value in values.items()}
    cells = []
    for key in itertools.product(*[("T", *range(length)) for length in shape]):
        own = [one for one in inner if all(a in ("T", b) for a, b in zip(key, one, strict=True))]
        value, held, people = (sum(part[one] for one in own) for part in (amounts, holdings, values))
        mark = "u" if 0 < people <= 3 and ("T" not in key or rng.random() < 0.5) else ""
        cells.append({"key": key, "n": value, "holdings": held, "people": people, "mark": mark})
    return shape, cells


def sensitive(cell, primary):
    """Whether a cell is sensitive by itself, by rules written apart."""
    number = {"frequency": "people", "holdings": "holdings"}
    for rule in primary:
        if rule["rule"] in number and 0 < cell[number[rule["rule"]]] < rule["min"]:
            return True
        if rule["rule"] == "status" and cell["mark"] == "u":
            return True
        if rule["rule"] == "range" and "T" not in cell["key"] and rule["min"] <= cell["n"] <= rule["max"]:
            return True
    return False


class Stranger:
    """What is possible to one who has the file alone."""

    def __init__(self, shape, cells, folder, announced):
        with (folder / "table-external.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        names = [f"d{place}" for place in range(len(shape))]
        found = {tuple(row[name] for name in names): row for row in rows}
        shown = [found[tuple(map(str, cell["key"]))] for cell in cells]
        self.hidden = [not row["n_published"].isdigit() for row in shown]
        zeros = [cell["n"] == 0 for cell in cells]
        seen = any(zero and not hidden for zero, hidden in zip(zeros, self.hidden, strict=True))
        least = 1.0 if (seen or not announced) and not any(map(np.logical_and, zeros, self.hidden)) else 0.0
        self.low, self.high = (
            [
                max(least, float(row["n_lower"] or 0)) if hide else float(row["n_published"])
                for row, hide in self.zip(shown)
            ],
            [float(row["n_upper"] or np.inf) if hide else float(row["n_published"]) for row, hide in self.zip(shown)],
        )
        # As little as any file can tell: its zeros.
        self.nothing = [0.0 if zero and not hide else least for zero, hide in self.zip(zeros)]
        self.all = [0.0 if zero and not hide else np.inf for zero, hide in self.zip(zeros)]
        self.sums = np.array([*self._sums(shape, [cell["key"] for cell in cells])])

    def zip(self, others):
        return zip(others, self.hidden, strict=True)

    @staticmethod
    def _sums(shape, keys):
        places = {key: place for place, key in enumerate(keys)}
        for key, (at, length) in itertools.product(keys, enumerate(shape)):
            if key[at] == "T":
                row = np.zeros(len(keys))
                row[places[key]] = -1
                row[[places[(*key[:at], part, *key[at + 1 :])] for part in range(length)]] = 1
                yield row

    def ends(self, direction, low=None, high=None):
        """The least and the greatest that a sum of cells can be, over whole numbers."""
        for sign in (1, -1):
            done = milp(
                sign * direction,
                constraints=LinearConstraint(self.sums, 0, 0),
                bounds=Bounds(self.low if low is None else low, self.high if high is None else high),
                integrality=np.ones(len(direction)),
            )
            # Unbounded is said in two ways.
            yield sign * round(done.fun) if done.success else -sign * np.inf

    def range(self, cell, anyway=False):
        """What a cell can be, or what it can be whatever else is suppressed."""
        unit = np.eye(len(self.low))[cell]
        return [*(self.ends(unit, self.nothing, self.all) if anyway else self.ends(unit))]


def released(kind, seed, folder):
    """What a stranger has, and the cells; None where a table is refused."""
    more = KINDS[kind]
    shape, cells = drawn(random.Random(seed), "sums" in kind)
    names = [f"d{place}" for place in range(len(shape))]
    frame = pandas.DataFrame([dict(zip(names, map(str, cell["key"]), strict=True)) | cell for cell in cells])
    table = {"value": "n", **more.get("table", {})}
    dimensions = {name: {"column": name, "total": "T"} for name in names}
    plan = {"version": 1, "method": {"name": "fast"}, **more, "table": table, "dimensions": dimensions}
    if "status" in kind and not frame["mark"].any():
        return None
    try:
        sf.protect(frame, plan).save(folder)
    except UnattainableError:
        return None
    return Stranger(shape, cells, folder, kind == "zeros"), cells


def learned(kind, seed, folder):
    """The sensitive cells that a stranger knows exactly, or better than within one, though he need not."""
    answer = released(kind, seed, folder)
    if answer is None:
        return []
    stranger, cells = answer
    found = []
    for place, cell in enumerate(cells):
        if not sensitive(cell, KINDS[kind]["primary"]):
            continue
        low, high = stranger.range(place)
        counted = "sums" not in kind and not {"status", "holdings"} & {one["rule"] for one in KINDS[kind]["primary"]}
        if low == high:
            found.append(cell["key"])
        elif counted and not low < cell["n"] < high:
            least, most = stranger.range(place, anyway=True)
            if low > max(cell["n"] - 1, least) or high < min(cell["n"] + 1, most):
                found.append(cell["key"])
    return found + (_disclosed(stranger, cells) if kind == "group" else [])


def _disclosed(stranger, cells):
    """The groups of whom everyone knows that all are in one category of d0."""
    places = {cell["key"]: place for place, cell in enumerate(cells)}
    found = []
    for key in places:
        whole = cells[places["T", *key[1:]]]["n"]
        if key[0] == "T" or not whole or cells[places[key]]["n"] < whole:
            continue
        others = np.zeros(len(cells))
        others[[places[one] for one in places if one[0] not in ("T", key[0]) and one[1:] == key[1:]]] = 1
        if [*stranger.ends(others)][1] < 1 and [*stranger.ends(others, stranger.nothing, stranger.all)][1] >= 1:
            found.append(key)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_stranger_learns_no_sensitive_cell_by_the_file(kind, tmp_path):
    assert [seed for seed in size((13, 39), range(100)) if learned(kind, seed, tmp_path / str(seed))] == []


CELLS = {
    "d": ["T", *"abcdef"],
    "n": [40, 1, 1, 0, 8, 12, 18],
    "h": [9, 1, 1, 0, 2, 2, 3],
    "mark": ["", "u", "u", "", "", "", ""],
}
ONE = {"d": {"column": "d", "total": "T"}}


@pytest.mark.parametrize(
    "more",
    [
        {"primary": [{"rule": "frequency", "min": 3}]},
        {"primary": [{"rule": "frequency", "min": 3}], "holdings": "h"},
        {"primary": [{"rule": "holdings", "min": 2}], "holdings": "h"},
        {"primary": [{"rule": "status", "column": "mark"}]},
        {"primary": [{"rule": "dominance", "n": 1, "k": 60}], "contributions": ["h"]},
    ],
)
def test_what_everyone_knows_of_a_suppressed_cell_depends_on_the_file_alone(more):
    """A zero is printed, and none is suppressed: the least that a suppressed cell can be is 1, whatever the rule."""
    done = sf.protect(pandas.DataFrame(CELLS), value="n", dimensions=ONE, **more)
    table = done.external
    least = [low for low, text in zip(table.text("n_lower"), table.text("n_published"), strict=True) if text == "*"]
    assert least
    assert all(float(low) >= 1 for low in least)


@pytest.mark.parametrize(("text", "other"), [("*,", "1,"), (",,\n", ",0,99\n")])
def test_what_lies_on_the_disk_is_what_was_attacked(text, other, tmp_path, monkeypatch):
    """A file that shows another cell than the audit attacked, or marks one as suppressed that it shows, is refused."""
    done = sf.protect(pandas.DataFrame(CELLS), value="n", dimensions=ONE, primary=[{"rule": "frequency", "min": 3}])
    write = table_release.write_text

    def careless(path, content):
        write(path, content.replace(text, other, 1) if path.name == "table-external.csv" else content)

    monkeypatch.setattr(table_release, "write_text", careless)
    with pytest.raises(InternalError) as caught:
        done.save(tmp_path / "out")
    assert caught.value.code == "internal.handed-out"
    assert not (tmp_path / "out").exists()


def test_a_rule_on_groups_judges_a_table_with_single_persons():
    cells = {"a": [*"TTTpppqqq"], "b": [*"Txy"] * 3, "n": [17, 10, 7, 6, 1, 5, 11, 9, 2]}
    dimensions = {name: {"column": name, "total": "T"} for name in "ab"}
    done = sf.protect(
        pandas.DataFrame(cells),
        value="n",
        dimensions=dimensions,
        primary=[{"rule": "group-disclosure", "dimension": "b"}],
    )
    assert done.passed


def recorded(rng):
    """Records of a few holdings, in three columns."""
    count = rng.randint(15, 40)
    codes = {"a": "12", "b": "xy", "c": "pqr"}
    return [
        {name: rng.choice(texts) for name, texts in codes.items()} | {"h": str(rng.randint(1, count))}
        for _ in range(count)
    ]


@pytest.mark.parametrize("seed", size((31,), range(60)))
def test_nobody_computes_a_cell_of_records_by_their_holding_from_linked_files(seed, tmp_path):
    """All cells are sums of the cross of the columns: whole numbers, of which the files show sums."""
    rng = random.Random(seed)
    records = recorded(rng)
    pairs = rng.choice([("ab",), ("ab", "bc"), ("ab", "ac")])
    rule = rng.choice([{"rule": "frequency", "min": 3}, {"rule": "holdings", "min": 2}])
    tables = [{"name": pair, "dimensions": {key: {"column": key} for key in pair}} for pair in pairs]
    source = {"value": "count", "holding": "h", "group_disclosure": False}
    plan = {"version": 1, "table": source, "tables": tables, "primary": [rule]}
    sf.protect(pandas.DataFrame(records), plan | {"method": "optimal"}).save(tmp_path / "out")
    cross = list(itertools.product("12", "xy", "pqr"))
    sums, low, high, hidden = [], [], [], []
    for pair in pairs:
        with (tmp_path / "out" / pair / "table-external.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        for row in rows:
            codes = {"abc".index(key): row[key] for key in pair if any(row[key] == record[key] for record in records)}
            sums.append([float(all(cell[at] == code for at, code in codes.items())) for cell in cross])
            own = [one for one in records if all(one["abc"[at]] == code for at, code in codes.items())]
            mask = not row["count_published"].isdigit()
            low.append(1.0 if mask else float(row["count_published"]))
            high.append(float(row["count_upper"] or np.inf) if mask else low[-1])
            assert mask or not 0 < len({one["h"] for one in own}) < rule["min"]
            hidden.append(mask and 0 < len({one["h"] for one in own}) < rule["min"])
            assert not (mask and not own)
    seen = LinearConstraint(np.array(sums), low, high)
    for place in np.flatnonzero(hidden):
        ends = [
            milp(sign * np.array(sums[place]), constraints=seen, integrality=np.ones(len(cross))) for sign in (1, -1)
        ]
        assert not all(one.success for one in ends) or ends[0].fun != -ends[1].fun


def test_a_file_of_an_office_does_not_depend_on_what_it_hides(tmp_path, monkeypatch):
    from sfumato.tables.formats import release_files

    plan = {"version": 1, "table": {"value": "n"}, "dimensions": ONE, "primary": [{"rule": "frequency", "min": 3}]}
    files = {"output": {"files": ["px", "sdmx", "pivot", "xlsx"]}}
    done = sf.protect(pandas.DataFrame(CELLS), plan | files)
    done.save(tmp_path / "out")
    monkeypatch.setattr(release_files, "sdmx_text", lambda table, house=False: str(table.values.tolist()))
    with pytest.raises(InternalError) as caught:
        done.save(tmp_path / "again")
    assert caught.value.code == "internal.handed-out"
