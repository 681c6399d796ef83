"""Complete a plan by the policy that it names, and check what is published against the policy."""

import math
from collections.abc import Mapping
from datetime import date
from typing import Any

from sfumato.engines.engine import Engine
from sfumato.errors import PlanError, ViolationError
from sfumato.hierarchies.role_detection.date_formats import date_hierarchy
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.microdata.plan.model import Plan, RequestedPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.write import plan_dict
from sfumato.pipelines.plan_suggestion.plan_draft import SuggestedPlan
from sfumato.pipelines.plan_suggestion.progress import ProgressReporter
from sfumato.pipelines.policies.inputs import people_of
from sfumato.pipelines.policies.rows_evidence import measure_rows, profiles_of, roles_of
from sfumato.pipelines.suggest import suggest_plan
from sfumato.policies.evaluation import PolicyVerdict, judge_policy
from sfumato.policies.policy import Policy
from sfumato.policies.presets import policy_named
from sfumato.policies.safe_harbor.columns import SafeHarborContext, column_identifiers
from sfumato.policies.safe_harbor.places import area_shown, is_zip_column
from sfumato.policies.safe_harbor.times import OLDEST_SHOWN, latest_years

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
    from dataclasses import replace

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
