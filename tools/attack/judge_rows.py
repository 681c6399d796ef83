"""Recount published rows and compare them with their report; original rows show whose rows they are."""

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

from models import Members, contains, delta_of, is_star, of_class, risk_of, rows_read_back

Classes = list[list[int]]
FIGURED = ("k-anonymity", "alpha-k-anonymity", "average-risk", "beta-likeness", "delta-disclosure", "k-map")


def grouped(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    groups = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def members_of(values: Iterable[tuple[str, str]]) -> Members:
    return [frozenset(own) for own in grouped((person, text.strip().casefold()) for person, text in values).values()]


class Published:
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
        self.stars = [place for place, key in enumerate(self.keys) if {*key} == {"*"}]

    def of_role(self, *roles: str) -> list[str]:
        return [name for name, own in self.columns.items() if own["role"] in roles and name in self.rows[0]]

    def keys_of(self, rows: Sequence[Row]) -> list[tuple[str, ...]]:
        return [tuple(row[name] for name in self.known) for row in rows]

    def classes(self, rows: Sequence[Row]) -> Classes:
        """Return the indices of the rows of each class, without rows of * that are suppressed ones."""
        keys, stars = self.keys_of(rows), self.asks.get("suppressed") == "star" or self.asks["method"] == "k-optimize"
        if self.publish and self.counts_persons:  # the file shows which rows belong to one person; () is a star, too
            whole = grouped(zip(self.persons, keys, strict=True))
            shown = {
                person: () if all({*key} == {"*"} for key in own) else sorted(own) for person, own in whole.items()
            }
            keys = [tuple(map(str, shown[person])) for person in self.persons]
        places = ((key, place) for place, key in enumerate(keys) if not (stars and {*key} == {"*"}))
        return list(grouped(places).values())

    def sizes(self, classes: Classes) -> list[int]:
        return [len({self.persons[place] for place in places}) for places in classes]

    def wrong(self, model: Plan, classes: Classes) -> str | None:
        """Return what is wrong about a model, or about the metric in its report; None if nothing."""
        (reached, holds), unit = self._reached(model, classes), "persons" if self.counts_persons else "rows"
        same = [own for own in self.report["models"] if own["model"] == model["model"] and own["satisfied"]]
        signed = next((own["achieved"] for own in same if own.get("column") == model.get("column")), None)
        if not holds:
            return f"{model} is not kept: {reached:.6g} over {unit}; signed {signed}"
        figured = signed is not None and model["model"] in FIGURED and model.get("variant") != "enhanced"
        better = (signed - reached) * (1 if model["model"] in ("k-anonymity", "k-map") else -1) if figured else 0.0
        reason = f"the figure of {model} is better than the file: {signed}, {reached:.6g} over {unit}"
        return reason if better > 1e-5 * max(1.0, abs(reached)) else None

    def _reached(self, model: Plan, classes: Classes) -> tuple[float, bool]:
        """Return the achieved parameter of a model in the published file, and whether it is satisfied."""
        name, sizes, figures = model["model"], self.sizes(classes), list[float]()
        if name == "k-anonymity" and self.asks.get("on_missing") == "any":  # a missing cell matches any value
            keys = [key for key in self.keys if {*key} != {"*"}]
            sizes = [
                sum(all("" in (a, b) or a == b for a, b in zip(key, one, strict=True)) for one in keys) for key in keys
            ]
        if name == "k-anonymity":
            return min(sizes), min(sizes) >= model["k"]
        if "threshold" in model:
            reached = risk_of(name, sizes, model.get("sampling_fraction", 1.0))
            return reached, reached <= model["threshold"] * (1 + 1e-6)
        if name not in ("k-map", "delta-presence"):
            return self._of_column(model, classes)
        listed = rows_of(self.folder.parent / "population.csv") if name == "k-map" else self.raw
        for places in classes:  # the number of persons of the list that each class represents
            labels = [(own, self.rows[places[0]][own]) for own in self.known]
            alike = sum(all(contains(label, row[own]) is not False for own, label in labels) for row in listed)
            figures.append(max(alike, len(places)) if name == "k-map" else len(places) / max(alike, 1))
        low, high = (model["k"], np.inf) if name == "k-map" else (model["lower"] - 1e-6, model["upper"] + 1e-6)
        worst = max(figures, key=lambda figure: max(figure - high, low - figure))
        return worst, low <= worst <= high

    def _of_column(self, model: Plan, classes: Classes) -> tuple[float, bool]:
        """Compare classes with the original rows, and with the published ones if all of those are in classes."""
        column, raw = model["column"], self.raw
        if self.asks.get("on_missing") == "drop":
            raw = [row for row in raw if all(row[name] for name in self.known)]
        persons = (row[PERSON] if self.counts_persons else str(at) for at, row in enumerate(raw))
        wholes = [members_of(zip(persons, (row[column] for row in raw), strict=True))]
        values = [(person, row[column]) for person, row in zip(self.persons, self.rows, strict=True)]
        if model.get("reference") != "raw" and sum(map(len, classes)) == len(values):
            wholes.append(members_of(values))
        members = [members_of(values[place] for place in places) for places in classes]
        figures = [of_class(model, own, whole) for whole in wholes for own in members]
        holds = all(kept for _, kept in figures) and min(self.sizes(classes)) >= model.get("k", 1)
        return (min if model["model"] == "l-diversity" else max)(figure for figure, _ in figures), holds

    def judge_file(self, outcome: Outcome) -> None:
        """Check the number of rows, and for identifiers, rare pseudonym formats, and second spellings."""
        report, paths = self.report, [*self.folder.glob("*-external.*"), self.folder / "data.csv"]
        stars = report["suppressed_rows"] if report["published_rows"] < len(self.rows) else 0
        counted = {"published rows": (report["published_rows"], len(self.rows) - stars)}
        if not (self.asks.get("previous") or report["dropped_rows"] or "subset" in self.promised[0]):
            counted["raw rows"] = (report["rows"], len(self.raw))
        for what, (signed, count) in counted.items():
            outcome.add(what, f"signed {signed}, counted {count}", signed != count)
        texts = "\n".join(path.read_text(encoding="utf-8") for path in paths)
        leaked = sum(owner in texts for owner in {row[PERSON] for row in self.raw if PERSON in self.columns})
        outcome.add("no identifier", f"{leaked} of them are in files to hand out", leaked)
        if isinstance(self.publish, dict):
            keyed, names = self.publish["pseudonym"] == "keyed", {row[PERSON] for row in self.rows} - {"*"}
            signs = "." if keyed else r"[^\W\d]"  # those of keyed ones are random
            shapes = Counter(re.sub(signs, "a", name if keyed else re.sub(r"\d", "9", name)) for name in names)
            rare = min(shapes.values(), default=self.k)
            reason = f"a shape of pseudonyms has {rare} of {len(names)} persons, k = {self.k}"
            outcome.add("shapes of pseudonyms", reason, rare < max(self.k, 2))
        promised = {model.get("column") for model in self.promised}
        for name in self.rows[0]:  # case matters if the plan guarantees one spelling
            values = {text: unicodedata.normalize("NFC", text).strip() for text in {row[name] for row in self.rows}}
            spelled = grouped((value.casefold() if name in promised else value, text) for text, value in values.items())
            worst, what = max(map(len, spelled.values())), "one spelling" + (" (promised)" if name in promised else "")
            outcome.add(what, f"{worst} spellings of one value of {name}", worst > 1)

    def judge_labels(self, outcome: Outcome) -> None:
        """Check that labels contain original values, and that other columns do not disclose protected ones."""
        untrue, raw_rows = list[str](), self.raw_rows if self.asks["method"] != "microaggregation" else []
        for row, own in zip(self.rows, raw_rows, strict=False):
            for name in self.known:
                held = contains(row[name], own[name])
                outcome.judged["labels read" if held is not None else "labels not read"] += 1
                untrue += [f"{name} as {row[name]}"] if held is False else []
        outcome.add("labels are true", f"{len(untrue)} labels do not contain the raw value: {untrue[:1]}", untrue)
        for name in [name for name in self.known if "protect" in self.columns[name]]:
            shown = [row for row in self.rows if row[name].strip("*")]
            groups = grouped((tuple(row[one] for one in self.known if one != name), row[name]) for row in shown)
            alone = sum(len(set(labels)) < 2 for labels in groups.values())
            outcome.add("protected column", f"{alone} of {len(groups)} groups disclose {name}", alone)

    def judge_suppressed(self, outcome: Outcome, verified: bool) -> None:
        """Check that k or more suppressed rows keep sensitive values; if verified, that no column predicts labels."""
        promised = {model["column"] for model in self.promised if "column" in model}
        if self.stars and self.asks.get("suppressed") == "star":
            shown = [name for name in promised if any(self.rows[place][name].strip("*") for place in self.stars)]
            (count,) = self.sizes([self.stars])
            reason = f"{count} members of {len(self.stars)} suppressed rows keep {', '.join(shown)}, k = {self.k}"
            outcome.add("rows of *", reason, shown and count < self.k)
        exact = self.promised[0]["model"] == "k-anonymity" and self.asks.get("on_missing") != "any"
        if verified and exact and self.raw_rows:
            k, sources = self.promised[0]["k"], set(self.of_role("sensitive", "insensitive")) - {TAG}
            rows, how = rows_read_back(self.rows, self.raw_rows, self.known, sorted(sources), k, self.stars)
            small = [size for size in self.sizes(self.classes(rows)) if size < k] if how else []
            reason = f"{how}; {sum(small)} in classes below {k}, least {min(small, default=0)}"
            outcome.add("columns read back", reason, small)


def judge_rows(outcome: Outcome, own: Published, verified: int) -> None:
    own.judge_file(outcome)
    own.judge_labels(outcome)
    if own.promised[0]["model"] == "differential-privacy":
        smallest = min(Counter(own.keys).values(), default=0)
        judge_threshold(outcome, own.asks, f"has {smallest} of the drawn rows")
    elif not own.persons:
        outcome.judged["nothing, since persons are not known"] += 1
    elif classes := own.classes(own.rows):
        for model in own.promised:
            outcome.add(f"model {model['model']}", own.wrong(model, classes))
        own.judge_suppressed(outcome, verified == 0)


def judge_threshold(outcome: Outcome, plan: Plan, printed: str) -> None:
    """Check delta of differential privacy for the given k; a tenth of epsilon is for the levels."""
    model, named = plan.get("privacy", [{}])[0], re.search(r"has ([\d,]+) of the drawn rows", printed)
    if model.get("model") == "differential-privacy" and named:
        k = int(named[1].replace(",", ""))
        delta = delta_of(0.9 * model["epsilon"], k)
        reason = f"delta is {delta:.3g} for k = {k}, epsilon {model['epsilon']:g}; promised {model['delta']}"
        outcome.add("delta", reason, delta > model["delta"] * 1.0001)


def judge_chain(outcome: Outcome, chain: Sequence[Published]) -> None:
    """Check that every history of classes has at least k persons, and that averaging does not remove noise."""
    keys = [dict(zip(published.persons, published.keys, strict=True)) for published in chain]
    persons = {person for own in keys for person in own}
    histories = {one: tuple(None if is_star(own.get(one, ())) else own[one] for own in keys) for one in persons}
    small = [size for history, size in Counter(histories.values()).items() if any(history) and size < chain[-1].k]
    reason = f"{len(small)} histories are shared by fewer than k = {chain[-1].k}, one by {min(small, default=0)}"
    outcome.add("chain of releases", reason, small)
    for name in [name for name, own in chain[0].columns.items() if "publish" in own]:
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
    """Check that comparing a release with its recoding applied to other rows affects nobody, or at least k persons."""
    before, now = (Counter(tuple(row.items()) for row in rows) for rows in (published.rows, later))
    for what, count in (("added", (now - before).total()), ("removed", (before - now).total())):
        outcome.add("applied to other rows", f"{count} rows {what}, k = {published.k}", 0 < count < published.k)
