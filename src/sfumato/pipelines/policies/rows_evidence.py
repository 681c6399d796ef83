"""Measure published rows for the clauses of a policy."""

from collections.abc import Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.engines.engine import Engine, MissingRules
from sfumato.engines.identifier_checks import check_header
from sfumato.errors import PlanError, did_you_mean
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.published_table import classes_of
from sfumato.policies.evaluation import Measurement
from sfumato.policies.safe_harbor.columns import SafeHarborContext, identifiers_of
from sfumato.policies.safe_harbor.values import is_bare_hash

_NO_CLASSES = "no column is a quasi-identifier: name them, or give the plan."
_NO_VALUES = "no column is sensitive: name it, or give the plan."
_FREE_TEXT = "free text is searched for numbers, addresses and dates; names in it are not told: "


@dataclass(frozen=True, slots=True)
class Roles:
    """The quasi-identifiers and sensitive columns, and whether they were guessed."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    guessed: bool = False


def profiles_of(engine: Engine) -> tuple[Profile, ...]:
    """Return the profiles of a file's columns."""
    return tuple(_profile(engine, name) for name in engine.columns)


def _profile(engine: Engine, name: str) -> Profile:
    text_counts = engine.count([name], MissingRules())
    texts = [text_counts.values[0][code] for code in text_counts.codes[:, 0].tolist()]
    pairs = list(zip(texts, text_counts.counts.tolist(), strict=True))
    present = {text: rows for text, rows in pairs if text is not None}
    return Profile(name, present, text_counts.rows, text_counts.rows - sum(present.values()))


def roles_of(
    engine: Engine,
    profiles: Sequence[Profile],
    plan: Plan | None,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
) -> Roles:
    """Return the roles given by the caller or the plan; guessed otherwise."""
    for name in (*(quasi_identifiers or ()), *(sensitive or ())):
        check_header([name], engine.columns)
        if name not in engine.columns:
            raise PlanError("columns.the_file_has_no", hint=did_you_mean(name, engine.columns), column=name)
    if quasi_identifiers or sensitive:
        return Roles(tuple(quasi_identifiers or ()), tuple(sensitive or ()))
    if plan is not None:
        there = [name for name in plan.quasi_identifiers if name in engine.columns]
        return Roles(tuple(there), tuple(name for name in plan.shown_sensitive if name in engine.columns))
    roles = {profile.name: suggest(profile).role for profile in profiles}
    known = tuple(name for name, role in roles.items() if role == "quasi-identifier")
    return Roles(known, tuple(name for name, role in roles.items() if role == "sensitive"), guessed=True)


def measure_rows(
    engine: Engine, profiles: Sequence[Profile], roles: Roles, setting: SafeHarborContext, plan: Plan | None
) -> tuple[dict[str, Measurement], tuple[str, ...]]:
    """Return the measurements of a file by metric, and remarks."""
    identifiers = identifiers_of(profiles, setting)
    kinds = {f"identifier {kind}": columns for kind, columns in identifiers.kinds.items()}
    measured = _Identifiers(
        {metric: Measurement(len(columns), _reasons(columns), tuple(columns)) for metric, columns in kinds.items()}
    )
    measured |= _class_figures(engine, roles) | _value_figures(engine, roles) | _technique_figures(profiles, plan)
    text = (_FREE_TEXT + ", ".join(identifiers.free_text) + ".",) if identifiers.free_text else ()
    return measured, text


class _Identifiers(dict[str, Measurement]):
    """Measurements by metric; kinds of identifiers that no column contains count as 0."""

    def get(self, metric: str, default: Measurement | None = None) -> Measurement | None:  # type: ignore[override]
        if metric.startswith("identifier "):
            return super().get(metric, Measurement(0))
        return super().get(metric, default)


def _reasons(columns: dict[str, str]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in columns.items())


def _class_figures(engine: Engine, roles: Roles) -> dict[str, Measurement]:
    """Return the metrics of class sizes, without rows of `*`."""
    names = ("sample-uniques", "smallest-class", "highest-risk")
    if not roles.quasi_identifiers:
        return dict.fromkeys(names, Measurement(None, _NO_CLASSES))
    text_counts = engine.count(roles.quasi_identifiers, MissingRules())
    sizes = classes_of(text_counts, roles.quasi_identifiers, set(), ()).visible.sizes
    if not len(sizes):
        return dict.fromkeys(names, Measurement(None, "no row tells anything by which it could be found."))
    smallest = int(sizes.min())
    figures = (int((sizes == 1).sum()), smallest, 1 / smallest)
    remark = "by " + ", ".join(roles.quasi_identifiers) + (" (guessed)" if roles.guessed else "")
    return {name: Measurement(figure, remark) for name, figure in zip(names, figures, strict=True)}


def _value_figures(engine: Engine, roles: Roles) -> dict[str, Measurement]:
    """Return the least number of distinct sensitive values in a class."""
    if not roles.quasi_identifiers or not roles.sensitive:
        why = _NO_CLASSES if not roles.quasi_identifiers else _NO_VALUES
        return {"smallest-l": Measurement(None, why)}
    least = {name: _least_values(engine, roles.quasi_identifiers, name) for name in roles.sensitive}
    worst = min(least, key=lambda name: least[name])
    return {"smallest-l": Measurement(least[worst], f"of {worst}")}


def _least_values(engine: Engine, names: Sequence[str], column: str) -> int:
    text_counts = engine.count((*names, column), MissingRules())
    content = classes_of(text_counts, names, {column}, ()).visible.sensitive[column]
    return int(np.bincount(content.owners[content.counts > 0]).min(initial=content.size))


def _technique_figures(profiles: Sequence[Profile], plan: Plan | None) -> dict[str, Measurement]:
    """Return columns with bare hashes, and columns whose transformation cannot be classified."""
    hashes = [profile.name for profile in profiles if profile.sample and profile.share(is_bare_hash) > 0.5]
    keyed = plan.publishes_keys if plan is not None else False
    bare = () if keyed else tuple(hashes)
    unknown = Measurement(None, "without the plan nobody knows what was done to the columns.")
    others = tuple(profile.name for profile in profiles if plan is not None and profile.name not in plan.columns)
    techniques = unknown if plan is None else Measurement(len(others), "; ".join(techniques_of(plan)), others)
    return {
        "bare-hashes": Measurement(len(bare), "written like hashes" if bare else "", bare),
        "unclassified-transformations": techniques,
    }


def techniques_of(plan: Plan) -> list[str]:
    """Return the technique applied to each column, in the classes of the ISO/IEC 20889 taxonomy."""
    return [f"{name}: {_technique(plan, name)}" for name in plan.columns]


def _technique(plan: Plan, name: str) -> str:
    column = plan.columns[name]
    if name in plan.removed_columns:
        return "suppression"
    if column.publish == "key":
        return "pseudonymisation"
    if column.perturbation is not None:
        return "aggregation" if column.role == "quasi-identifier" else "randomisation"
    if column.role == "quasi-identifier":
        return "generalisation"
    return "generalisation" if column.operations is not None else "none"
