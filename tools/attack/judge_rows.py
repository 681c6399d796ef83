"""Judges a published file of rows by itself: recounts it, and compares that with what the report signs.

What a stranger has is the file, the plan's promises, and (for the persons behind rows, and whether labels are true)
the raw rows that an acquaintance of everybody would know.
"""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from draw_rows import PERSON, POLICIES, TAG, Plan, Row
from findings import Outcome
from labels import contains, is_star
from read_back import labels_read_back

import models

Key = tuple[str, ...]
Reached = tuple[float, bool]
FIGURED = ("k-anonymity", "alpha-k-anonymity", "average-risk", "beta-likeness", "delta-disclosure", "k-map")


class Published:
    """A release folder as it was written, beside its plan and the raw rows."""

    def __init__(self, folder: Path, raw: list[Row], plan: Plan) -> None:
        self.folder, self.raw, self.plan = folder, raw, plan
        with (folder / "data.csv").open(newline="", encoding="utf-8") as file:
            self.rows = list(csv.DictReader(file))
        self.report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        self.known = self.of_role("quasi-identifier")
        self.counts_persons = bool(self.of_role("person"))
        self.publish = plan["columns"].get(PERSON, {}).get("publish")
        self.promised: list[Plan] = plan.get("privacy") or [{"model": "k-anonymity", "k": POLICIES[plan["policy"]]}]
        self.k: int = max((model.get("k", 1) for model in self.promised), default=1)

    def of_role(self, *roles: str) -> list[str]:
        """Published columns that the plan gives a role."""
        return [name for name, own in self.plan["columns"].items() if own["role"] in roles and name in self.rows[0]]

    def says(self, part: str, key: str, value: str) -> bool:
        return bool(self.plan.get(part, {}).get(key) == value)

    def classes(self, labels: Mapping[str, Sequence[str]] | None = None) -> list[Key]:
        """The class of each row; a missing cell is a value."""
        return list(
            zip(*((labels or {}).get(name) or [row[name] for row in self.rows] for name in self.known), strict=True)
        )

    @cached_property
    def raw_rows(self) -> list[Row] | None:
        """The raw row behind each published one, where order or a column shows it."""
        if TAG in self.rows[0] and all(row[TAG].strip("*") for row in self.rows):
            by_tag = {row[TAG]: row for row in self.raw}
            return [by_tag[row[TAG]] for row in self.rows]
        return self.raw if self.says("output", "order", "keep") and len(self.rows) == len(self.raw) else None

    @cached_property
    def persons(self) -> list[str] | None:
        """Who is behind each row; numbers of rows where rows are counted."""
        if not self.counts_persons:
            return [str(place) for place in range(len(self.rows))]
        shown = [row[PERSON] for row in (self.rows if self.publish else self.raw_rows or ())]
        return shown if shown and "*" not in shown else None


class Classes:
    """Classes with their rows, without rows of * that stand for suppressed ones, and the persons behind them."""

    def __init__(self, published: Published, keys: Sequence[Key]) -> None:
        self.persons, self.rows = list(published.persons or ()), published.rows
        stars = published.says("output", "suppressed", "star") or published.says("method", "name", "k-optimize")
        if published.publish and published.counts_persons:  # the file shows which rows are one person's
            of_person = defaultdict[str, list[Key]](list)
            for key, person in zip(keys, self.persons, strict=True):
                of_person[person].append(key)
            whole = {person: () if all(map(is_star, own)) else sorted(own) for person, own in of_person.items()}
            keys = [tuple(map(str, whole[person])) for person in self.persons]  # () is a star, too
        self.places: dict[Key, list[int]] = defaultdict(list)
        for place, key in enumerate(keys):
            if not (stars and is_star(key)):
                self.places[key].append(place)
        self.sizes = [len({self.persons[place] for place in places}) for places in self.places.values()]

    def members(self, column: str) -> list[models.Members]:
        return [members_of(self.rows, self.persons, column, places) for places in self.places.values()]

    def everybody(self, column: str) -> models.Members:
        return members_of(self.rows, self.persons, column, [one for places in self.places.values() for one in places])


def members_of(rows: Sequence[Row], persons: Sequence[str], column: str, places: Iterable[int]) -> models.Members:
    """The values of each person of these rows, as people read them."""
    values: dict[str, set[str]] = defaultdict(set)
    for place in places:
        values[persons[place]].add(rows[place][column].strip().casefold())
    return [frozenset(own) for own in values.values()]


def judge_rows(outcome: Outcome, published: Published, verified: int) -> None:
    """Everything that is judged of one release that was published."""
    for judge in (_judge_counts, _judge_labels, _judge_identifiers, _judge_spellings):
        judge(outcome, published)
    if published.promised[0]["model"] == "differential-privacy":
        _judge_private(outcome, published)
    elif published.persons is None:
        outcome.judged["persons not known"] += 1
    elif (classes := Classes(published, published.classes())).places:
        for model in published.promised:
            outcome.add(f"model {model['model']}", _wrong(model, classes, published))
        _judge_star_rows(outcome, published)
        if verified == 0:
            _judge_read_back(outcome, published)


def _wrong(model: Plan, classes: Classes, published: Published) -> str | None:
    """What is wrong about a promise, or about the figure that the report signs for it."""
    (reached, holds), unit = _reached(model, classes, published), "persons" if published.counts_persons else "rows"
    same = [own for own in published.report["models"] if own["model"] == model["model"] and own["holds"]]
    signed = next((own["reached"] for own in same if own.get("column") == model.get("column")), None)
    if not holds:
        return f"{model} is not kept: {reached:.6g} over {unit}; signed {signed}"
    if signed is None or model["model"] not in FIGURED or model.get("variant") == "enhanced":
        return None
    off = (signed - reached) if model["model"] in ("k-anonymity", "k-map") else (reached - signed)
    better = off > 1e-5 * max(1.0, abs(reached))
    return f"the figure of {model} is better than the file: {signed}, {reached:.6g} over {unit}" if better else None


def _reached(model: Plan, classes: Classes, published: Published) -> Reached:
    """What a promise comes to in the published file, and whether that keeps it."""
    name, least = model["model"], min(classes.sizes)
    if name == "k-anonymity":
        least = _least_matching(published) if published.says("data", "on_missing", "any") else least
        return least, least >= model["k"]
    if "threshold" in model:
        reached = models.risk_of(name, classes.sizes, model.get("sampling_fraction", 1.0))
        return reached, reached <= model["threshold"] * (1 + 1e-6)
    if name in ("k-map", "delta-presence"):
        return _of_list(model, classes, published)
    figures = [
        models.of_class(model, members, whole)
        for whole in _wholes(model, classes, published)
        for members in classes.members(model["column"])
    ]
    holds = all(kept for _, kept in figures) and least >= model.get("k", 1)
    return (min if name == "l-diversity" else max)(figure for figure, _ in figures), holds


def _wholes(model: Plan, classes: Classes, published: Published) -> list[models.Members]:
    """The tables that classes are compared with: the published rows, the raw ones, or both."""
    raw, column = published.raw, model["column"]
    if published.says("data", "on_missing", "drop"):
        raw = [row for row in raw if all(row[name] for name in published.known)]
    persons = [row[PERSON] if published.counts_persons else str(place) for place, row in enumerate(raw)]
    wholes = [members_of(raw, persons, column, range(len(raw)))]
    with_stars = sum(map(len, classes.places.values())) < len(published.rows)
    return wholes if model.get("against") == "raw" or with_stars else [*wholes, classes.everybody(column)]


def _of_list(model: Plan, classes: Classes, published: Published) -> Reached:
    """k-map and delta-presence: how many persons of a list each class stands for, by its labels."""
    listed, figures = published.raw, []
    if model["model"] == "k-map":
        with (published.folder.parent / "population.csv").open(newline="", encoding="utf-8") as file:
            listed = list(csv.DictReader(file))
    for key, places in classes.places.items():
        labels = list(zip(key, published.known, strict=True))
        alike = sum(all(contains(label, row[name]) is not False for label, name in labels) for row in listed)
        figures.append(max(alike, len(places)) if model["model"] == "k-map" else len(places) / max(alike, 1))
    if model["model"] == "k-map":
        return min(figures), min(figures) >= model["k"]
    worst = max(figures, key=lambda share: max(share - model["upper"], model["lower"] - share))
    return worst, model["lower"] - 1e-6 <= worst <= model["upper"] + 1e-6


def _least_matching(published: Published) -> int:
    """The fewest rows that match a row, where a missing cell matches anything."""
    keys = Counter(key for key in published.classes() if not is_star(key))

    def matches(one: Key, other: Key) -> bool:
        return all(a == b or not a or not b for a, b in zip(one, other, strict=True))

    return min(sum(count for other, count in keys.items() if matches(key, other)) for key in keys)


def _judge_counts(outcome: Outcome, published: Published) -> None:
    """Rows that are reported against rows that stand in the file, and in the raw one."""
    report, count = published.report, len(published.rows)
    stars = report["suppressed_rows"] if report["published_rows"] < count else 0
    pairs = {"published rows": (report["published_rows"], count - stars)}
    if not (
        published.plan.get("previous") or report["dropped_rows"] or published.promised[0]["model"] == "delta-presence"
    ):
        pairs["raw rows"] = report["rows"], len(published.raw)
    for what, (signed, counted) in pairs.items():
        outcome.add(what, f"signed {signed}, counted {counted}" if signed != counted else None)


def _judge_labels(outcome: Outcome, published: Published) -> None:
    """Every label contains the raw value, where it is known which row is whose; so do printed bounds."""
    if published.raw_rows is None or published.says("method", "name", "microaggregation"):
        return
    untrue: Counter[str] = Counter()
    for row, own in zip(published.rows, published.raw_rows, strict=True):
        for name in published.known:
            held, bounds = contains(row[name], own[name]), (row.get(f"{name}_min"), row.get(f"{name}_max"))
            outcome.judged["labels read" if held is not None else "labels not read"] += 1
            untrue[f"{name} as {row[name]}"] += held is False
            if own[name] and all(bounds):
                untrue[f"{name} with the bounds {bounds}"] += contains(f"{bounds[0]}-{bounds[1]}", own[name]) is False
    rows, example = sum(untrue.values()), max(untrue, key=lambda label: untrue[label], default="")
    outcome.add("labels are true", f"{rows} labels do not contain the raw value: {example}" if rows else None)


def _judge_identifiers(outcome: Outcome, published: Published) -> None:
    """No raw identifier stands in a file to hand out; no pseudonym stands out by its shape."""
    paths = [*published.folder.glob("*-external.*"), published.folder / "data.csv"]
    texts = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    if PERSON in published.plan["columns"]:
        leaked = sum(owner in texts for owner in {row[PERSON] for row in published.raw})
        outcome.add("no identifier", f"{leaked} of them are in files to hand out" if leaked else None)
    if isinstance(published.publish, dict):
        names = {row[PERSON] for row in published.rows} - {"*"}
        format_ = published.publish["pseudonym"] == "format"
        signs = str.maketrans("0123456789", "9" * 10) if format_ else {}
        shapes = Counter("".join("a" if sign.isalpha() else sign for sign in name.translate(signs)) for name in names)
        counts = shapes if format_ else Counter(map(len, names))
        rare = [count for count in counts.values() if count < max(published.k, 2)]
        told = f"a shape of pseudonyms has {min(rare, default=0)} of {len(names)} persons, k = {published.k}"
        outcome.add("shapes of pseudonyms", told if rare else None)


def _judge_spellings(outcome: Outcome, published: Published) -> None:
    """One spelling of each sensitive value: a second one carries what the first does not."""
    promised = {model.get("column") for model in published.promised}
    for name in published.of_role("sensitive"):
        spellings: dict[str, set[str]] = defaultdict(set)
        for row in published.rows:
            spellings[row[name].strip().casefold()].add(row[name])
        worst, what = max(map(len, spellings.values())), "one spelling" + (" (promised)" if name in promised else "")
        outcome.add(what, f"{worst} spellings of one value of {name}" if worst > 1 else None)


def _judge_star_rows(outcome: Outcome, published: Published) -> None:
    """Suppressed rows that keep sensitive values are k at least: who is in no class must be one of them."""
    stars = [place for place, key in enumerate(published.classes()) if is_star(key)]
    promised = {model["column"] for model in published.promised if "column" in model}
    if stars and published.says("output", "suppressed", "star"):
        shown = [name for name in promised if any(published.rows[place][name].strip("*") for place in stars)]
        count = len({(published.persons or [])[place] for place in stars})
        few = f"{count} members of {len(stars)} suppressed rows keep {', '.join(shown)}, k = {published.k}"
        outcome.add("rows of *", few if shown and count < published.k else None)


def _judge_read_back(outcome: Outcome, published: Published) -> None:
    """The file's own columns read back into its labels: k as a reader of the whole file reaches it."""
    if published.promised[0]["model"] != "k-anonymity" or published.says("data", "on_missing", "any"):
        return
    sources = [name for name in published.of_role("sensitive", "insensitive") if name != TAG]
    stars = {place for place, key in enumerate(published.classes()) if is_star(key)}
    k = published.promised[0]["k"]
    found = labels_read_back(published.rows, published.known, sources, k, published.raw_rows, stars)
    small = (
        [size for size in Classes(published, published.classes(found.labels)).sizes if size < k] if found.rows else []
    )
    told = (
        f"{found.how}: {found.rows} labels read back, {sum(small)} in classes below {k}, least {min(small, default=0)}"
    )
    outcome.add("columns read back", told if small else None)


def _judge_private(outcome: Outcome, published: Published) -> None:
    """Differential privacy: every class is of at least as many rows as delta asks for."""
    smallest = min(Counter(published.classes()).values(), default=0)
    judge_threshold(outcome, published.plan, f"has {smallest} of the drawn rows")


def judge_threshold(outcome: Outcome, plan: Plan, printed: str) -> None:
    """Delta, for the k that is named; a tenth of epsilon is for the levels."""
    model, named = plan.get("privacy", [{}])[0], re.search(r"has ([\d,]+) of the drawn rows", printed)
    if model.get("model") == "differential-privacy" and named:
        k = int(named[1].replace(",", ""))
        delta = models.delta_of(0.9 * model["epsilon"], k)
        wrong = f"delta is {delta:.3g} for k = {k}, epsilon {model['epsilon']:g}; promised {model['delta']}"
        outcome.add("delta", wrong if delta > model["delta"] * 1.0001 else None)


def judge_chain(outcome: Outcome, chain: Sequence[Published]) -> None:
    """Every history of classes, in each release or none, is that of k published persons; also of those who are gone."""
    histories: dict[str, list[Key | None]] = {}
    for number, published in enumerate(chain):
        for person, key in zip(published.persons or (), published.classes(), strict=True):
            if not is_star(key):
                histories.setdefault(person, [None] * len(chain))[number] = key
    small = [size for size in Counter(map(tuple, histories.values())).values() if size < chain[-1].k]
    told = f"{len(small)} histories are shared by fewer than k = {chain[-1].k} persons, one by {min(small, default=0)}"
    outcome.add("chain of releases", told if small else None)
