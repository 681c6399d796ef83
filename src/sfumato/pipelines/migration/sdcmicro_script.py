"""Convert sdcMicro scripts (R) to plans; docs/tutorials/from-sdcmicro.md lists the supported calls."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import DataError, EngineError
from sfumato.pipelines.migration.project import ImportedProject
from sfumato.pipelines.migration.r_scripts import READERS, RCall, data_of, not_carried, read_calls
from sfumato.values import State, field, replace

K = 3
# Operations that may be combined on one column; others exclude each other.
LIMITS = frozenset({"top", "bottom"})
ROLES = {"excludeVars": "identifier", "keyVars": "quasi-identifier", "weightVar": "weight", "hhId": "household",
         "sensibleVar": "sensitive"}  # fmt: skip
# Of two roles of a column, the stricter one is kept.
STRICTNESS = ("insensitive", "sensitive", "weight", "household", "quasi-identifier", "identifier")
CONDITIONAL = "stands in a loop, a condition or a function"


class ScriptSteps(State):
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


# The arguments of the functions, in order; the first is the object they work on.
_SUPPRESS = ("obj", "k", "importance", "combs")
SIGNATURES: dict[str, tuple[str, ...]] = {
    "createSdcObj": ("dat", "keyVars", "numVars", "pramVars", "ghostVars", "weightVar", "hhId", "strataVar",
                     "sensibleVar", "excludeVars", "options", "seed", "randomizeRecords", "alpha"),
    "kAnon": _SUPPRESS,
    "localSuppression": _SUPPRESS,
    "microaggregation": ("obj", "variables", "aggr", "strata_variables", "method", "weights"),
    "pram": ("obj", "variables", "strata_variables", "pd", "alpha"),
    "addNoise": ("obj", "variables", "noise", "method"),
    "rankSwap": ("obj", "variables", "TopPercent", "BottomPercent", "K0", "R0", "P", "missing", "seed"),
    "topBotCoding": ("obj", "value", "replacement", "kind", "column"),
    "globalRecode": ("obj", "column", "breaks", "labels", "method"),
    "ldiversity": ("obj", "ldiv_index", "l_recurs_c", "missing"),
    "removeDirectID": ("obj", "var"),
    "groupAndRename": ("obj", "var", "before", "after"),
}  # fmt: skip
# Calls that no plan can express: those that change the rows, and those that do not.
CHANGES = ("shuffle", "recordSwap", "microaggrGower", "dataGen", "mdav", "LocalRecProg")
MEASURES = ("suda2", "calcRisks", "createNewID", "addGhostVars", "undolast")


def read_script(path: Path) -> ImportedProject:
    """Convert an sdcMicro script to a plan.

    Raises:
        EngineError: The file cannot be read.
        DataError: It has no call of createSdcObj, or its privacy parameters must be computed.
    """
    try:
        script = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise EngineError("unreadable", name=path.name, problem=error.strerror) from None
    except UnicodeDecodeError:
        raise DataError("encoding.is_not_utf", name=path.name) from None
    return replace(translate(script), beside=path.parent)


def translate(script: str) -> ImportedProject:
    """Convert the text of a script to a plan, with the list of omissions."""
    steps = ScriptSteps()
    formals = SIGNATURES | READERS | dict.fromkeys((*CHANGES, *MEASURES), ("obj",))
    for call in read_calls(script, formals):
        _take(steps, call, formals[call.function])
    if not steps.made:
        raise DataError("project.no_call_of_createsdcobj_with_plain")
    if steps.refusals:
        raise DataError("project.cannot_read", problem="; ".join(steps.refusals))
    return ImportedProject(steps.plan(), {}, tuple(steps.left_out))


def _take(steps: ScriptSteps, call: RCall, formals: tuple[str, ...]) -> None:
    """Convert a call, or record why it cannot be converted."""
    translation = TRANSLATIONS.get(call.function)
    if call.function in READERS:
        steps.read(call)
    elif call.handed_on and call.function in PROMISES:
        steps.refusals.append(f"line {call.line}, {call.function}: it is called by another function")
    elif call.handed_on or translation is None:
        (steps.leave_whole if call.function in MEASURES else steps.leave_change)(call)
    else:
        steps.leave_computed(call, formals)
        translation(steps, call)


def _aggregate(steps: ScriptSteps, call: RCall) -> None:
    names = steps.concerned(call, "variables", steps.numbers)
    k = _said(call, "aggr", 3)
    if len(names) > 1:
        steps.groups += 1
    name = "script" if steps.groups == 1 else f"script {steps.groups}"
    group = {"group": name} if len(names) > 1 else {}
    steps.change(call, {"microaggregate": {"k": k} | group} if is_count(k) else None, names)
    _tell_method(steps, call, "mdav", "mdav")


def _randomize(steps: ScriptSteps, call: RCall) -> None:
    """Convert PRAM; `pd` is the minimum probability of staying."""
    names = steps.concerned(call, "variables", steps.categories)
    stay = _said(call, "pd", 0.8)
    steps.change(call, {"pram": {"retention": stay}} if is_number(stay) else None, names)
    steps.list_dropped(call, "strata_variables", "alpha")


def _disturb(steps: ScriptSteps, call: RCall) -> None:
    """Convert noise in percent of the standard deviation."""
    _change_by_percent(steps, call, "noise", _said(call, "noise", 150))
    _tell_method(steps, call, "additive", "additive noise")


def _swap(steps: ScriptSteps, call: RCall) -> None:
    _change_by_percent(steps, call, "swap", _said(call, "P", 5))
    steps.list_dropped(call, "TopPercent", "BottomPercent", "K0", "R0")


def _change_by_percent(steps: ScriptSteps, call: RCall, operation: str, percent: Any) -> None:
    names = steps.concerned(call, "variables", steps.numbers)
    steps.change(call, {operation: {"share": percent / 100}} if is_number(percent) else None, names)


def _code(steps: ScriptSteps, call: RCall) -> None:
    """Convert top and bottom coding; values beyond the limit get a label instead of a replacement number."""
    kind, value = _said(call, "kind", "top"), _said(call, "value", None)
    # A plain number between 0 and 1 would be read as a proportion of the rows.
    limit = {"value": value} if is_number(value) and 0 < value < 1 else value
    plain = kind in ("top", "bottom") and is_number(value)
    steps.change(call, {str(kind): limit} if plain else None, steps.concerned(call, "column", steps.numbers))
    if "replacement" in call.arguments:
        steps.leave(call, "values beyond are published as >value or <value instead of the replacement")


def _said(call: RCall, key: str, default: Any) -> Any:
    """Return an argument or its default in R; None if it must be computed."""
    return None if key in call.computed else call.arguments.get(key, default)


def _tell_method(steps: ScriptSteps, call: RCall, usual: str, here: str) -> None:
    method = _said(call, "method", usual)
    if method not in (usual, None):
        steps.leave(call, f"the method {method} is {here} here")
    steps.list_dropped(call, "strata_variables", "weights")


# If one of these cannot be read, the privacy parameters of the script are unknown.
PROMISES = ("createSdcObj", "kAnon", "localSuppression")
TRANSLATIONS: dict[str, Callable[[ScriptSteps, RCall], None]] = {
    "createSdcObj": ScriptSteps.create,
    "kAnon": ScriptSteps.suppress,
    "localSuppression": ScriptSteps.suppress,
    "microaggregation": _aggregate,
    "pram": _randomize,
    "addNoise": _disturb,
    "rankSwap": _swap,
    "topBotCoding": _code,
    "globalRecode": ScriptSteps.recode,
    "ldiversity": ScriptSteps.diversify,
    "removeDirectID": ScriptSteps.remove,
    "groupAndRename": ScriptSteps.regroup,
}
