"""The `purpose` of a plan: the questions that analysts ask of the release, and which columns each of them uses."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from sfumato.errors import PlanIssue, did_you_mean, issue
from sfumato.localization.messages import Message
from sfumato.microdata.questions.formula import Formula, columns_in, parse_expression, parse_formula
from sfumato.schema.composite import Conversion, ListSchema, Text, UnionSchema, read
from sfumato.schema.dataclass_schema import KeyInfo, record_of
from sfumato.schema.typed_parts import PlanPart
from sfumato.values import asdict

Family = Literal["gaussian", "binomial", "poisson", "cox"]
# What a question needs a column for; `cluster` is the key `groups`, `group` what a table is divided by.
Part = Literal["outcome", "predictor", "group", "weight", "offset", "filter", "within", "cluster"]


class Question(PlanPart):
    """A question: a regression, or a table of means or counts.

    Attributes:
        family: The distribution of the outcome; by default binomial if it has two values, else gaussian.
        filter: The rows that it is about, such as `age >= 18 and vote in ["Y", "N"]`.
        weights: The column with the weight of a row.
        offset: What is added to the linear predictor, such as `log(exposure)`.
        groups: The column whose rows are not independent; standard errors are clustered by it.
        within: The column with fixed effects: only differences within its values count.
        focus: The predictors that matter; the others are adjusted for. All by default.
    """

    formula: Annotated[str, KeyInfo("such as deny ~ pirat + afam, mean of readk by stark, or count by region, year")]
    family: Annotated[Family | None, KeyInfo("distribution of the outcome; by default binomial for two values")] = None
    filter: Annotated[str | None, KeyInfo('rows that it is about, such as age >= 18 and vote in ["Y", "N"]')] = None
    weights: Annotated[str | None, KeyInfo("column with the weight of a row")] = None
    offset: Annotated[str | None, KeyInfo("added to the linear predictor, such as log(exposure)")] = None
    groups: Annotated[str | None, KeyInfo("column by which standard errors are clustered")] = None
    within: Annotated[str | None, KeyInfo("column with fixed effects; only differences within it count")] = None
    focus: Annotated[tuple[str, ...], KeyInfo("predictors that matter; all by default")] = ()

    def check_part(self) -> None:
        """Refuse formulas that cannot be read, and settings that do not go together."""
        kind = self.parsed.kind
        for text in (self.filter, self.offset):
            if text is not None:
                parse_expression(text)
        of_models = {"family": self.family, "offset": self.offset, "groups": self.groups, "within": self.within}
        if kind in ("means", "counts") and (wrong := [key for key, part in of_models.items() if part is not None]):
            raise ValueError(Message("error.value.question_table_key", name=", ".join(wrong)))
        if self.family not in ((None, "cox") if kind == "survival" else (None, "gaussian", "binomial", "poisson")):
            raise ValueError(Message("error.value.question_cox"))
        survival_keys = [key for key in ("weights", "offset", "within") if getattr(self, key) is not None]
        if kind == "survival" and survival_keys:
            raise ValueError(Message("error.value.question_cox_key", name=", ".join(survival_keys)))
        if self.within is not None and self.family not in (None, "gaussian"):
            raise ValueError(Message("error.value.question_within"))

    @property
    def parsed(self) -> Formula:
        """The formula, read."""
        return parse_formula(self.formula)

    def columns(self) -> dict[str, tuple[Part, ...]]:
        """Return the columns that the question uses, and what for.

        >>> Question("deny ~ pirat + C(region)", filter="age > 17", weights="w").columns()
        {'deny': ('outcome',), 'pirat': ('predictor',), 'region': ('predictor',), 'age': ('filter',), 'w': ('weight',)}
        """
        formula, found = self.parsed, dict[str, tuple[Part, ...]]()
        of_table = formula.kind in ("means", "counts")
        used: list[tuple[Part, Iterable[str]]] = [
            ("outcome", columns_in(formula.outcome, formula.event)),
            ("group" if of_table else "predictor", columns_in(*formula.parts)),
            ("filter", columns_in(None if self.filter is None else parse_expression(self.filter))),
            ("weight", [self.weights] if self.weights is not None else []),
            ("offset", columns_in(None if self.offset is None else parse_expression(self.offset))),
            ("cluster", [self.groups] if self.groups is not None else []),
            ("within", [self.within] if self.within is not None else []),
        ]
        for part, names in used:
            for name in names:
                found[name] = (*found.get(name, ()), part)
        return found

    def entry(self) -> str | dict[str, Any]:
        """Return the question as a plan has it: its formula, with the other keys if there are some."""
        given = {key: list(part) if isinstance(part, tuple) else part for key, part in asdict(self).items() if part}
        return self.formula if len(given) == 1 else given


def _question(value: Any) -> Question:
    return Question(value) if isinstance(value, str) else value


QUESTION = Conversion(
    UnionSchema(
        (((str,), Text()), ((Mapping, Question), record_of(Question))),
        "a question: a formula, or a mapping with further keys",
    ),
    _question,
)


class PurposePlan(PlanPart):
    """What the release is for: the questions that it has to answer."""

    questions: Annotated[
        tuple[Question, ...], ListSchema(QUESTION, 1, "what analysts ask: regressions, tables of means and counts")
    ] = ()


PURPOSE = record_of(PurposePlan, "what the release is for; after it, each question is asked of the published rows")


def questions_of(entries: Iterable[Question | str | Mapping[str, Any]]) -> tuple[Question, ...]:
    """Return questions from Python: texts, mappings as in a plan, or questions.

    Raises:
        PlanError: Some cannot be read; the error lists all of them.
    """
    return read(ListSchema(QUESTION), [*entries], "questions")


def unknown_columns(questions: Iterable[Question], columns: Iterable[str], at: str) -> list[PlanIssue]:
    """Return an issue for each column of questions that the data lack, with the nearest name."""
    known = [*columns]
    return [
        issue(f"{at}[{place}]", "no_such_column", hint=did_you_mean(name, known), name=name)
        for place, question in enumerate(questions)
        for name in dict.fromkeys((*question.columns(), *question.focus))
        if name not in known
    ]
