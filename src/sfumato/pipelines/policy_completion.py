"""Complete a plan by the policy that it names, and measure published rows for the clauses of the policy."""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.engines.engine import Engine, MissingRules
from sfumato.engines.opening import open_frame
from sfumato.engines.postprocessing import open_published
from sfumato.engines.sql import check_header
from sfumato.errors import DataError, PlanError, ViolationError, did_you_mean
from sfumato.hierarchies.role_detection.date_formats import date_hierarchy
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.model import Plan, RequestedPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.write import plan_dict
from sfumato.microdata.published_table import classes_of
from sfumato.pipelines.plan_suggestion.counted_rows import ProgressReporter
from sfumato.pipelines.plan_suggestion.plan_draft import SuggestedPlan
from sfumato.pipelines.suggest import suggest_plan
from sfumato.policies.identifiers import SafeHarborContext, column_identifiers, identifiers_of, is_bare_hash
from sfumato.policies.places_and_dates import OLDEST_SHOWN, area_shown, is_zip_column, latest_years
from sfumato.policies.policy import Measurement, Policy, PolicyVerdict, judge_policy, policy_named
from sfumato.values import Value

_NO_CLASSES = "no column is a quasi-identifier: name them, or give the plan."
_NO_VALUES = "no column is sensitive: name it, or give the plan."


class Roles(Value):
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
            raise PlanError("columns.not_in_file", hint=did_you_mean(name, engine.columns), column=name)
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
) -> tuple[dict[str, Measurement], tuple[Message, ...]]:
    """Return the measurements of a file by metric, and remarks."""
    identifiers = identifiers_of(profiles, setting)
    kinds = {f"identifier {kind}": columns for kind, columns in identifiers.kinds.items()}
    measured = _Identifiers(
        {metric: Measurement(len(columns), _reasons(columns), tuple(columns)) for metric, columns in kinds.items()}
    )
    measured |= _class_figures(engine, roles) | _value_figures(engine, roles) | _technique_figures(profiles, plan)
    text = (Message("note.free_text", columns=", ".join(identifiers.free_text)),) if identifiers.free_text else ()
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


def opened(data: Any, reading: DataPlan, quotes: bool = False) -> Engine:
    """Open a frame, or a file in which formulas may be quoted."""
    if isinstance(data, Path):
        return open_published(data, reading, quotes)
    return open_frame(data)


def people_of(population: Any) -> dict[str, int] | None:
    """Return the population of each three-digit ZIP area, from a file or frame with both columns."""
    if population is None:
        return None
    data = Path(population) if isinstance(population, str | Path) else population
    with closing(opened(data, DataPlan(header=True))) as engine:
        if not {"zip3", "people"} <= {*engine.columns}:
            raise PlanError("population.the_population_needs_the_columns")
        text_counts = engine.count(("zip3", "people"), MissingRules())
    texts, numbers = text_counts.values
    try:
        return {
            str(texts[zip3]).zfill(3): int(float(str(numbers[people]))) for zip3, people in text_counts.codes.tolist()
        }
    except ValueError:
        raise DataError("population") from None


WITHHELD = {"role": "identifier"}
OLDEST = 120
# Methods with levels respect the policy's minimum level of each column.
METHOD = {"name": "optimal", "suppression": 0.02}
K = 5


def policy_of(plan: RequestedPlan) -> Policy | None:
    """Return the policy that a plan names, with the plan's values.

    Raises:
        PlanError: It is not about rows.
    """
    if plan.policy is None:
        return None
    policy = policy_named(plan.policy.name, plan.policy.values)
    if policy.about != "rows":
        raise PlanError("no-policy.is_about_tables", id=policy.id)
    return policy


def with_policy(plan: RequestedPlan, source: Engine, looking: ProgressReporter | None = None) -> RequestedPlan:
    """Return the plan completed by its policy: missing columns, privacy models and method.

    Args:
        looking: Receives the progress of profiling the rows.
    """
    policy = policy_of(plan)
    if policy is None:
        return plan
    proposal = suggest_plan(source, looking=looking)
    setting = setting_of(plan)
    columns = {name: column for name, column in proposal.plan["columns"].items() if name not in plan.columns}
    if policy.id == "hipaa-safe-harbor":
        profiles = {profile.name: profile for profile in proposal.profiles}
        columns = {name: safe_harbor_column(profiles[name], column, setting) for name, column in columns.items()}
    said = plan_dict(plan)
    whole = said | {"columns": _ordered(said.get("columns", {}), columns, source), "data": _data(said, proposal)}
    whole |= {} if plan.privacy else {"privacy": _promises(policy, whole["columns"], proposal)}
    whole |= {"method": METHOD} if "method" not in plan.text else {}
    read = read_plan(_with_one_quasi_identifier(whole), plan.folder)
    return _kept(read, plan)


def _kept(read: RequestedPlan, plan: RequestedPlan) -> RequestedPlan:
    """Return a plan that was read again, with the attributes that its text does not have."""
    from sfumato.values import replace

    return replace(read, secret=plan.secret, person_secret=plan.person_secret, text=plan.text)


def _ordered(said: Mapping[str, Any], chosen: Mapping[str, Any], source: Engine) -> dict[str, Any]:
    both = {**said, **chosen}
    return {name: both[name] for name in (*source.columns, *said) if name in both}


def _data(said: Mapping[str, Any], proposal: SuggestedPlan) -> dict[str, Any]:
    """Return the data section of the plan; missing values and the handling of invalid ones are as suggested."""
    proposed = {key: value for key, value in proposal.plan["data"].items() if key in ("missing", "on_invalid")}
    return {**proposed, **{key: value for key, value in said.get("data", {}).items() if key not in proposed}}


def _promises(policy: Policy, columns: Mapping[str, Any], proposal: SuggestedPlan) -> list[dict[str, Any]]:
    """Return the models that a policy's clauses require: k-anonymity, and distinct l-diversity."""
    k, least = 0, 0
    for clause in policy.clauses:
        if clause.metric == "smallest-class" and clause.value:
            k = max(k, math.ceil(clause.value))
        if clause.metric == "highest-risk" and clause.value:
            k = max(k, math.ceil(1 / clause.value))
        if clause.metric == "smallest-l" and clause.value:
            least = max(least, math.ceil(clause.value))
    rows = proposal.profiles[0].rows
    sensitive = [name for name, column in columns.items() if column["role"] == "sensitive"]
    diverse = [{"model": "l-diversity", "variant": "distinct", "l": least, "column": name} for name in sensitive]
    return [{"model": "k-anonymity", "k": k or min(K, rows)}, *(diverse if least > 1 else [])]


def _with_one_quasi_identifier(whole: dict[str, Any]) -> dict[str, Any]:
    """Return the plan with at least one quasi-identifier, even if the policy removes all of them."""
    columns = whole["columns"]
    if any(column["role"] == "quasi-identifier" for column in columns.values()):
        return whole
    first = next((name for name, column in columns.items() if column["role"] == "insensitive"), None)
    if first is None:
        raise PlanError("policy")
    chosen = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    return whole | {"columns": {**columns, first: chosen}}


def setting_of(plan: RequestedPlan) -> SafeHarborContext:
    """Return the context for evaluating rows, as the plan gives it."""
    assert plan.policy is not None
    people = None if plan.policy.zip_population is None else people_of(plan.policy.zip_population.within(plan.folder))
    return SafeHarborContext(date.today(), people, plan.policy.code_column)


def judge_published(plan: Plan, published: Engine) -> PolicyVerdict | None:
    """Return the verdict of the plan's policy on published rows, or None without a policy.

    Raises:
        ViolationError: A clause fails, so nothing is published.
    """
    policy = policy_of(plan)
    if policy is None or plan.policy is None:
        return None
    profiles = profiles_of(published)
    roles = roles_of(published, profiles, plan, None, None)
    measured, remarks = measure_rows(published, profiles, roles, setting_of(plan), plan)
    verdict = judge_policy(policy, measured, plan.policy.attested, remarks)
    if not verdict.satisfied:
        raise ViolationError("policy", id=policy.id, line=verdict.line, names=", ".join(verdict.failed))
    return verdict


def safe_harbor_column(profile: Profile, proposed: dict[str, Any], setting: SafeHarborContext) -> dict[str, Any]:
    """Return the plan entry of a column: as suggested if it has no identifier, otherwise generalized or removed."""
    kinds = {kind for kind, _ in column_identifiers(profile, setting)}
    if not kinds:
        return proposed
    if kinds == {"geography"} and is_zip_column(profile.name):
        return _zip(profile, setting)
    if "dates" in kinds and kinds <= {"dates", "ages"}:
        return _dates(profile, setting if "ages" in kinds else None)
    if kinds == {"ages"} and proposed.get("type") == "integer":
        return _ages(profile)
    return WITHHELD


def _zip(profile: Profile, setting: SafeHarborContext) -> dict[str, Any]:
    """Generalize ZIP codes to three digits, 000 for areas with few people."""
    parents = {value: area_shown(value, setting.people) for value in profile.values}
    parents = {value: area for value, area in parents.items() if area != value}
    return {"role": "quasi-identifier", "hierarchy": {"type": "tree", "parents": parents}, "min_level": 1}


def _dates(profile: Profile, old: SafeHarborContext | None) -> dict[str, Any]:
    """Generalize dates to years; to decades or centuries if years would reveal an age over 89."""
    proposal = date_hierarchy(profile, named=True)
    if proposal is None or proposal[1].get("type") != "date":
        return WITHHELD
    levels = ["year", "decade", "century"] if old is None else _levels_of_the_old(profile, old)
    return {"role": "quasi-identifier", "hierarchy": proposal[1] | {"levels": levels}, "min_level": 1}


def _levels_of_the_old(profile: Profile, setting: SafeHarborContext) -> list[str]:
    """Return decades if each of them includes persons of 89 or younger, otherwise centuries."""
    years = [year for value in profile.values for year in latest_years(value)]
    oldest = min(years, default=0) // 10 * 10 + 9
    return ["century"] if setting.today.year - oldest > OLDEST_SHOWN else ["decade", "century"]


def _ages(profile: Profile) -> dict[str, Any]:
    """Top-code ages over 89."""
    ladder = {"type": "intervals", "start": 0, "end": OLDEST, "top": OLDEST_SHOWN, "widths": [1, 5, 10, 20]}
    fits = all(value.strip().isdecimal() and int(value) <= OLDEST for value in profile.values)
    if not fits:
        return WITHHELD
    return {"role": "quasi-identifier", "type": "integer", "hierarchy": ladder, "min_level": 1}
