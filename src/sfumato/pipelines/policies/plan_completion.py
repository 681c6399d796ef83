"""Complete a plan by the policy that it names, and check what is published against the policy."""

import math
from collections.abc import Mapping
from datetime import date
from typing import Any

from sfumato.engines.engine import Engine
from sfumato.errors import PlanError, ViolationError
from sfumato.microdata.plan.model import Plan, RequestedPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.write import plan_dict
from sfumato.pipelines.plan_suggestion.plan_draft import SuggestedPlan
from sfumato.pipelines.plan_suggestion.progress import ProgressReporter
from sfumato.pipelines.policies.inputs import people_of
from sfumato.pipelines.policies.rows_evidence import measure_rows, profiles_of, roles_of
from sfumato.pipelines.policies.safe_harbor_columns import safe_harbor_column
from sfumato.pipelines.suggest import suggest_plan
from sfumato.policies.evaluation import PolicyVerdict, judge_policy
from sfumato.policies.policy import Policy
from sfumato.policies.presets import policy_named
from sfumato.policies.safe_harbor.columns import SafeHarborContext

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
        raise PlanError(f"policy: {policy.id} is about tables.", "Use sf.suppress or sfumato protect.", "no-policy")
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
        raise PlanError(
            "policy: no column is left that could be published.", "Say yourself what columns are.", "policy"
        )
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
        raise ViolationError(
            f"{policy.id}: {verdict.line}; failed: {', '.join(verdict.failed)}.",
            "Change the columns concerned, or promise more; nothing was published.",
            "policy",
        )
    return verdict
