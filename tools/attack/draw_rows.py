"""Draws data about people, and plans to publish them, from a seed: all methods, the models that `judge_rows` judges,
missing values, persons with several rows, pseudonyms, columns that determine others, chains, plans to be refused."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, str]
Plan = dict[str, Any]

PERSON, TAG = "person", "ticket"
LATTICE, GROUPING = ("exhaustive", "samarati", "optimal", "greedy"), ("cells", "microaggregation")
METHODS = (*LATTICE, "local", "mondrian", "mondrian", "k-optimize", "auto", *GROUPING)
PARENTS = dict.fromkeys(("red", "dark, red"), "warm") | dict.fromkeys(("blue", "green", "gray"), "cold")
PARENTS |= dict.fromkeys(("warm", "cold"), "any")
VALUES = {"zip": ("1001", "1002", "1103", "2001", "2002"), "color": tuple(PARENTS)[:5], "smoker": ("yes", "no", "no")}
VALUES |= {"income": ("500", "900", "1500", "2500", "9000"), "lungs": ("clear", "light", "dark")}
# What the policies promise (docs/policies.md), by their least k.
POLICIES = {"ema-0070": 12, "gdpr-wp216": 5, "health-canada-prci": 12}
HIERARCHIES: Plan = {
    "age": {"type": "intervals", "start": 0, "end": 89, "widths": [5, 10, 30], "bottom": 0, "top": 89},
    "zip": {"type": "digits", "length": 4},
    "color": {"type": "tree", "parents": PARENTS},
    "smoker": {"type": "any", "values": ["yes", "no"]},
    "big": {"type": "order", "groups": [2, 4]},
}
TYPES = {"age": "integer", "big": "integer", "height": "decimal"}
# Models besides k-anonymity, and options of methods; of several values one is drawn. The first two go with cells.
MODELS: tuple[Plan, ...] = (
    {"model": "individual-risk", "threshold": 0.05, "sampling_fraction": 0.1},
    {"model": "global-risk", "threshold": 0.03, "sampling_fraction": 0.1},
    {"model": "alpha-k-anonymity", "alpha": (0.5, 0.7, 0.9), "k": (2, 3, 5)},
    {"model": "l-diversity", "l": 2, "variant": "distinct"},
    {"model": "l-diversity", "l": (1.5, 2, 2.5), "variant": "entropy"},
    {"model": "l-diversity", "l": 2, "variant": "recursive", "c": (1, 2, 4)},
    {"model": "t-closeness", "t": (0.2, 0.3, 0.5), "distance": "equal"},
    {"model": "t-closeness", "t": 0.3, "distance": "ordered", "column": "income"},
    {"model": "beta-likeness", "beta": (1, 2, 4), "variant": ("basic", "enhanced")},
    {"model": "delta-disclosure", "delta": (1, 2)},
    {"model": "average-risk", "threshold": (0.1, 0.25)},
    {"model": "sample-uniqueness", "threshold": 0.05},
)
OPTIONS: Plan = {
    "mondrian": {"mode": ("strict", "relaxed"), "bounds": ("own", "cut")},
    "k-optimize": {"features": ("isolate", "ordered")},
    **{name: {"hide_minimality": (False,) * 9 + (True,)} for name in (*LATTICE, "local")},
}


@dataclass
class RowsCase:
    """Releases of the same persons, one after the other; further files; what it must not publish."""

    releases: list[tuple[list[Row], Plan]]
    files: dict[str, list[Row]] = field(default_factory=dict)
    must_refuse: str = ""
    kind: str = "plain"


def as_csv(rows: Iterable[Row]) -> str:
    rows, text = list(rows), io.StringIO()
    csv.writer(text).writerows([rows[0], *(row.values() for row in rows)])
    return text.getvalue()


def rows_of(path: Path) -> list[Row]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def only(names: Iterable[str], rows: Iterable[Row]) -> list[Row]:
    return [{name: row[name] for name in names} for row in rows]


class Dice:
    """How anything is drawn from a seed."""

    def __init__(self, *seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def one(self, choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def some(self, choices: Any, count: int) -> list[Any]:
        return [choices[place] for place in self.rng.permutation(len(choices))[:count]]

    def each(self, plan: Plan) -> Plan:
        """A plan with one of each tuple of values."""
        return {key: self.one(value) if isinstance(value, tuple) else value for key, value in plan.items()}


class Drawing(Dice):
    """One case in the making."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, 42)
        self.seed, self.k, self.method = seed, int(self.rng.integers(2, 7)), str(self.one(METHODS))
        self.persons = self.chance(0.35) and self.method not in GROUPING
        self.dependent, self.blanks = self.chance(0.25), self.one((0.0, 0.0, 0.05, 0.15))

    def rows(self, count: int) -> list[Row]:
        """Rows with all columns that plans may name."""
        rng, several = self.rng, self.one((0.0, 0.3, 0.8)) if self.persons else 0.0
        columns: dict[str, Any] = {name: rng.choice(values, count) for name, values in VALUES.items()}
        columns[PERSON] = [f"Qx{owner:05d}zv" for owner in np.cumsum(rng.random(count) >= several)]
        columns["age"] = np.where(rng.random(count) < 0.2, rng.integers(-3, 95, count), rng.integers(20, 40, count))
        columns |= {"big": 10**17 + rng.integers(0, 12, count), "height": rng.normal(170, 9, count).round(1)}
        illnesses = ("flu", "asthma", "hiv", "cancer", "gout", "migraine")
        columns["illness"] = rng.choice(illnesses, count, p=rng.dirichlet(np.full(len(illnesses), 1.5)))
        columns[TAG] = [f"t{tag:06d}" for tag in rng.permutation(10 * count)[:count]]
        if self.dependent:  # lungs tell whether somebody smokes, but for one row in two hundred
            told = np.where(columns["smoker"] == "yes", "dark", rng.choice(("clear", "light"), count))
            columns["lungs"] = np.where(rng.random(count) < 0.005, columns["lungs"], told)
        for name in ("age", "zip", "color", "smoker"):
            columns[name] = np.where(rng.random(count) < self.blanks, "", columns[name].astype(str))
        return [dict(zip(columns, map(str, row), strict=True)) for row in zip(*columns.values(), strict=True)]

    def models(self, sensitive: list[str]) -> list[Plan]:
        """What is promised: k-anonymity, and up to two more."""
        column, further = {"column": self.one(sensitive)}, []
        for own in map(self.each, MODELS):
            model = own if "threshold" in own else column | own
            if model["model"] in ("t-closeness", "beta-likeness", "delta-disclosure") and self.chance(0.2):
                model["against"] = "raw"
            further += [model] if model.get("column", "illness") in sensitive else []
        further = further[: {"k-optimize": 0, "microaggregation": 0, "cells": 2}.get(self.method)]
        return [{"model": "k-anonymity", "k": self.k}, *self.some(further, self.one((0, 1, 2, 2)))]

    def plan(self, known: list[str], privacy: list[Plan], columns: Plan) -> Plan:
        """A plan with these quasi-identifiers, promises and further columns."""
        own: Plan = {PERSON: {"role": "person" if self.persons else "identifier"}}
        for name in known:
            own[name] = {"role": "quasi-identifier"} | ({"type": TYPES[name]} if name in TYPES else {})
            if self.method == "microaggregation":
                own[name]["publish"] = {"microaggregate": {"k": self.k, "group": "all"}}
            elif self.chance({"k-optimize": 0.0, "cells": 0.0, "mondrian": 0.3}.get(self.method, 1.0)):
                own[name]["hierarchy"] = HIERARCHIES[name]
        plan: Plan = {"version": 1, "data": {"source": "rows0.csv"}, "columns": own | columns, "privacy": privacy}
        plan["method"] = {"name": self.method, "time_limit": 2} | self.each(OPTIONS.get(self.method, {}))
        if self.method not in (*GROUPING, "safepub"):
            plan["method"]["suppression"] = self.one((0.0, 0.05, 0.2, 0.5))
        return plan


def plain_case(draw: Drawing) -> RowsCase:
    """A release by any method, of rows or of persons."""
    pool = ["age", "height"] if draw.method == "microaggregation" else ["age", "zip", "color", "smoker", "big"]
    known = draw.some(pool, 2 if draw.method in ("k-optimize", "microaggregation") else draw.one((2, 3, 4)))
    if draw.dependent and draw.method != "microaggregation" and "smoker" not in known:
        known[-1] = "smoker"
    sensitive = ["illness", *(["income"] if draw.chance(0.6) else []), *(["lungs"] if draw.dependent else [])]
    plan = draw.plan(known, draw.models(sensitive), {name: {"role": "sensitive"} for name in sensitive})
    plan["output"] = draw.each({"order": ("keep", "keep", "shuffle"), "suppressed": ("drop", "star")})
    if draw.chance(0.25) or (draw.persons and plan["output"] != {"order": "keep", "suppressed": "star"}):
        plan["columns"][TAG] = {"role": "insensitive"}  # shows a judge whose row is whose
    rows = only(plan["columns"], draw.rows(int(draw.rng.integers(30, 160))))
    # Keys or pseudonyms of persons are published, one of them longer than others.
    publish = draw.one(("key", "keyed", "format", "", "") if draw.persons else ("keyed", "format", *[""] * 18))
    if publish:
        plan["columns"][PERSON]["publish"] = publish if publish == "key" else {"pseudonym": publish}
    long = draw.one(rows)[PERSON] if publish in ("keyed", "format") and draw.chance(0.5) else ""
    for row in rows:
        row[PERSON] += "-of-the-old-register-12345678" if row[PERSON] == long else ""
    if draw.chance(0.15):  # second spellings, as a covert mark
        for row in rows:
            row["illness"] = draw.one((row["illness"],) * 4 + (row["illness"] + " ", row["illness"].upper()))
    if draw.chance(0.1) and draw.method in (*LATTICE, "local", "mondrian"):
        plan["output"]["intervals"] = "bounds"
    single = len(plan["privacy"]) > 1 or draw.persons or draw.method in GROUPING
    plan["data"]["on_missing"] = draw.one(("category", "category", "drop", "category" if single else "any"))
    if draw.method not in (*GROUPING, "k-optimize") and not draw.persons and draw.chance(0.25):
        plan["columns"][known[0]]["protect"] = {"model": "l-diversity", "l": 2}
    # By its seed, a case that is run again is the same.
    return RowsCase([(rows, plan | ({} if publish in ("keyed", "format") else {"seed": draw.seed}))])


def policy_case(draw: Drawing) -> RowsCase:
    """A plan that leaves its promises to a policy."""
    draw.method, draw.persons = draw.one((*LATTICE, "local")), False
    ((rows, plan),) = plain_case(draw).releases
    del plan["privacy"]
    return RowsCase([(rows, plan | {"policy": draw.one(list(POLICIES))})])


def listed_case(draw: Drawing) -> RowsCase:
    """k-map of a population at hand, or delta-presence of a list."""
    draw.method, draw.persons, draw.blanks = draw.one(LATTICE), False, 0.0
    ((rows, plan),) = plain_case(draw).releases
    plan["data"]["on_missing"], plan["output"] = "category", {"order": "shuffle"}
    if draw.chance(0.5):
        plan["privacy"] = [{"model": "k-map", "k": 2 * draw.k, "population": "population.csv"}]
        people = only((name for name in plan["columns"] if name in HIERARCHIES), (*rows, *draw.rows(200)))
        return RowsCase([(rows, plan)], {"population.csv": people})
    rows = [{**row, "in_study": draw.one(("yes", "yes", "no", "no", "no"))} for row in rows]
    subset = {"column": "in_study", "value": "yes"}
    plan["privacy"] = [{"model": "delta-presence", "lower": 0.1, "upper": 0.7, "subset": subset}]
    plan["columns"]["in_study"] = {"role": "sensitive"}
    return RowsCase([(rows, plan)])


def private_case(draw: Drawing) -> RowsCase:
    """Differential privacy: sound, or with a column that it must not publish."""
    draw.persons, draw.blanks, draw.method = False, 0.0, "safepub"
    fault = draw.one(("", "", "", "sensitive", "insensitive", "other columns", "pseudonyms", "keys"))
    columns: Plan = {"illness": {"role": fault if fault in ("sensitive", "insensitive") else "identifier"}}
    if fault == "pseudonyms":
        columns[PERSON] = {"role": "identifier", "publish": draw.each({"pseudonym": ("keyed", "format")})}
    elif fault == "keys":
        columns[PERSON] = {"role": "person", "publish": "key"}
    model = {"model": "differential-privacy", "epsilon": (0.5, 1, 1, 2, 2, 3, 13, 20), "delta": (1e-4, 1e-5)}
    plan = draw.plan(["age", "smoker"], [draw.each(model)], columns)
    rows = only(plan["columns"], draw.rows(int(draw.rng.integers(600, 1500))))
    if fault == "other columns":
        plan["other"] = draw.one(("sensitive", "insensitive"))
        del plan["columns"]["illness"]
    return RowsCase([(rows, plan)], must_refuse=fault)


def chain_case(draw: Drawing) -> RowsCase:
    """Two or three releases of persons, some of whom leave or come; in half of them numbers have noise, or drift."""
    draw.method, draw.k = draw.one(("optimal", "greedy", "samarati")), int(draw.rng.integers(2, 5))
    draw.persons, drift, releases = True, draw.one((0.0, 0.0, 0.3)), list[tuple[list[Row], Plan]]()
    people, newcomers = {row[PERSON]: row for row in draw.rows(150)}, draw.rows(60)
    columns: Plan = {"illness": {"role": "sensitive"}, TAG: {"role": "insensitive"}}
    if draw.chance(0.5):
        columns["height"] = {"role": "insensitive", "type": "decimal", "publish": {"noise": draw.one((0.3, 1.0))}}
        columns["lungs"] = {"role": "insensitive", "publish": {"pram": 0.6}}
    plan = draw.plan(["age", "smoker"], [{"model": "k-anonymity", "k": draw.k}], columns) | {"seed": draw.seed}
    plan["method"]["suppression"] = draw.one((0.1, 0.3))
    for number in range(draw.one((2, 2, 3))):
        if number:
            people = {name: row for name, row in people.items() if not draw.chance(0.03)}
            people |= {f"new{len(newcomers)}": newcomers.pop() for _ in range(draw.one((1, 3, 12)))}
            plan |= {"previous": [f"out{earlier}" for earlier in range(number)]}
        tags, rows = draw.rng.permutation(10 * len(people)), []
        for tag, (name, row) in zip(tags, people.items(), strict=False):
            height = f"{float(row['height']) + drift * number:.1f}"
            rows.append({**row, PERSON: name, TAG: f"t{tag:06d}", "height": height})
        releases.append((only(plan["columns"], rows), plan | {"data": {"source": f"rows{number}.csv"}}))
    return RowsCase(releases)


def applied_case(draw: Drawing) -> RowsCase:
    """A release whose recoding is applied to its rows and one more, or one less."""
    draw.method = draw.one(LATTICE)
    ((rows, plan),) = plain_case(draw).releases
    plan["columns"][PERSON].pop("publish", None)
    newcomer = draw.one(rows) | {PERSON: "newcomer"} | ({TAG: "t9999999"} if TAG in plan["columns"] else {})
    return RowsCase([(rows, plan)], {"later.csv": draw.one(([*rows, newcomer], rows[:-1]))})


def draw_rows(seed: int) -> RowsCase:
    """One case: a plain release, or one of the special kinds."""
    draw = Drawing(seed)
    shares = {private_case: 0.1, chain_case: 0.07, policy_case: 0.04, listed_case: 0.04, applied_case: 0.04}
    drawn = draw.rng.choice([*shares, plain_case], p=[*shares.values(), 1 - sum(shares.values())])
    case = drawn(draw)
    case.kind = drawn.__name__.partition("_")[0]
    return case
