"""Draws data about people, and plans to publish them, from a seed.

Drawn are: quasi-identifiers with hierarchies and without, missing values, whole numbers above 2^53, persons with
several rows, pseudonyms of several lengths, sensitive columns that determine a quasi-identifier, second spellings,
all methods, the models that `judge_rows` judges, policies, chains of releases, and plans that must be refused.
"""

import csv
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, str]
Plan = dict[str, Any]

LATTICE = ("exhaustive", "samarati", "optimal", "greedy")
METHODS = (*LATTICE, "local", "mondrian", "mondrian", "k-optimize", "cells", "microaggregation", "auto")
BY_VALUES = ("k-optimize", "cells", "microaggregation")
ILLNESSES = ("flu", "asthma", "hiv", "cancer", "gout", "migraine")
PARENTS = {
    "red": "warm",
    "dark, red": "warm",
    "blue": "cold",
    "green": "cold",
    "gray": "cold",
    "warm": "any",
    "cold": "any",
}
COLORS, ZIPS = tuple(PARENTS)[:5], ("1001", "1002", "1103", "2001", "2002")
# What the policies promise (docs/policies.md), by their least k.
POLICIES = {"ema-0070": 12, "gdpr-wp216": 5, "health-canada-prci": 12}
PERSON, TAG = "person", "ticket"
HIERARCHIES: Plan = {
    "age": {"type": "intervals", "start": 0, "end": 89, "widths": [5, 10, 30], "bottom": 0, "top": 89},
    "zip": {"type": "digits", "length": 4},
    "color": {"type": "tree", "parents": PARENTS},
    "smoker": {"type": "any", "values": ["yes", "no"]},
    "big": {"type": "order", "groups": [2, 4]},
    "height": {"type": "intervals", "start": 100, "end": 240, "widths": [5, 10, 20]},
}
TYPES = {"age": "integer", "big": "integer", "height": "decimal"}


@dataclass(frozen=True)
class RowsCase:
    """Releases of the same persons, one after the other, and what must come of the last."""

    seed: int
    releases: list[tuple[list[Row], Plan]]
    must_refuse: str = ""
    population: list[Row] = field(default_factory=list)

    def write(self, folder: Path) -> list[str]:
        """Write data and plans; the names of the plans."""
        for number, (rows, plan) in enumerate(self.releases):
            (folder / f"rows{number}.csv").write_text(as_csv(rows), encoding="utf-8")
            (folder / f"plan{number}.json").write_text(json.dumps(plan, indent=1), encoding="utf-8")
        if self.population:
            (folder / "population.csv").write_text(as_csv(self.population), encoding="utf-8")
        return [f"plan{number}.json" for number in range(len(self.releases))]


def as_csv(rows: list[Row]) -> str:
    """Rows as a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


class Drawing:
    """One case in the making: what is drawn first, and how anything is drawn."""

    def __init__(self, seed: int) -> None:
        self.rng, self.seed = np.random.default_rng([seed, 42]), seed
        self.k, self.method = int(self.rng.integers(2, 7)), str(self.one(METHODS))
        self.persons = self.chance(0.35) and self.method not in ("cells", "microaggregation")
        self.dependent, self.blanks = self.chance(0.25), float(self.one((0.0, 0.0, 0.05, 0.15)))

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def one(self, choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def some(self, choices: Any, count: int) -> list[Any]:
        return [choices[place] for place in self.rng.choice(len(choices), count, replace=False)] if count else []

    def rows(self, count: int) -> list[Row]:
        """Rows with all columns that plans may name."""
        skew, tags = self.rng.dirichlet(np.ones(len(ILLNESSES)) * 1.5), self.rng.permutation(10 * count)
        several, owner, rows = float(self.one((0.0, 0.3, 0.8))), 0, []
        for number in range(count):
            owner += not self.persons or not number or not self.chance(several)
            rows.append(self._row(owner, str(self.rng.choice(ILLNESSES, p=skew)), int(tags[number])))
        return rows

    def _row(self, owner: int, illness: str, tag: int) -> Row:
        smoker = self.one(("yes", "no", "no"))
        # What tells whether somebody smokes, but for one row in two hundred.
        lungs = "dark" if smoker == "yes" and not self.chance(0.005) else self.one(("clear", "light"))
        row = {
            PERSON: f"Qx{owner:05d}zv",
            "age": str(int(self.rng.integers(*((-3, 95) if self.chance(0.2) else (20, 40))))),
            "zip": self.one(ZIPS),
            "color": self.one(COLORS),
            "smoker": smoker,
            "big": str(10**17 + int(self.rng.integers(0, 12))),
            "height": str(round(float(self.rng.normal(170, 9)), 1)),
            "illness": illness,
            "income": self.one(("500", "900", "1500", "2500", "9000")),
            "lungs": lungs if self.dependent else self.one(("clear", "light", "dark")),
            TAG: f"t{tag:06d}",
        }
        return row | {name: "" for name in ("age", "zip", "color", "smoker") if self.chance(self.blanks)}


def _model(name: str, **keys: Any) -> Plan:
    return {"model": name, **keys}


def models_of(draw: Drawing, sensitive: list[str]) -> list[Plan]:
    """What is promised: k-anonymity, and up to two more."""
    own, of_risk = {"column": draw.one(sensitive)}, {"sampling_fraction": 0.1}
    further = [
        _model("individual-risk", threshold=0.05, **of_risk),
        _model("global-risk", threshold=0.03, **of_risk),
        _model("alpha-k-anonymity", alpha=draw.one((0.5, 0.7, 0.9)), k=draw.k, **own),
        _model("l-diversity", l=2, variant="distinct", **own),
        _model("l-diversity", l=draw.one((1.5, 2, 2.5)), variant="entropy", **own),
        _model("l-diversity", l=2, variant="recursive", c=draw.one((1, 2, 4)), **own),
        _model("t-closeness", t=draw.one((0.2, 0.3, 0.5)), distance="equal", **own),
        _model("beta-likeness", beta=draw.one((1, 2, 4)), variant=draw.one(("basic", "enhanced")), **own),
        _model("delta-disclosure", delta=draw.one((1, 2)), **own),
        _model("average-risk", threshold=draw.one((0.1, 0.25))),
        _model("sample-uniqueness", threshold=0.05),
        *([_model("t-closeness", t=0.3, column="income", distance="ordered")] if "income" in sensitive else []),
    ]
    further = (
        [] if draw.method in ("k-optimize", "microaggregation") else further[: 2 if draw.method == "cells" else None]
    )
    chosen = draw.some(further, min(len(further), draw.one((0, 1, 2, 2))))
    for model in chosen:
        if model["model"] in ("t-closeness", "beta-likeness", "delta-disclosure") and draw.chance(0.2):
            model["against"] = "raw"
    return [_model("k-anonymity", k=draw.k), *chosen]


def columns_of(draw: Drawing, known: list[str], sensitive: list[str]) -> Plan:
    """What each column is."""
    columns: Plan = {PERSON: {"role": "person" if draw.persons else "identifier"}}
    for name in known:
        columns[name] = {"role": "quasi-identifier"} | ({"type": TYPES[name]} if name in TYPES else {})
        if draw.method == "microaggregation":
            columns[name]["publish"] = {"microaggregate": {"k": draw.k, "group": "all"}}
        elif draw.method not in (*BY_VALUES, "mondrian") or (draw.method == "mondrian" and draw.chance(0.3)):
            columns[name]["hierarchy"] = HIERARCHIES[name]
    return columns | {name: {"role": "sensitive"} for name in sensitive}


def method_of(draw: Drawing) -> Plan:
    """The method with its options."""
    plan: Plan = {"name": draw.method, "time_limit": 2}
    if draw.method not in ("cells", "microaggregation"):
        plan["suppression"] = draw.one((0.0, 0.05, 0.2, 0.5))
    if draw.method == "mondrian":
        plan |= {"mode": draw.one(("strict", "relaxed")), "bounds": draw.one(("own", "cut"))}
    if draw.method == "k-optimize":
        plan["features"] = draw.one(("isolate", "ordered"))
    return plan | ({"hide_minimality": True} if draw.method in (*LATTICE, "local") and draw.chance(0.1) else {})


def draw_rows(seed: int) -> RowsCase:
    """One case: a plain release, or one of the special kinds."""
    draw = Drawing(seed)
    special = draw.rng.random()
    kinds = ((0.10, private_case), (0.14, chain_case), (0.18, policy_case), (0.22, listed_case), (1.0, plain_case))
    return next(case for end, case in kinds if special < end)(draw)


def plain_case(draw: Drawing) -> RowsCase:
    """A release by any method, of rows or of persons."""
    pool = ["age", "height"] if draw.method == "microaggregation" else ["age", "zip", "color", "smoker", "big"]
    known = draw.some(pool, int(draw.rng.integers(2, 3 if draw.method in ("k-optimize", "microaggregation") else 5)))
    if draw.dependent and draw.method != "microaggregation" and "smoker" not in known:
        known[-1] = "smoker"
    sensitive = ["illness", *(["income"] if draw.chance(0.6) else []), *(["lungs"] if draw.dependent else [])]
    columns = columns_of(draw, known, sensitive)
    output: Plan = {"order": draw.one(("keep", "keep", "shuffle")), "suppressed": draw.one(("drop", "star"))}
    if draw.chance(0.25) or (draw.persons and output != {"order": "keep", "suppressed": "star"}):
        columns[TAG] = {"role": "insensitive"}  # shows a judge whose row is whose
    rows = [{name: row[name] for name in columns} for row in draw.rows(int(draw.rng.integers(30, 160)))]
    privacy, missing = models_of(draw, sensitive), draw.one(("category", "category", "drop", "any"))
    if missing == "any" and (len(privacy) > 1 or draw.persons or draw.method in ("cells", "microaggregation")):
        missing = "category"
    _publish_persons(draw, columns, rows)
    if draw.chance(0.15):  # second spellings, as a covert mark
        for row in rows:
            row["illness"] = draw.one((row["illness"],) * 4 + (row["illness"] + " ", row["illness"].upper()))
    if draw.chance(0.1) and draw.method in (*LATTICE, "local", "mondrian"):
        output["intervals"] = "bounds"
    data = {"source": "rows0.csv", "on_missing": missing}
    plan: Plan = {"version": 1, "data": data, "columns": columns, "privacy": privacy}
    # By its seed, a case that is run again is the same.
    plan |= {"method": method_of(draw), "output": output}
    plan |= {} if "pseudonym" in columns[PERSON].get("publish", ()) else {"seed": draw.seed}
    return RowsCase(draw.seed, [(rows, plan)])


def _publish_persons(draw: Drawing, columns: Plan, rows: list[Row]) -> None:
    """Let keys or pseudonyms of persons be published, one of them longer than others."""
    chance = draw.rng.random()
    if draw.persons and chance < 0.2:
        columns[PERSON]["publish"] = "key"
    elif chance < (0.4 if draw.persons else 0.1):
        columns[PERSON]["publish"] = {"pseudonym": draw.one(("keyed", "format"))}
        long = draw.one(rows)[PERSON] if draw.chance(0.5) else ""
        for row in rows:
            row[PERSON] += "-of-the-old-register-12345678" if row[PERSON] == long else ""


def policy_case(draw: Drawing) -> RowsCase:
    """A plan that leaves its promises to a policy."""
    draw.method, draw.persons = draw.one((*LATTICE, "local")), False
    ((rows, plan),) = plain_case(draw).releases
    del plan["privacy"]
    return RowsCase(draw.seed, [(rows, plan | {"policy": draw.one(list(POLICIES))})])


def listed_case(draw: Drawing) -> RowsCase:
    """k-map of a population at hand, or delta-presence of a list."""
    draw.method, draw.persons, draw.blanks = draw.one(LATTICE), False, 0.0
    ((rows, plan),) = plain_case(draw).releases
    plan["data"]["on_missing"], plan["output"] = "category", {"order": "shuffle"}
    plan["columns"].pop(TAG, None)
    rows = [{name: row[name] for name in plan["columns"]} for row in rows]
    if draw.chance(0.5):
        known = [name for name, column in plan["columns"].items() if column["role"] == "quasi-identifier"]
        plan["privacy"] = [_model("k-map", k=2 * draw.k, population="population.csv")]
        people = [{name: row[name] for name in known} for row in (*rows, *draw.rows(200))]
        return RowsCase(draw.seed, [(rows, plan)], population=people)
    rows = [{**row, "in_study": draw.one(("yes", "yes", "no", "no", "no"))} for row in rows]
    subset = {"column": "in_study", "value": "yes"}
    plan["privacy"] = [_model("delta-presence", lower=0.1, upper=0.7, subset=subset)]
    plan["columns"]["in_study"] = {"role": "sensitive"}
    return RowsCase(draw.seed, [(rows, plan)])


def private_case(draw: Drawing) -> RowsCase:
    """Differential privacy: sound, or with a column that it must not publish."""
    draw.persons, draw.blanks, draw.method = False, 0.0, "safepub"
    columns = columns_of(draw, ["age", "smoker"], []) | {"illness": {"role": "identifier"}}
    rows = [{name: row[name] for name in columns} for row in draw.rows(int(draw.rng.integers(600, 1500)))]
    fault, plan = draw.one(("", "", "", "sensitive", "insensitive", "other", "pseudonym", "key")), Plan()
    if fault in ("sensitive", "insensitive"):
        columns["illness"]["role"] = fault
    elif fault == "other":
        plan["other"] = draw.one(("sensitive", "insensitive"))
        del columns["illness"]
        columns.pop(PERSON if draw.chance(0.5) else "", None)
    elif fault == "pseudonym":
        columns[PERSON]["publish"] = {"pseudonym": draw.one(("keyed", "format"))}
    elif fault == "key":
        columns[PERSON] = {"role": "person", "publish": "key"}
    model = _model("differential-privacy", epsilon=draw.one((0.5, 1, 1, 2, 2, 3, 13, 20)), delta=draw.one((1e-4, 1e-5)))
    plan |= {"version": 1, "data": {"source": "rows0.csv"}, "columns": columns, "privacy": [model]}
    plan["method"] = {"name": "safepub", "time_limit": 3}
    return RowsCase(draw.seed, [(rows, plan)], must_refuse=f"publishes {fault}" if fault else "")


def chain_case(draw: Drawing) -> RowsCase:
    """Two or three releases of the same persons: some leave, some come."""
    draw.method, draw.k = draw.one(("optimal", "greedy", "samarati")), int(draw.rng.integers(2, 5))
    draw.persons = True
    people = {row[PERSON]: row for row in draw.rows(150)}
    newcomers = iter([{**row, PERSON: f"new{number}"} for number, row in enumerate(draw.rows(60))])
    releases, method = [], {"name": draw.method, "suppression": draw.one((0.1, 0.3)), "time_limit": 2}
    columns = columns_of(draw, ["age", "smoker"], ["illness"]) | {TAG: {"role": "insensitive"}}
    for number in range(draw.one((2, 2, 3))):
        if number:
            people = {name: row for name, row in people.items() if not draw.chance(0.03)}
            people |= {row[PERSON]: row for row in (next(newcomers) for _ in range(draw.one((1, 3, 12))))}
        tags = draw.rng.permutation(10 * len(people))
        rows = [{**row, TAG: f"t{tag:06d}"} for row, tag in zip(people.values(), tags, strict=False)]
        plan: Plan = {"version": 1, "data": {"source": f"rows{number}.csv"}, "columns": columns, "seed": draw.seed}
        plan |= {"privacy": [_model("k-anonymity", k=draw.k)], "method": method}
        plan |= {"previous": [f"out{earlier}" for earlier in range(number)]} if number else {}
        releases.append(([{name: row[name] for name in columns} for row in rows], plan))
    return RowsCase(draw.seed, releases)
