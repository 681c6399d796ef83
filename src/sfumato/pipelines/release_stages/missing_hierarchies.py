"""Give quasi-identifiers without a hierarchy the one that `suggest` would propose for their values."""

from collections import Counter

from sfumato.engines.engine import Engine, MissingRules
from sfumato.hierarchies.lists import SuppressAll
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.hierarchies.role_detection.content_detection import content_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.microdata.counts.frequency_table import value_of
from sfumato.microdata.data_plan import code_texts
from sfumato.microdata.plan.model import ColumnPlan, RequestedPlan
from sfumato.microdata.plan.resolve import without_hierarchy
from sfumato.schema.composite import read
from sfumato.values import replace


def with_hierarchies(plan: RequestedPlan, source: Engine) -> RequestedPlan:
    """Return the plan with a hierarchy for each quasi-identifier of the data that needs one and has none."""
    names = [name for name in without_hierarchy(plan) if name in source.columns]
    readable = [name for name in names if name not in source.textless(names)] if names else []
    made = {name: _completed(plan.columns[name], _profile(plan, source, name)) for name in readable}
    return replace(plan, columns={**plan.columns, **made}) if made else plan


def _profile(plan: RequestedPlan, source: Engine, name: str) -> Profile:
    """Return the values of a column, each with its rows."""
    missing = (*plan.data.missing, *code_texts(plan.columns[name].missing))
    counted = source.count((name,), MissingRules())
    texts = [value_of(text, missing) for text in counted.values[0]]
    rows: Counter[str | None] = Counter()
    for code, count in zip(counted.codes[:, 0].tolist(), counted.counts.tolist(), strict=True):
        rows[texts[code]] += count
    absent = rows.pop(None, 0)
    present = {text: count for text, count in rows.items() if text is not None}
    return Profile(name, present, sum(present.values()) + absent, absent)


def _completed(column: ColumnPlan, profile: Profile) -> ColumnPlan:
    """Return a column with the hierarchy of its kind of values, or with one level if some values do not fit."""
    content = content_of(profile)
    fits = not content.rejected and column.type in ("text", content.type)
    if not fits:
        return replace(column, hierarchy=SuppressAll())
    return replace(column, type=content.type, hierarchy=read(HIERARCHY, content.hierarchy))
