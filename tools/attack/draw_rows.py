"""Draw data about people, and plans to publish it, from a seed: all methods, and the models that `judge_rows` knows."""

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
LATTICE, GROUPING = ("exhaustive", "samarati", "optimal", "greedy"), ("local-suppression", "microaggregation")
METHODS = (*LATTICE, "local", "mondrian", "mondrian", "k-optimize", "auto", *GROUPING)
PARENTS = dict.fromkeys(("red", "dark, red"), "warm") | dict.fromkeys(("blue", "green", "gray"), "cold")
PARENTS |= dict.fromkeys(("warm", "cold"), "any")
VALUES = {"zip": ("1001", "1002", "1103", "2001", "2002"), "color": tuple(PARENTS)[:5], "smoker": ("yes", "no", "no")}
VALUES |= {"income": ("500", "900", "1500", "2500", "9000"), "lungs": ("clear", "light", "dark")}
POLICIES = {"ema-0070": 12, "gdpr-wp216": 5, "health-canada-prci": 12}  # by their smallest k (docs/policies.md)
AGES = {"type": "intervals", "start": 0, "end": 89, "widths": [5, 10, 30], "bottom": 0, "top": 89}
KNOWN: Plan = {
    "age": {"type": "integer", "hierarchy": AGES},
    "zip": {"hierarchy": {"type": "digits", "length": 4}},
    "color": {"hierarchy": {"type": "tree", "parents": PARENTS}},
    "smoker": {"hierarchy": {"type": "any", "values": ["yes", "no"]}},
    "big": {"type": "integer", "hierarchy": {"type": "order", "groups": [2, 4]}},
    "height": {"type": "decimal"},
}
# Models in addition to k-anonymity; one of several values is drawn. The first two go with local suppression.
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
SHARES = (0.1, 0.07, 0.04, 0.04, 0.04, 0.71)


@dataclass
class RowsCase:
    """Successive releases of the same persons, further files, and what must not be published."""

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


class Dice:
    def __init__(self, *seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def one(self, choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def some(self, choices: Any, count: int) -> list[Any]:
        return [choices[place] for place in self.rng.permutation(len(choices))[:count]]

    def each(self, plan: Plan) -> Plan:
        """Return a plan with a random element of each tuple of values."""
        return {key: self.one(value) if isinstance(value, tuple) else value for key, value in plan.items()}


class Drawing(Dice):
    def __init__(self, seed: int) -> None:
        super().__init__(seed, 42)
        self.seed, self.k, self.method = seed, int(self.rng.integers(2, 7)), str(self.one(METHODS))
        self.persons = self.chance(0.35) and self.method not in GROUPING
        self.dependent, self.blanks = self.chance(0.25), self.one((0.0, 0.0, 0.05, 0.15))

    def rows(self, count: int, names: Iterable[str]) -> list[Row]:
        rng, several = self.rng, self.one((0.0, 0.3, 0.8)) if self.persons else 0.0
        columns: dict[str, Any] = {name: rng.choice(values, count) for name, values in VALUES.items()}
        columns[PERSON] = [f"Qx{owner:05d}zv" for owner in np.cumsum(rng.random(count) >= several)]
        columns["age"] = np.where(rng.random(count) < 0.2, rng.integers(-3, 95, count), rng.integers(20, 40, count))
        columns |= {"big": 10**17 + rng.integers(0, 12, count), "height": rng.normal(170, 9, count).round(1)}
        illnesses = ("flu", "asthma", "hiv", "cancer", "gout", "migraine")
        columns["illness"] = rng.choice(illnesses, count, p=rng.dirichlet(np.full(len(illnesses), 1.5)))
        columns[TAG] = [f"t{tag:06d}" for tag in rng.permutation(10 * count)[:count]]
        if self.dependent:  # lungs reveal whether somebody smokes, except for one row in two hundred
            told = np.where(columns["smoker"] == "yes", "dark", rng.choice(("clear", "light"), count))
            columns["lungs"] = np.where(rng.random(count) < 0.005, columns["lungs"], told)
        for name in ("age", "zip", "color", "smoker"):
            columns[name] = np.where(rng.random(count) < self.blanks, "", columns[name].astype(str))
        return [{name: str(columns[name][place]) for name in names} for place in range(count)]

    def models(self, sensitive: list[str]) -> list[Plan]:
        column, further = {"column": self.one(sensitive)}, []
        for own in map(self.each, MODELS):
            model = own if "threshold" in own else column | own
            if model["model"] in ("t-closeness", "beta-likeness", "delta-disclosure") and self.chance(0.2):
                model["reference"] = "raw"
            further += [model] if model.get("column", "illness") in sensitive else []
        further = further[: {"k-optimize": 0, "microaggregation": 0, "local-suppression": 2}.get(self.method)]
        return [{"model": "k-anonymity", "k": self.k}, *self.some(further, self.one((0, 1, 2, 2)))]

    def planned(self, known: list[str], privacy: list[Plan], columns: Plan) -> Plan:
        own: Plan = {PERSON: {"role": "person" if self.persons else "identifier"}}
        for name in known:
            own[name] = {"role": "quasi-identifier"} | KNOWN[name]
            if not self.chance({"mondrian": 0.3, "k-optimize": 0.0}.get(self.method, self.method not in GROUPING)):
                own[name].pop("hierarchy", None)
            if self.method == "microaggregation":
                own[name]["publish"] = {"microaggregate": {"k": self.k, "group": "all"}}
        plan: Plan = {"version": 1, "data": {"source": "rows0.csv"}, "columns": own | columns, "privacy": privacy}
        plan["method"] = {"name": self.method, "time_limit": 2} | self.each(OPTIONS.get(self.method, {}))
        if self.method not in (*GROUPING, "safepub"):
            plan["method"]["suppression"] = self.one((0.0, 0.05, 0.2, 0.5))
        return plan

    def plain(self) -> RowsCase:
        pool = ["age", "height"] if self.method == "microaggregation" else list(KNOWN)[:5]
        known = self.some(pool, 2 if self.method in ("k-optimize", "microaggregation") else self.one((2, 3, 4)))
        if self.dependent and self.method != "microaggregation" and "smoker" not in known:
            known[-1] = "smoker"
        sensitive = ["illness", *(["income"] if self.chance(0.6) else []), *(["lungs"] if self.dependent else [])]
        plan = self.planned(known, self.models(sensitive), {name: {"role": "sensitive"} for name in sensitive})
        plan["output"] = self.each({"order": ("keep", "keep", "shuffle"), "suppressed": ("drop", "star")})
        if self.chance(0.25) or (self.persons and plan["output"] != {"order": "keep", "suppressed": "star"}):
            plan["columns"][TAG] = {"role": "insensitive"}  # shows the check whose row it is
        rows = self.rows(int(self.rng.integers(30, 160)), plan["columns"])
        pseudonym = self.one(("keyed", "format"))  # one of them longer than others
        publish = self.one(("key", pseudonym, "", "", "") if self.persons else (pseudonym, *[""] * 9))
        if publish:
            plan["columns"][PERSON]["publish"] = publish if publish == "key" else {"pseudonym": publish}
        long = self.one(rows)[PERSON] if publish == pseudonym and self.chance(0.5) else ""
        for row in rows:
            row[PERSON] += "-of-the-old-register-12345678" if row[PERSON] == long else ""
        if self.chance(0.15):  # second spellings, as a covert mark
            for row in rows:
                row["illness"] = self.one((row["illness"],) * 4 + (row["illness"] + " ", row["illness"].upper()))
        single = len(plan["privacy"]) > 1 or self.persons or self.method in GROUPING
        plan["data"]["on_missing"] = self.one(("category", "category", "drop", "category" if single else "any"))
        if self.method not in (*GROUPING, "k-optimize") and not self.persons and self.chance(0.25):
            plan["columns"][known[0]]["protect"] = {"model": "l-diversity", "l": 2}
        return RowsCase([(rows, plan | ({} if publish == pseudonym else {"seed": self.seed}))])

    def policy(self) -> RowsCase:
        self.method, self.persons = self.one((*LATTICE, "local")), False
        ((rows, plan),) = self.plain().releases
        del plan["privacy"]
        return RowsCase([(rows, plan | {"policy": self.one(list(POLICIES))})])

    def listed(self) -> RowsCase:
        """Draw k-map with a population table, or delta-presence of a list."""
        self.method, self.persons, self.blanks = self.one(LATTICE), False, 0.0
        ((rows, plan),) = self.plain().releases
        plan["data"]["on_missing"], plan["output"] = "category", {"order": "shuffle"}
        if self.chance(0.5):
            plan["privacy"] = [{"model": "k-map", "k": 2 * self.k, "population": "population.csv"}]
            return RowsCase([(rows, plan)], {"population.csv": [*rows, *self.rows(200, plan["columns"])]})
        rows = [{**row, "in_study": self.one(("yes", "yes", "no", "no", "no"))} for row in rows]
        subset = {"column": "in_study", "value": "yes"}
        plan["privacy"] = [{"model": "delta-presence", "lower": 0.1, "upper": 0.7, "subset": subset}]
        plan["columns"]["in_study"] = {"role": "sensitive"}
        return RowsCase([(rows, plan)])

    def private(self) -> RowsCase:
        """Draw differential privacy: sound, or with a column that it must not publish."""
        self.persons, self.blanks, self.method = False, 0.0, "safepub"
        fault = self.one(("", "", "", "sensitive", "insensitive", "other columns", "pseudonyms", "keys"))
        columns: Plan = {"illness": {"role": fault if fault in ("sensitive", "insensitive") else "identifier"}}
        if fault in ("pseudonyms", "keys"):
            publish = "key" if fault == "keys" else self.each({"pseudonym": ("keyed", "format")})
            columns[PERSON] = {"role": "person" if fault == "keys" else "identifier", "publish": publish}
        model = {"model": "differential-privacy", "epsilon": (0.5, 1, 1, 2, 2, 3, 13, 20), "delta": (1e-4, 1e-5)}
        plan = self.planned(["age", "smoker"], [self.each(model)], columns)
        rows = self.rows(int(self.rng.integers(600, 1500)), plan["columns"])
        if fault == "other columns":
            plan["other"] = self.one(("sensitive", "insensitive"))
            del plan["columns"]["illness"]
        return RowsCase([(rows, plan)], must_refuse=fault)

    def chain(self) -> RowsCase:
        """Draw two or three releases of persons, some of whom leave or are added; half of them with noise, or drift."""
        self.method, self.k = self.one(("optimal", "greedy", "samarati")), int(self.rng.integers(2, 5))
        self.persons, drift, releases = True, self.one((0.0, 0.0, 0.3)), list[tuple[list[Row], Plan]]()
        columns: Plan = {"illness": {"role": "sensitive"}, TAG: {"role": "insensitive"}}
        if self.chance(0.5):
            columns["height"] = {"role": "insensitive", "type": "decimal", "publish": {"noise": self.one((0.3, 1.0))}}
            columns["lungs"] = {"role": "insensitive", "publish": {"pram": 0.6}}
        plan = self.planned(["age", "smoker"], [{"model": "k-anonymity", "k": self.k}], columns) | {"seed": self.seed}
        plan["method"]["suppression"] = self.one((0.1, 0.3))
        names = {"height": 0} | plan["columns"]
        people, newcomers = {row[PERSON]: row for row in self.rows(150, names)}, self.rows(60, names)
        for number in range(self.one((2, 2, 3))):
            if number:
                people = {name: row for name, row in people.items() if not self.chance(0.03)}
                people |= {f"new{len(newcomers)}": newcomers.pop() for _ in range(self.one((1, 3, 12)))}
                plan |= {"previous": [f"out{earlier}" for earlier in range(number)]}
            tags, rows = self.rng.permutation(10 * len(people)), []
            for tag, (name, row) in zip(tags, people.items(), strict=False):
                own = row | {PERSON: name, TAG: f"t{tag:06d}", "height": f"{float(row['height']) + drift * number:.1f}"}
                rows.append({column: own[column] for column in plan["columns"]})
            releases.append((rows, plan | {"data": {"source": f"rows{number}.csv"}}))
        return RowsCase(releases)

    def applied(self) -> RowsCase:
        """Draw a release whose recoding is applied to its rows and one more, or one less."""
        self.method = self.one(LATTICE)
        ((rows, plan),) = self.plain().releases
        plan["columns"][PERSON].pop("publish", None)
        newcomer = self.one(rows) | {PERSON: "newcomer"} | ({TAG: "t9999999"} if TAG in plan["columns"] else {})
        return RowsCase([(rows, plan)], {"later.csv": self.one(([*rows, newcomer], rows[:-1]))})


def draw_rows(seed: int) -> RowsCase:
    draw = Drawing(seed)
    kind = draw.rng.choice(["private", "chain", "policy", "listed", "applied", "plain"], p=SHARES)
    case: RowsCase = getattr(draw, kind)()
    case.kind = str(kind)
    return case
