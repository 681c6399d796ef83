"""Convert sdcMicro scripts (R) to plans; docs/tutorials/from-sdcmicro.md lists the supported calls."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.errors import DataError, EngineError
from sfumato.pipelines.migration.project import ImportedProject
from sfumato.pipelines.migration.r_calls import RCall, read_calls
from sfumato.pipelines.migration.r_reading import READERS
from sfumato.pipelines.migration.sdcmicro_steps import ScriptSteps, is_count, is_number

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
