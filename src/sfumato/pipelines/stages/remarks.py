"""Remarks on a release: what a reader should know besides its promises."""

from sfumato.engines.engine import Engine
from sfumato.microdata.measures.disclosure import Disclosure
from sfumato.microdata.measures.release import Measures
from sfumato.microdata.plan.model import Plan

RISKS_OF_PERSONS = "The risks count persons: that of a row is 1 / persons of its class."
# A greater share of rows that columns besides the quasi-identifiers make unique is warned about.
_MOST_UNIQUE = 0.5


def repeating_identifiers(plan: Plan, source: Engine) -> tuple[str, ...]:
    """Warnings on identifiers that repeat as keys do: they may name persons, whom promises then do not count."""
    names = () if plan.person is not None else plan.named("identifier")
    return tuple(
        f'The identifier "{name}" repeats: if it names a person, promises count rows where they should count '
        "persons. Give it role: person."
        for name in names
        if _is_key_of_persons(plan, source, name)
    )


def _is_key_of_persons(plan: Plan, source: Engine, name: str) -> bool:
    from sfumato.hierarchies.suggest.profile import Profile
    from sfumato.hierarchies.suggest.roles import may_name_persons

    texts = source.first_texts(name)
    present = {text: rows for text, rows in texts.items() if text not in plan.data.missing}
    return may_name_persons(Profile(name, present, sum(present.values())))


def risks_of_persons(plan: Plan) -> tuple[str, ...]:
    """What the risks count, where it is persons."""
    return () if plan.person is None else (RISKS_OF_PERSONS,)


def telling_columns(disclosed: Disclosure, rows: int) -> tuple[str, ...]:
    """A warning on published columns that make most rows unique: no promise is about them."""
    worst = disclosed.most_telling
    if worst is None or worst.rows <= _MOST_UNIQUE * rows:
        return ()
    names = " and ".join(f'"{name}"' for name in worst.columns)
    return (
        f"{names} single out {worst.rows:,} of {rows:,} published rows, and no promise is about that: whoever knows "
        "these values of a person finds the row. Publish them rounded (publish), or withhold them (role: identifier).",
    )


def matching_values(measures: Measures) -> tuple[str, ...]:
    """What a reader of the risks should know where missing values match anything."""
    matching = measures.risk.get("matching")
    if matching is None:
        return ()
    highest = matching["after"]["highest"]
    return (
        "The risks count a missing value as a value of its own, which is the higher risk; where it matches anything, "
        f"the highest risk after is {highest:.4g}.",
    )
