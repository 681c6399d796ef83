"""Judges a published file of rows by itself: recounts it, and compares that with what the report signs.

Raw rows show who is behind rows and whether labels are true, as to an acquaintance of everybody.
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from draw_rows import PERSON, POLICIES, TAG, Plan, Row, rows_of
from findings import Outcome
from labels import contains, is_star, rows_read_back

import models

Key = tuple[str, ...]
Classes = list[list[int]]
FIGURED = ("k-anonymity", "alpha-k-anonymity", "average-risk", "beta-likeness", "delta-disclosure", "k-map")


def grouped(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    groups = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


class Published:
    """A release folder as it was written, beside its plan and, where it is known, who is behind each row."""

    def __init__(self, folder: Path, raw: list[Row], plan: Plan) -> None:
        self.folder, self.raw, self.columns, self.rows = folder, raw, plan["columns"], rows_of(folder / "data.csv")
        self.report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        self.asks = plan | plan.get("output", {}) | plan.get("data", {}) | {"method": plan["method"]["name"]}
        self.promised: list[Plan] = plan.get("privacy") or [{"model": "k-anonymity", "k": POLICIES[plan["policy"]]}]
        self.k: int = max((model.get("k", 1) for model in self.promised), default=1)
        self.known, self.counts_persons = self.of_role("quasi-identifier"), bool(self.of_role("person"))
        self.publish, by_tag = self.columns.get(PERSON, {}).get("publish"), {row.get(TAG): row for row in raw}
        in_order = self.asks.get("order") == "keep" and len(self.rows) == len(raw)
        tagged = TAG in self.rows[0] and all(row[TAG].strip("*") for row in self.rows)
        self.raw_rows = [by_tag[row[TAG]] for row in self.rows] if tagged else raw if in_order else []
        self.persons = [str(place) for place in range(len(self.rows))]
        if self.counts_persons:
            shown = [row[PERSON] for row in (self.rows if self.publish else self.raw_rows)]
            self.persons = [] if "*" in shown else shown
        self.keys = self.keys_of(self.rows)
        self.stars = [place for place, key in enumerate(self.keys) if is_star(key)]

    def of_role(self, *roles: str) -> list[str]:
        return [name for name, own in self.columns.items() if own["role"] in roles and name in self.rows[0]]

    def keys_of(self, rows: Sequence[Row]) -> list[Key]:
        return [tuple(row[name] for name in self.known) for row in rows]

    def classes(self, rows: Sequence[Row]) -> Classes:
        """The places of the rows of each class, without rows of * that stand for suppressed ones."""
        keys, stars = self.keys_of(rows), self.asks.get("suppressed") == "star" or self.asks["method"] == "k-optimize"
        if self.publish and self.counts_persons:  # the file shows which rows are one person's; () is a star, too
            whole = grouped(zip(self.persons, keys, strict=True))
            shown = {person: () if all(map(is_star, own)) else sorted(own) for person, own in whole.items()}
            keys = [tuple(map(str, shown[person])) for person in self.persons]
        places = ((key, place) for place, key in enumerate(keys) if not (stars and is_star(key)))
        return list(grouped(places).values())

    def sizes(self, classes: Classes) -> list[int]:
        return [len({self.persons[place] for place in places}) for places in classes]


def members_of(rows: Sequence[Row], persons: Sequence[str], column: str, places: Iterable[int]) -> models.Members:
    """The values of each person of these rows, as people read them."""
    values = grouped((persons[place], rows[place][column].strip().casefold()) for place in places)
    return [frozenset(own) for own in values.values()]


def judge_rows(outcome: Outcome, published: Published, verified: int) -> None:
    """Everything that is judged of one release that was published."""
    for judge in (_judge_counts, _judge_labels, _judge_identifiers, _judge_spellings, _judge_protected):
        judge(outcome, published)
    if published.promised[0]["model"] == "differential-privacy":
        smallest = min(Counter(published.keys).values(), default=0)
        judge_threshold(outcome, published.asks, f"has {smallest} of the drawn rows")
    elif not published.persons:
        outcome.judged["nothing, since persons are not known"] += 1
    elif classes := published.classes(published.rows):
        for model in published.promised:
            outcome.add(f"model {model['model']}", _wrong(model, classes, published))
        _judge_star_rows(outcome, published)
        if verified == 0 and published.raw_rows:
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


def _reached(model: Plan, classes: Classes, published: Published) -> tuple[float, bool]:
    """What a promise comes to in the published file, and whether that keeps it."""
    name, sizes = model["model"], published.sizes(classes)
    if name == "k-anonymity":
        if published.asks.get("on_missing") == "any":  # a missing cell matches anything
            keys = [key for key in published.keys if not is_star(key)]
            sizes = [
                sum(all(a in (b, "") or not b for a, b in zip(key, one, strict=True)) for one in keys) for key in keys
            ]
        return min(sizes), min(sizes) >= model["k"]
    if "threshold" in model:
        reached = models.risk_of(name, sizes, model.get("sampling_fraction", 1.0))
        return reached, reached <= model["threshold"] * (1 + 1e-6)
    if name in ("k-map", "delta-presence"):
        return _of_list(model, classes, published)
    members = [members_of(published.rows, published.persons, model["column"], places) for places in classes]
    figures = [models.of_class(model, own, whole) for whole in _wholes(model, classes, published) for own in members]
    holds = all(kept for _, kept in figures) and min(sizes) >= model.get("k", 1)
    return (min if name == "l-diversity" else max)(figure for figure, _ in figures), holds


def _wholes(model: Plan, classes: Classes, published: Published) -> list[models.Members]:
    """The tables that classes are compared with: the raw rows, and where all are in classes, the published ones."""
    raw, shown = published.raw, [place for places in classes for place in places]
    if published.asks.get("on_missing") == "drop":
        raw = [row for row in raw if all(row[name] for name in published.known)]
    persons = [row[PERSON] if published.counts_persons else str(place) for place, row in enumerate(raw)]
    wholes = [members_of(raw, persons, model["column"], range(len(raw)))]
    if model.get("against") != "raw" and len(shown) == len(published.rows):
        wholes.append(members_of(published.rows, published.persons, model["column"], shown))
    return wholes


def _of_list(model: Plan, classes: Classes, published: Published) -> tuple[float, bool]:
    """k-map and delta-presence: how many persons of a list each class stands for, by its labels."""
    of_map, figures = model["model"] == "k-map", []
    listed = rows_of(published.folder.parent / "population.csv") if of_map else published.raw
    for places in classes:
        labels = [(name, published.rows[places[0]][name]) for name in published.known]
        alike = sum(all(contains(label, row[name]) is not False for name, label in labels) for row in listed)
        figures.append(max(alike, len(places)) if of_map else len(places) / max(alike, 1))
    low, high = (model["k"], np.inf) if of_map else (model["lower"] - 1e-6, model["upper"] + 1e-6)
    worst = max(figures, key=lambda figure: max(figure - high, low - figure))
    return worst, low <= worst <= high


def _judge_counts(outcome: Outcome, published: Published) -> None:
    report, count = published.report, len(published.rows)
    stars = report["suppressed_rows"] if report["published_rows"] < count else 0
    reason = f"signed {report['published_rows']}, counted {count - stars}"
    outcome.add("published rows", reason, report["published_rows"] != count - stars)
    if not (published.asks.get("previous") or report["dropped_rows"] or "subset" in published.promised[0]):
        reason = f"signed {report['rows']}, counted {len(published.raw)}"
        outcome.add("raw rows", reason, report["rows"] != len(published.raw))


def _judge_labels(outcome: Outcome, published: Published) -> None:
    """Every label contains the raw value, where it is known which row is whose; so do printed bounds."""
    if published.asks["method"] == "microaggregation" or not published.raw_rows:
        return
    untrue = list[str]()
    for row, own in zip(published.rows, published.raw_rows, strict=True):
        for name in published.known:
            held, ends = contains(row[name], own[name]), (row.get(f"{name}_min"), row.get(f"{name}_max"))
            outcome.judged["labels read" if held is not None else "labels not read"] += 1
            untrue += [f"{name} as {row[name]}"] if held is False else []
            if own[name] and all(ends) and contains(f"{ends[0]}-{ends[1]}", own[name]) is False:
                untrue.append(f"{name} with the bounds {ends}")
    outcome.add("labels are true", f"{len(untrue)} labels do not contain the raw value: {untrue[:1]}", untrue)


def _judge_identifiers(outcome: Outcome, published: Published) -> None:
    """No raw identifier stands in a file to hand out; no pseudonym stands out by its shape."""
    paths = [*published.folder.glob("*-external.*"), published.folder / "data.csv"]
    texts = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    if PERSON in published.columns:
        leaked = sum(owner in texts for owner in {row[PERSON] for row in published.raw})
        outcome.add("no identifier", f"{leaked} of them are in files to hand out", leaked)
    if isinstance(published.publish, dict):
        names = {row[PERSON] for row in published.rows} - {"*"}
        keyed = published.publish["pseudonym"] == "keyed"  # signs are chance
        shapes = Counter(len(name) if keyed else re.sub(r"[^\W\d]", "a", re.sub(r"\d", "9", name)) for name in names)
        rare = min(shapes.values(), default=published.k)
        reason = f"a shape of pseudonyms has {rare} of {len(names)} persons, k = {published.k}"
        outcome.add("shapes of pseudonyms", reason, rare < max(published.k, 2))


def _judge_spellings(outcome: Outcome, published: Published) -> None:
    """One spelling of each value: a second one carries what the first does not; of judged columns capitals, too."""
    promised = {model.get("column") for model in published.promised}
    for name in published.rows[0]:
        texts = {text: unicodedata.normalize("NFC", text).strip() for text in {row[name] for row in published.rows}}
        values = grouped((value.casefold() if name in promised else value, text) for text, value in texts.items())
        worst, what = max(map(len, values.values())), "one spelling" + (" (promised)" if name in promised else "")
        outcome.add(what, f"{worst} spellings of one value of {name}", worst > 1)


def _judge_protected(outcome: Outcome, published: Published) -> None:
    """Rows alike in all other quasi-identifiers have two labels of a protected one at least, where they have one."""
    for name in [name for name in published.known if "protect" in published.columns[name]]:
        shown = [row for row in published.rows if row[name].strip("*")]
        groups = grouped((tuple(row[one] for one in published.known if one != name), row[name]) for row in shown)
        alone = sum(len(set(labels)) < 2 for labels in groups.values())
        outcome.add("protected column", f"{alone} of {len(groups)} groups disclose {name}", alone)


def _judge_star_rows(outcome: Outcome, published: Published) -> None:
    """Suppressed rows that keep sensitive values are k at least: who is in no class must be one of them."""
    rows, promised = published.stars, {model["column"] for model in published.promised if "column" in model}
    if rows and published.asks.get("suppressed") == "star":
        shown = [name for name in promised if any(published.rows[place][name].strip("*") for place in rows)]
        (count,) = published.sizes([rows])
        reason = f"{count} members of {len(rows)} suppressed rows keep {', '.join(shown)}, k = {published.k}"
        outcome.add("rows of *", reason, shown and count < published.k)


def _judge_read_back(outcome: Outcome, published: Published) -> None:
    """The file's own columns read back into its labels: k as a reader of the whole file reaches it."""
    if published.promised[0]["model"] == "k-anonymity" and published.asks.get("on_missing") != "any":
        k, sources = published.promised[0]["k"], set(published.of_role("sensitive", "insensitive")) - {TAG}
        rows, how = rows_read_back(
            published.rows, published.raw_rows, published.known, sorted(sources), k, published.stars
        )
        small = [size for size in published.sizes(published.classes(rows)) if size < k] if how else []
        reason = f"{how}; {sum(small)} in classes below {k}, least {min(small, default=0)}"
        outcome.add("columns read back", reason, small)


def judge_threshold(outcome: Outcome, plan: Plan, printed: str) -> None:
    """Delta of differential privacy, for the k that is named; a tenth of epsilon is for the levels."""
    model, named = plan.get("privacy", [{}])[0], re.search(r"has ([\d,]+) of the drawn rows", printed)
    if model.get("model") == "differential-privacy" and named:
        k = int(named[1].replace(",", ""))
        delta = models.delta_of(0.9 * model["epsilon"], k)
        reason = f"delta is {delta:.3g} for k = {k}, epsilon {model['epsilon']:g}; promised {model['delta']}"
        outcome.add("delta", reason, delta > model["delta"] * 1.0001)


def judge_chain(outcome: Outcome, chain: Sequence[Published]) -> None:
    """Every history of classes, in each release or none, is that of k published persons; also of those who are gone."""
    keys = [dict(zip(published.persons, published.keys, strict=True)) for published in chain]
    histories = {
        one: tuple(None if is_star(own.get(one, ())) else own[one] for own in keys) for own in keys for one in own
    }
    small = [size for history, size in Counter(histories.values()).items() if any(history) and size < chain[-1].k]
    reason = (
        f"{len(small)} histories are shared by fewer than k = {chain[-1].k} persons, one by {min(small, default=0)}"
    )
    outcome.add("chain of releases", reason, small)
    for name, column in chain[0].columns.items():
        if "noise" in column.get("publish", ()) or "pram" in column.get("publish", ()):
            _judge_draws(outcome, chain, name)


def _judge_draws(outcome: Outcome, chain: Sequence[Published], name: str) -> None:
    """A value is published alike in all releases, and the average of numbers is no closer than those of one release."""
    rows = [zip(one.persons, one.raw_rows, one.rows, strict=True) for one in chain]
    values = grouped((person, (raw[name], row[name])) for own in rows for person, raw, row in own).values()
    again = sum(len({raw for raw, _ in own}) == 1 < len(set(own)) for own in values)
    outcome.add("drawn once", f"{again} persons' values of {name} are published in several ways", again)
    if "noise" in chain[0].columns[name]["publish"]:
        whole = [own for own in values if len(own) == len(chain)]
        off = np.array([[float(shown) - float(raw) for raw, shown in own] for own in whole])
        average, single = np.sqrt(np.mean(off.mean(axis=1) ** 2)), np.sqrt(np.mean(off**2, axis=0)).min()
        outcome.add("noise averages", f"{name} deviates by {average:.3g}, not {single:.3g}", average < 0.9 * single)


def judge_applied(outcome: Outcome, published: Published, later: Sequence[Row]) -> None:
    """Who compares a release with a recoding applied to other rows learns of nobody, or of k persons at least."""
    before, now = (Counter(tuple(row.items()) for row in rows) for rows in (published.rows, later))
    for what, count in (("added", (now - before).total()), ("removed", (before - now).total())):
        outcome.add("applied to other rows", f"{count} rows {what}, k = {published.k}", 0 < count < published.k)
