"""What reports say in words: about promises, their limits, roles, and what a level does to a column."""

from dataclasses import dataclass

from sfumato.hierarchies.dates import LEVELS, Dates
from sfumato.hierarchies.digits import Digits
from sfumato.hierarchies.ladder import Hierarchy
from sfumato.microdata.models.named_values import named
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.verdict import Promise

CHECKED = "Checked on the written rows themselves: they were read back, counted anew and judged apart from the search."
STARRED = (
    "Suppressed rows are published with * in every quasi-identifier, and in sensitive columns where those would betray "
    "something: they tell nothing by which a person could be found, and are no class."
)
HOUSE = (
    "This report is for the house, and so are report.json, plan.yaml, recoding.json and nodes.csv: they tell of raw "
    "values and of single classes. To hand out there is report-external."
)
SHUFFLED = (
    "The order of the rows was drawn from the seed: whoever knows it can put the published rows back into the order of "
    "the raw file. Keep it to the house."
)


@dataclass(frozen=True, slots=True)
class Wording:
    """How a model is put into words.

    Attributes:
        says: What it promises, with all that was asked; {found} is where the next may stand.
        found: What was reached, for the house alone: it tells of single classes.
        limit: What it does not protect against.
    """

    says: str
    found: str
    limit: str


PROMISES: dict[str, Wording] = {
    "k-anonymity": Wording(
        "Nobody can be singled out by the quasi-identifiers: every combination that is published stands for at least "
        "{asked} rows{found}.",
        " (the smallest has {reached})",
        "k-anonymity does not hide a sensitive value that all rows of a class share, nor does it help against someone "
        "who knows more of a person than the quasi-identifiers.",
    ),
    "k-map": Wording(
        "Every combination that is published stands for at least {asked} persons of the population{found}.",
        " (reached: {reached})",
        "k-map rests on the population table, and is weaker against someone who knows that a person is in the data.",
    ),
    "alpha-k-anonymity": Wording(
        "Every class has at least {k} rows, and {limited} makes up more than a share of {asked} of a class{found}.",
        " (highest: {reached})",
        "(α,k)-anonymity does not bound what is learned of a value that is rare overall and frequent in a class.",
    ),
    "l-diversity": Wording(
        "In every class {column} has at least {asked} well-represented values{found}, so that being found in a class "
        "does not tell the value.",
        " (reached: {reached})",
        "l-diversity does not help where different values mean much the same, nor against skewed classes.",
    ),
    "t-closeness": Wording(
        "In every class {column} is distributed nearly as in the whole table: a distance of at most {asked}{found}.",
        " (largest: {reached})",
        "t-closeness does not hinder singling out, and bounds distances, not the gain about a rare value.",
    ),
    "delta-disclosure": Wording(
        "In every class every value of {column} is about as frequent as overall: δ at most {asked}{found}.",
        " (reached: {reached})",
        "δ-disclosure privacy says nothing about singling out: it belongs with k-anonymity.",
    ),
    "beta-likeness": Wording(
        "In no class does the share of a value of {column} exceed its share overall by more than β = {asked} times "
        "the latter{found}.",
        " (reached: {reached})",
        "β-likeness bounds what is gained about a value, not what its absence tells.",
    ),
    "delta-presence": Wording(
        "In every class at least a share of {lower} and at most a share of {asked} of the rows is in the study, as "
        "{column} marks it{found}: with no more certainty can it be told whether a person is.",
        " (highest: {reached})",
        "δ-presence does not protect other sensitive values, nor against someone with a better list of persons.",
    ),
    "average-risk": Wording(
        "On average a published row is found with a probability of at most {asked}{found}.",
        " (reached: {reached})",
        "An average says nothing of single persons: some may still be unique.",
    ),
    "sample-uniqueness": Wording(
        "At most a share of {asked} of the published rows is alone in its class{found}.",
        " (reached: {reached})",
        "Rows that remain unique are not protected at all.",
    ),
}
ROLES = {
    "identifier": "identifier",
    "quasi-identifier": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}
FATES = {
    "identifier": "Removed: every row has * here.",
    "sensitive": "Published as it is. No promise is made about it beyond those for whole rows.",
    "insensitive": "Published as it is: the plan says that nobody can be found by it.",
}
JUDGED = "Published as it is, under the promise made about it above."
FIGURES = {
    "rows": "rows",
    "classes": "classes",
    "smallest": "rows of the smallest class",
    "largest": "rows of the largest class",
    "highest": "highest risk of a row",
    "average": "average risk of a row",
    "uniques": "rows that are unique",
    "rows_above": "rows above the risk threshold",
    "share_above": "their share",
    "threshold": "risk threshold",
}
LIMITS = (
    "What counts as a quasi-identifier is a decision of the plan. A column that others know of a person, and that the "
    "plan does not treat as one, can still single that person out.",
    "The promises are for this release alone. Together with another release of the same persons it may tell more.",
    "Technical measures do not replace the legal assessment of whether the data may be published.",
)


def promised(promise: Promise, plan: Plan | None = None, star_rows: bool = False, outside: bool = False) -> str:
    """A promise in a sentence, and that it does not hold where it does not.

    Args:
        plan: What was asked, where it is known.
        star_rows: Whether suppressed rows are published, too.
        outside: Whether the sentence is handed out: then it does not tell what was reached.
    """
    known = PROMISES.get(promise.model)
    says = known.says if known else promise.model + ": asked {asked}{found}."
    found = "" if outside else (known.found if known else ", reached {reached}")
    pattern = (save_stars(says) if star_rows else says).replace("{found}", found)
    sentence = pattern.format(
        asked=f"{promise.asked:g}",
        reached=_figure(promise.reached),
        column=promise.column or "the sensitive column",
        limited=_limited(promise, plan),
        **{name: promise.parameters.get(name, f"{promise.asked:g}") for name in ("k", "lower")},
    )
    return sentence if promise.holds else sentence + " This does not hold."


def _limited(promise: Promise, plan: Plan | None) -> str:
    """Which values of its column a promise limits: all of them, unless the plan names some."""
    if plan is None:
        return f"no value of {promise.column} that the plan limits"
    asked = (promise.model, promise.column, promise.asked)
    alike = [model for model in plan.privacy if (model.name, model.column, model.asked) == asked]
    if any(named(model) for model in alike):
        return f"none of the values of {promise.column} that the plan names"
    return f"no value of {promise.column}"


def save_stars(pattern: str) -> str:
    """A promise's pattern for a release that also publishes rows with `*` in every quasi-identifier.

    >>> save_stars("every combination that is published stands for 5 rows")
    'every combination that is published, save * in every quasi-identifier, stands for 5 rows'
    """
    return pattern.replace("that is published", "that is published, save * in every quasi-identifier,")


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:.4g}"


def amount(value: float) -> str:
    """A number for people: four digits, large ones whole.

    >>> amount(0.123456), amount(433106.2)
    ('0.1235', '433,106')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def limits(models: tuple[str, ...]) -> list[str]:
    """What the promises do not protect against, and what no promise does."""
    own = [PROMISES[model].limit for model in dict.fromkeys(models) if model in PROMISES]
    return [*own, *LIMITS]


def untouched(role: str, judged: bool) -> str | None:
    """What happens to a column that is no quasi-identifier; None for one that is."""
    return JUDGED if judged else FATES.get(role)


def fate(hierarchy: Hierarchy | None, level: int, top: int) -> str:
    """What a level does to a column, in words."""
    if level == 0:
        return "Published as it is."
    if level == top:
        return "Withheld: every row has * here."
    if isinstance(hierarchy, Dates):
        return f"Published by {_rung(hierarchy, level)} instead of the day (level {level} of {top})."
    if isinstance(hierarchy, Digits):
        side = "last" if hierarchy.side == "right" else "first"
        shown = "character is" if level == 1 else f"{level} characters are"
        return f"The {side} {shown} masked (level {level} of {top})."
    return f"Published in groups (level {level} of {top})."


def _rung(hierarchy: Dates, level: int) -> str:
    named = [name for name in hierarchy.levels or LEVELS if name not in ("day", "any")]
    return named[level - 1].replace("-", " ") if level <= len(named) else "a coarser period"
