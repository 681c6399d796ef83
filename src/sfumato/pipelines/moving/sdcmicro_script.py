"""Scripts of sdcMicro (R): the calls that stand plainly become a plan; docs/tutorials/from-sdcmicro.md lists them."""

from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.errors import DataError, EngineError
from sfumato.microdata.plan.model import ROLES
from sfumato.pipelines.moving.project import ImportedProject
from sfumato.pipelines.moving.r_calls import Call, read_calls

K = 3
# What may be said of a column together; other operations stand alone.
LIMITS = frozenset({"top", "bottom"})
READERS = frozenset({"read.csv", "read.csv2", "read.table", "fread", "read_csv", "read_csv2"})
SEPARATORS = {"read.csv": ",", "read.csv2": ";", "read_csv": ",", "read_csv2": ";"}


def read_script(path: Path) -> ImportedProject:
    """A script of sdcMicro as a plan.

    Raises:
        EngineError: The file cannot be read.
        DataError: No call of createSdcObj stands in it.
    """
    try:
        script = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise EngineError(f"{path.name} cannot be read: {error.strerror}.", "Check the path.", "unreadable") from None
    except UnicodeDecodeError:
        raise DataError(f"{path.name} is not UTF-8.", "Save it as UTF-8.", "encoding") from None
    return replace(translate(script), beside=path.parent)


def translate(script: str) -> ImportedProject:
    """The text of a script as a plan, with what was left out."""
    steps = _Steps()
    for call in read_calls(script, frozenset(TRANSLATIONS) | READERS):
        if not call.plain:
            steps.leave(call, "an argument must be computed; what stands plainly is carried over")
        (TRANSLATIONS.get(call.function) or _Steps.read)(steps, call)
    if not steps.made:
        raise DataError(
            "no call of createSdcObj with plain arguments stands in the script.",
            "A script of sdcMicro names its columns there: createSdcObj(dat, keyVars=c(…)).",
            "project",
        )
    return ImportedProject(steps.plan(), {}, tuple(steps.left_out))


@dataclass(slots=True)
class _Steps:
    """What the calls so far have said."""

    data: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    models: list[dict[str, Any]] = field(default_factory=list)
    importance: dict[str, Any] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    k: int = K
    made: bool = False
    by_cells: bool = False

    def plan(self) -> dict[str, Any]:
        method = self._method()
        for name in self.numbers:
            self.columns.setdefault(name, {"role": "insensitive"})
        self.left_out.append(
            "Columns that the script does not name are withheld here (other: identifier); sdcMicro publishes them."
        )
        data = {"data": self.data} if self.data else {}
        return {"version": 1, **data, "columns": self.columns, "other": "identifier",
                "privacy": [{"model": "k-anonymity", "k": self.k}, *self.models], "method": method}  # fmt: skip

    def _method(self) -> dict[str, Any]:
        """Single cells where the script suppresses them and asks for nothing besides; else classes of their own."""
        coarser = any("min_level" in column for column in self.columns.values())
        if not self.by_cells or self.models or coarser:
            if self.by_cells:
                why = "with these promises and recodings local recoding takes its place"
                self.left_out.append(f"Suppression of single cells: {why}.")
            return {"name": "local"}
        for name, importance in self.importance.items():
            self.columns[name]["importance"] = importance
        return {"name": "cells"}

    def leave(self, call: Call, why: str) -> None:
        self.left_out.append(f"Line {call.line}, {call.function}: {why}.")

    def read(self, call: Call) -> None:
        """The file that the script reads first."""
        path = call.arguments.get("file", call.positional[0] if call.positional else None)
        if isinstance(path, str) and not self.data:
            separator = call.arguments.get("sep", SEPARATORS.get(call.function))
            self.data = {"source": path} | ({"separator": separator} if isinstance(separator, str) else {})

    def create(self, call: Call) -> None:
        keys = _texts(call.arguments.get("keyVars"))
        self.made = self.made or bool(keys)
        for name in keys:
            self.columns[name] = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
        self.numbers = _texts(call.arguments.get("numVars"))
        for name in _texts(call.arguments.get("sensibleVar")):
            self.columns[name] = {"role": "sensitive"}
        for name in _texts(call.arguments.get("excludeVars")):
            self.columns[name] = {"role": "identifier"}
        self._sample(call, "weightVar", "weight")
        self._sample(call, "hhId", "household")
        for key in ("strataVar", "pramVars", "ghostVars"):
            if call.arguments.get(key) is not None and key != "pramVars":
                self.leave(call, f"{key} is not carried over")

    def _sample(self, call: Call, key: str, role: str) -> None:
        for name in _texts(call.arguments.get(key)):
            if role in ROLES:
                self.columns[name] = {"role": role}
            else:
                self.columns[name] = {"role": "identifier"}
                self.leave(call, f'{key}: "{name}" is withheld')

    def suppress(self, call: Call) -> None:
        k = call.arguments.get("k", K)
        self.k = int(k[0] if isinstance(k, list) else k) if isinstance(k, list | int | float) else K
        self.by_cells = True
        ranks = call.arguments.get("importance")
        keys = [name for name, column in self.columns.items() if column["role"] == "quasi-identifier"]
        if isinstance(ranks, list) and len(ranks) == len(keys):
            # The first in rank is suppressed last, so it costs most.
            self.importance = {
                name: float(2 ** (len(keys) - int(rank))) for name, rank in zip(keys, ranks, strict=True)
            }
        if call.arguments.get("combs") is not None:
            self.leave(call, "combs is not carried over")

    def aggregate(self, call: Call) -> None:
        group = {"group": "script"} if len(self._variables(call)) > 1 else {}
        self._publish(call, {"microaggregate": {"k": int(call.arguments.get("aggr", 3))} | group})
        method = call.arguments.get("method", "mdav")
        if method != "mdav":
            self.leave(call, f"the method {method} is mdav here")

    def randomize(self, call: Call) -> None:
        """PRAM: `pd` is the least probability of staying."""
        stay = call.arguments.get("pd", 0.8)
        self._publish(call, {"pram": {"stay": stay if isinstance(stay, int | float) else 0.8}})

    def disturb(self, call: Call) -> None:
        """Noise in percent of the standard deviation."""
        self._publish(call, {"noise": {"share": call.arguments.get("noise", 150) / 100}})
        method = call.arguments.get("method", "additive")
        if method != "additive":
            self.leave(call, f"the method {method} is additive noise here")

    def swap(self, call: Call) -> None:
        self._publish(call, {"swap": {"share": call.arguments.get("P", 5) / 100}})

    def code(self, call: Call) -> None:
        """Top and bottom coding; values beyond are told as such, not replaced by a number."""
        kind = call.arguments.get("kind", "top")
        self._publish(call, {str(kind): call.arguments.get("value")})
        if call.arguments.get("replacement") is not None:
            self.leave(call, "values beyond are published as >value or <value instead of the replacement")

    def recode(self, call: Call) -> None:
        breaks = call.arguments.get("breaks")
        for name in _texts(call.arguments.get("column")):
            if isinstance(breaks, list) and len(breaks) > 2 and name in self.columns:
                low, *cuts, high = breaks
                self.columns[name]["hierarchy"] = {
                    "type": "intervals",
                    "start": low,
                    "end": high,
                    "bounds": [[low, *cuts]],
                }
                self.columns[name]["min_level"] = 1
            else:
                self.leave(call, f'the recoding of "{name}" is not plain: give it a hierarchy')

    def diversify(self, call: Call) -> None:
        for name in _texts(call.arguments.get("ldiv_index")):
            self.columns[name] = {"role": "sensitive"}
            self.models.append({"model": "l-diversity", "l": 2, "column": name})
            self.leave(call, f'measures l-diversity of "{name}"; here it is promised, with l = 2')

    def remove(self, call: Call) -> None:
        for name in _texts(call.arguments.get("var")):
            self.columns[name] = {"role": "identifier"}

    def leave_whole(self, call: Call) -> None:
        self.leave(call, "has no counterpart here")

    def _variables(self, call: Call) -> list[str]:
        """The columns that a call is about; all of numbers where it names none, and none where it computes them."""
        named = call.arguments.get("variables", call.arguments.get("column"))
        return _texts(named) or (list(self.numbers) if call.plain else [])

    def _publish(self, call: Call, operation: dict[str, Any]) -> None:
        (key,) = operation
        for name in self._variables(call):
            column = self.columns.setdefault(name, {"role": "insensitive"})
            if column["role"] == "quasi-identifier":
                self.leave(call, f'"{name}" is a quasi-identifier: it is generalized instead')
            elif column.get("publish", {}).keys() - LIMITS or (column.get("publish") and key not in LIMITS):
                self.leave(call, f'"{name}" is changed otherwise already')
            else:
                column["publish"] = column.get("publish", {}) | operation


def _texts(value: object) -> list[str]:
    """Names of columns, as one text or a list of them."""
    entries = value if isinstance(value, list) else [value]
    return [entry for entry in entries if isinstance(entry, str)]


TRANSLATIONS: dict[str, Callable[[_Steps, Call], None]] = {
    "createSdcObj": _Steps.create,
    "kAnon": _Steps.suppress,
    "localSuppression": _Steps.suppress,
    "microaggregation": _Steps.aggregate,
    "pram": _Steps.randomize,
    "addNoise": _Steps.disturb,
    "rankSwap": _Steps.swap,
    "topBotCoding": _Steps.code,
    "globalRecode": _Steps.recode,
    "ldiversity": _Steps.diversify,
    "removeDirectID": _Steps.remove,
    "shuffle": _Steps.leave_whole,
    "recordSwap": _Steps.leave_whole,
    "groupAndRename": _Steps.leave_whole,
    "suda2": _Steps.leave_whole,
}
