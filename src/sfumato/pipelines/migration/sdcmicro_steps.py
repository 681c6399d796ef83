"""Combine the calls of an sdcMicro script to columns and privacy models, and list what a plan cannot express."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.pipelines.migration.r_calls import RCall
from sfumato.pipelines.migration.r_reading import data_of, not_carried

K = 3
# Operations that may be combined on one column; others exclude each other.
LIMITS = frozenset({"top", "bottom"})
ROLES = {"excludeVars": "identifier", "keyVars": "quasi-identifier", "weightVar": "weight", "hhId": "household",
         "sensibleVar": "sensitive"}  # fmt: skip
# Of two roles of a column, the stricter one is kept.
STRICTNESS = ("insensitive", "sensitive", "weight", "household", "quasi-identifier", "identifier")
CONDITIONAL = "stands in a loop, a condition or a function"


@dataclass(slots=True)
class ScriptSteps:
    """The results of the calls so far.

    Attributes:
        refusals: Privacy parameters of the script that cannot be read.
        lost: Whether a call changes unknown columns; then none may be published unchanged.
    """

    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    models: list[dict[str, Any]] = field(default_factory=list)
    importance: dict[str, float] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    groups: int = 0
    k: int = 0
    made: bool = False
    lost: bool = False

    def plan(self) -> dict[str, Any]:
        for name in self.numbers:
            self.columns.setdefault(name, {"role": "insensitive"})
        self._withhold_unknown()
        method = self._method()
        if not self.k:
            self.left_out.append(f"The script asks for no k-anonymity; the plan promises k = {K}.")
        self.left_out.append(
            "Columns that the script does not name are withheld here (other: identifier); sdcMicro publishes them."
        )
        data = {"data": self.data} if self.data else {}
        return {"version": 1, **data, "columns": self.columns, "other": "identifier",
                "privacy": [{"model": "k-anonymity", "k": self.k or K}, *self.models], "method": method}  # fmt: skip

    def _withhold_unknown(self) -> None:
        judged = {model["column"] for model in self.models}
        for name, column in self.columns.items():
            published = column["role"] in ("insensitive", "sensitive") and "publish" not in column
            if self.lost and published and name not in judged:
                self.columns[name] = {"role": "identifier"}
                why = "a call that could not be carried over may change it"
                self.left_out.append(f'"{name}" is withheld: {why}.')

    def _method(self) -> dict[str, Any]:
        """Return cell suppression if the script requests nothing else, otherwise local recoding."""
        coarser = any("min_level" in column for column in self.columns.values())
        if self.k and not self.models and not coarser:
            for name, importance in self.importance.items():
                self.columns[name]["importance"] = importance
            return {"name": "local-suppression"}
        if self.k:
            why = "with these promises and recodings local recoding takes its place"
            self.left_out.append(f"Suppression of single cells: {why}.")
        if self.importance:
            self.left_out.append("importance: local recoding knows none; a column's weight says what it may lose.")
        return {"name": "local"}

    def leave(self, call: RCall, why: str) -> None:
        self.left_out.append(f"Line {call.line}, {call.function}: {why}.")

    def leave_computed(self, call: RCall, formals: Sequence[str]) -> None:
        """Record each argument that must be computed; the first is the object the call works on."""
        place = f"{CONDITIONAL}; " if call.conditional else ""
        for key, text in call.computed.items():
            if key != formals[0]:
                self.leave(call, f"{place}{key} must be computed ({text}): it is not carried over")

    def read(self, call: RCall) -> None:
        """Record a file that the script reads; the first one is used unless an object is made from another."""
        for key in not_carried(call):
            self.leave(call, f"{key} is not carried over")
        if call.conditional:
            self.leave(call, CONDITIONAL)
            return
        data = data_of(call)
        if data:
            self.files[call.target] = data
            self.data = self.data or data

    def create(self, call: RCall) -> None:
        if call.conditional:
            self.leave(call, f"{CONDITIONAL}: its columns are not carried over")
            return
        names = {key: self._names(call, key) for key in (*ROLES, "numVars", "pramVars")}
        if self.made:
            self.leave(call, "another object: one plan promises for the columns of all of them together")
        else:
            self.data = self.files.get(call.computed.get("dat", ""), self.data)
        if names["keyVars"]:
            self.made = True
        else:
            self.refusals.append(f"line {call.line}, createSdcObj: keyVars cannot be read")
        self.lost = self.lost or "excludeVars" in call.computed
        self.numbers += [name for name in names["numVars"] if name not in self.numbers]
        self.categories += names["pramVars"]
        for key, role in ROLES.items():
            for name in names[key]:
                self.give(call, name, role)
        self.list_dropped(call, "strataVar", "ghostVars")

    def give(self, call: RCall, name: str, role: str) -> None:
        """Assign a role to a column, unless it has a stricter one."""
        had = self.columns.get(name, {"role": "insensitive"})["role"]
        if STRICTNESS.index(had) > STRICTNESS.index(role):
            self.leave(call, f'"{name}" stays {had}, and is not {role}')
        elif role == "quasi-identifier" and had != role:
            self.columns[name] = {"role": role, "hierarchy": {"type": "any"}}
        elif role == "sensitive":
            self.columns[name] = self.columns.get(name, {}) | {"role": role}
        elif had != role:
            self.columns[name] = {"role": role}

    def suppress(self, call: RCall) -> None:
        said = call.arguments.get("k", 2)
        ks = said if isinstance(said, list) else [said]
        if "k" in call.computed or not ks or not all(map(is_count, ks)):
            text = call.computed.get("k", said)
            self.refusals.append(f"line {call.line}, {call.function}: k cannot be read ({text})")
            return
        if call.conditional:
            self.leave(call, f"{CONDITIONAL}: what it promises is promised throughout")
        if "k" not in call.arguments:
            self.leave(call, f"k is not named: sdcMicro takes 2, the plan promises {K}")
        k = max(ks) if "k" in call.arguments else K
        if self.k and k != self.k:
            self.leave(call, f"k = {k}, and k = {self.k} elsewhere: the greater is promised")
        self.k = max(k, self.k)
        self._rank(call)
        self.list_dropped(call, *(call.arguments.keys() - {"k", "importance"}))

    def _rank(self, call: RCall) -> None:
        """Set the suppression costs of each column: the first in rank is suppressed last, so it costs most."""
        ranks = call.arguments.get("importance")
        keys = [name for name, column in self.columns.items() if column["role"] == "quasi-identifier"]
        if isinstance(ranks, list) and len(ranks) == len(keys) and all(map(is_count, ranks)):
            self.importance = {name: float(2 ** (len(keys) - rank)) for name, rank in zip(keys, ranks, strict=True)}
        elif ranks is not None:
            self.leave(call, "importance is not carried over: it has no rank for each quasi-identifier")

    def recode(self, call: RCall) -> None:
        breaks = call.arguments.get("breaks")
        plain = isinstance(breaks, list) and len(breaks) > 2 and all(map(is_number, breaks)) and not call.conditional
        for name in self.concerned(call, "column", ()):
            column = self.columns.get(name, {})
            if isinstance(breaks, list) and plain and column.get("hierarchy") == {"type": "any"}:
                low, *cuts, high = sorted(breaks)
                hierarchy = {"type": "intervals", "start": low, "end": high, "bounds": [[low, *cuts]]}
                self.columns[name] |= {"hierarchy": hierarchy, "min_level": 1}
            else:
                self._leave_recoding(call, name)
        self.list_dropped(call, "labels")

    def regroup(self, call: RCall) -> None:
        for name in self.concerned(call, "var", ()):
            self._leave_recoding(call, name)

    def _leave_recoding(self, call: RCall, name: str) -> None:
        role = self.columns.get(name, {"role": "insensitive"})["role"]
        if role == "quasi-identifier":
            self.leave(call, f'the recoding of "{name}" is not plain: give it a hierarchy')
        elif role != "identifier":
            self.withhold(call, name, "its recoding is not carried over")

    def diversify(self, call: RCall) -> None:
        for name in self._names(call, "ldiv_index"):
            self.give(call, name, "sensitive")
            model = {"model": "l-diversity", "l": 2, "column": name}
            if self.columns[name]["role"] == "sensitive" and model not in self.models:
                self.models.append(model)
                self.leave(call, f'measures l-diversity of "{name}"; here it is promised, with l = 2')

    def remove(self, call: RCall) -> None:
        for name in self.concerned(call, "var", ()):
            self.give(call, name, "identifier")

    def leave_whole(self, call: RCall) -> None:
        self.leave(call, "has no counterpart here")

    def leave_change(self, call: RCall) -> None:
        """Record a call that changes columns in a way that no plan can express."""
        self.leave_whole(call)
        self.lost = True

    def change(self, call: RCall, operation: dict[str, Any] | None, names: Sequence[str]) -> None:
        """Add an operation to columns; remove them if it cannot be read from the script."""
        for name in names:
            column = self.columns.setdefault(name, {"role": "insensitive"})
            role, published = column["role"], column.get("publish", {})
            if role == "quasi-identifier":
                self.leave(call, f'"{name}" is a quasi-identifier: it is generalized instead')
            elif role not in ("insensitive", "sensitive"):
                self.leave(call, f'"{name}" is {role}: it is not changed')
            elif operation is None or call.conditional:
                why = CONDITIONAL if call.conditional else "what is done to it must be computed"
                self.withhold(call, name, why)
            elif published.keys() - LIMITS or (published and operation.keys() - LIMITS):
                self.leave(call, f'"{name}" is changed otherwise already')
            else:
                column["publish"] = published | operation

    def withhold(self, call: RCall, name: str, why: str) -> None:
        self.columns[name] = {"role": "identifier"}
        self.leave(call, f'{why}: "{name}" is withheld')

    def concerned(self, call: RCall, key: str, default: Sequence[str]) -> list[str]:
        """Return the columns that a call names, or its default ones; set `lost` if they must be computed."""
        if key not in call.arguments and key not in call.computed:
            return list(default)
        names = self._names(call, key)
        self.lost = self.lost or not names
        return names

    def list_dropped(self, call: RCall, *keys: str) -> None:
        for key in keys:
            if key in call.arguments:
                self.leave(call, f"{key} is not carried over")

    def _names(self, call: RCall, key: str) -> list[str]:
        """Return column names, given as one text or a list; column numbers are recorded as omitted."""
        said = call.arguments.get(key, [])
        entries = said if isinstance(said, list) else [said]
        names = [entry for entry in entries if isinstance(entry, str)]
        if len(names) < len(entries):
            self.leave(call, f"{key}: columns without names are not carried over")
            self.lost = True
        return names


def is_number(value: object) -> bool:
    """Return whether a value of a script is a number.

    >>> is_number(2.5), is_number(True)
    (True, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_count(value: object) -> bool:
    """Return whether a value of a script is a positive integer."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
