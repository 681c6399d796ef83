"""The plan builder for Python: privacy models first, then one method call per role, each checked immediately."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, Self

from sfumato.atomic_folders import write_text
from sfumato.errors import PlanError, issue
from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.hierarchies.lists import SuppressAll
from sfumato.hierarchies.registry import hierarchy_words
from sfumato.hierarchies.types import ColumnType
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.model import BaseModel, PrivacyModel
from sfumato.microdata.plan import model
from sfumato.microdata.plan.arguments import at_column, given_parts, refuse_contradictions, refuse_promises
from sfumato.microdata.plan.methods import Method, Optimal
from sfumato.microdata.plan.model import ColumnPlan, Language, OnInference, OtherRole, Role
from sfumato.microdata.plan.parts import FilePlan, OutputPlan, PolicyPlan, UtilityPlan
from sfumato.microdata.publish_plan import PublishPlan
from sfumato.microdata.questions.question import PurposePlan, Question, questions_of
from sfumato.schema.composite import kind_of
from sfumato.schema.release_plan import ReleasePlan

CELL = "text-align:left;vertical-align:top;padding-right:1.5em"
HEAD = ("column", "role", "hierarchy", "reason")
LONGEST = 72
# A privacy model; type checkers know it by the common base class.
AnyModel = BaseModel | PrivacyModel


class Plan(model.RequestedPlan):
    """A microdata plan: privacy models, column roles and the method; every method returns a new plan.

    Args:
        promises: The privacy models of the release.
        method: The method that searches the recoding; `optimal` by default.
        other: The role of columns that the plan does not mention; without it, data with such columns are refused.
        columns: Columns by name, as values; methods such as `quasi` are easier.
        privacy: Further privacy models.
        data, output, utility, release, purpose, language, seed, policy, previous, files, on_inference: As in a plan.

    >>> from sfumato.hierarchies.builders import digits, intervals
    >>> from sfumato.microdata.models.k_anonymity import KAnonymity
    >>> plan = Plan(KAnonymity(5), other="insensitive").identifiers("name").quasi("sex", zip=digits(5))
    >>> plan
    Plan(k-anonymity 5; 1 identifier, 2 quasi-identifiers, others insensitive; optimal)
    """

    __slots__ = ()

    def __init__(
        self,
        *promises: AnyModel,
        method: Method | None = None,
        other: OtherRole | None = None,
        columns: Mapping[str, ColumnPlan] | None = None,
        privacy: Sequence[PrivacyModel] = (),
        version: int = 1,
        data: DataPlan | None = None,
        seed: int | None = None,
        output: OutputPlan | None = None,
        utility: UtilityPlan | None = None,
        release: ReleasePlan | None = None,
        language: Language = "en",
        folder: str | Path | None = None,
        text: Mapping[str, Any] | None = None,
        secret: str = "",
        reasons: Mapping[str, str] | None = None,
        policy: PolicyPlan | str | None = None,
        previous: Sequence[str] = (),
        person_secret: str = "",
        files: Mapping[str, FilePlan] | None = None,
        notes: Sequence[Message] = (),
        on_inference: OnInference = "refuse",
        purpose: PurposePlan | None = None,
    ) -> None:
        promised: tuple[Any, ...] = (*promises, *privacy)
        parts = given_parts(
            promised,
            columns or {},
            {
                "method": method,
                "data": data,
                "output": output,
                "utility": utility,
                "release": release,
                "purpose": purpose,
            },
            {
                "other": other,
                "language": language,
                "on_inference": on_inference,
                "seed": seed,
                "policy": policy,
                "previous": previous,
                "files": files or None,
                "version": version,
            },
        )
        own = dict(columns or {})
        super().__init__(
            columns={**own, **_promised(promised[: len(promises)], own)},
            privacy=promised,
            data=data or DataPlan(),
            method=method or Optimal(),
            output=output or OutputPlan(),
            utility=utility or UtilityPlan(),
            release=release or ReleasePlan(),
            folder=Path(folder or ""),
            text=text or {},
            secret=secret,
            reasons=reasons or {},
            person_secret=person_secret,
            notes=tuple(notes),
            purpose=purpose or PurposePlan(),
            **parts,
        )
        refuse_contradictions(self)

    @classmethod
    def of(cls, plan: model.RequestedPlan) -> Self:
        """Return a builder that starts from an existing plan."""
        if isinstance(plan, cls):
            return plan
        return cls(**{part.name: getattr(plan, part.name) for part in fields(plan)})

    def identifiers(self, *names: str) -> Self:
        """Return the plan with identifiers: they are published as `*`."""
        return self._with(names, ColumnPlan("identifier"))

    def quasi(self, *names: str, **hierarchies: HierarchyBuilder | ColumnPlan) -> Self:
        """Return the plan with quasi-identifiers, which an attacker may know.

        Args:
            names: Columns that are published unchanged or as `*`.
            hierarchies: Columns and their hierarchies: `age=sf.intervals(5, 10, 20)`. Columns whose names are
                no Python identifiers need `column`.
        """
        columns = dict.fromkeys(_texts(names), ColumnPlan("quasi-identifier", hierarchy=SuppressAll()))
        return self._having(columns | {name: _quasi(name, entry) for name, entry in hierarchies.items()})

    def sensitive(self, *names: str, missing: Sequence[str | float] = ()) -> Self:
        """Return the plan with sensitive columns, which must not be inferred about a person; published unchanged.

        Args:
            missing: Codes that mean missing in each of these columns; they are published as blanks.
        """
        return self._published("sensitive", names, missing)

    def insensitive(self, *names: str, missing: Sequence[str | float] = ()) -> Self:
        """Return the plan with columns that are published unchanged and that no privacy model uses.

        Args:
            missing: Codes that mean missing in each of these columns; they are published as blanks.
        """
        return self._published("insensitive", names, missing)

    def persons(self, name: str, publish: Literal["key"] | None = None) -> Self:
        """Return the plan with the column that identifies the person of a row, so that models count persons."""
        return self._with((name,), ColumnPlan("person", publish=publish))

    def column(
        self,
        name: str,
        role: Role,
        *,
        hierarchy: HierarchyBuilder | None = None,
        type: ColumnType = "text",
        weight: float = 1.0,
        min_level: int = 0,
        max_level: int | None = None,
        importance: float | Literal["never"] = 1.0,
        publish: PublishPlan | Literal["key", "removed"] | None = None,
        missing: Sequence[str | float] = (),
        protect: BaseModel | Mapping[str, Any] | None = None,
    ) -> Self:
        """Return the plan with one column and all its settings."""
        codes: Any = tuple(missing)
        kept: Any = protect
        with at_column(*_texts((name,))):
            column = ColumnPlan(role, type, hierarchy, weight, min_level, max_level, importance, publish, codes, kept)
        return self._having({name: column})

    def require(self, *promises: AnyModel) -> Self:
        """Return the plan with only these models; `plan.require(*plan.privacy, …)` adds models."""
        promised: tuple[Any, ...] = promises
        refuse_promises(promised)
        return self._replaced(privacy=promised, columns={**self.columns, **_promised(promised, self.columns)})

    def by(self, method: Method) -> Self:
        """Return the plan with another method."""
        return self._replaced(method=method)

    def reading(self, data: DataPlan) -> Self:
        """Return the plan with other settings for reading rows."""
        return self._replaced(data=data)

    def writing(self, output: OutputPlan) -> Self:
        """Return the plan with other settings for writing the release."""
        return self._replaced(output=output)

    def asking(self, *questions: Question | str | Mapping[str, Any]) -> Self:
        """Return the plan with the questions that the release has to answer, such as `deny ~ pirat + afam`."""
        return self._replaced(purpose=PurposePlan(questions_of(questions)))

    def without(self, *names: str) -> Self:
        """Return the plan without some columns."""
        absent = [name for name in names if name not in self.columns]
        if absent:
            raise PlanError("columns.not_in_plan", column=absent[0])
        return self._replaced(columns={name: part for name, part in self.columns.items() if name not in names})

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, as `sf.read_plan` takes them."""
        from sfumato.microdata.plan.write import plan_dict

        return plan_dict(self)

    def to_yaml(self) -> str:
        """Return the plan as the text of a plan file."""
        return self._text()

    def save(self, path: str | Path) -> Path:
        """Write the plan file; its paths become relative to its folder."""
        write_text(Path(path), self._text(Path(path).parent))
        return Path(path)

    def _text(self, folder: Path | None = None) -> str:
        from sfumato.microdata.plan.write import plan_text

        return plan_text(self, folder)

    def _published(self, role: Role, names: Sequence[str], missing: Sequence[str | float]) -> Self:
        codes: Any = tuple(missing)
        columns = {}
        for name in _texts(names):
            with at_column(name):
                columns[name] = ColumnPlan(role, missing=codes)
        return self._having(columns)

    def _with(self, names: Iterable[str], column: ColumnPlan) -> Self:
        return self._having(dict.fromkeys(_texts(names), column))

    def _having(self, columns: Mapping[str, ColumnPlan]) -> Self:
        """Return the plan with some columns redefined; reasons for their earlier suggestion are dropped."""
        reasons = {name: reason for name, reason in self.reasons.items() if name not in columns}
        notes = (*self.notes, *self._changed_roles(columns))
        return self._replaced(columns={**self.columns, **columns}, reasons=reasons, notes=notes)

    def _changed_roles(self, columns: Mapping[str, ColumnPlan]) -> Iterator[str]:
        """Yield notes on columns whose role a later call changes; suggested roles may be changed freely."""
        for name, column in columns.items():
            old = self.columns.get(name, column).role
            if old != column.role and name not in self.reasons:
                yield f'"{name}" was {old} by an earlier step, and is {column.role} by the last.'

    def _replaced(self, **parts: Any) -> Self:
        # The plan no longer matches the text that it was read from.
        return replace(self, text={}, **parts)

    def __repr__(self) -> str:
        counts = [(role, len(self.named(role))) for role in model.ROLES]
        roles = [
            f"{count} {role}{'s' if count > 1 and role.endswith('identifier') else ''}"
            for role, count in counts
            if count
        ]
        others = [f"others {self.other}"] if self.other else []
        return f"Plan({self._promises() or 'nothing promised'}; {', '.join(roles + others)}; {self.method.name})"

    def __str__(self) -> str:
        rows = [HEAD, *self._rows()]
        widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        lines.insert(1, "  ".join("-" * width for width in widths).rstrip())
        notes = [f"Note: {note}" for note in (*self.notes, *self._codes())]
        cut = any(len(reason) > LONGEST for reason in self.reasons.values())
        rest = ["", "Reasons that end in … are whole in plan.reasons."] if cut else []
        return "\n".join([*notes, f"{self._promises()}, by {self.method.name}", "", *lines, *rest])

    def _repr_html_(self) -> str:
        """Return the privacy models and column roles as a few lines of HTML."""
        from html import escape

        head = "".join(f'<th style="{CELL}">{name}</th>' for name in HEAD)
        rows = "".join(
            "<tr>" + "".join(f'<td style="{CELL}">{escape(cell)}</td>' for cell in row) + "</tr>"
            for row in self._rows(whole=True)
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in (*self.notes, *self._codes()))
        promises = f"{notes}<p><b>{escape(self._promises())}</b>, by {escape(self.method.name)}</p>"
        return f"<div>{promises}<table><tr>{head}</tr>{rows}</table></div>"

    def _promises(self) -> str:
        return ", ".join(
            f"{one.name} {one.requested:g}" + (f" of {one.column}" if one.column else "") for one in self.privacy
        )

    def _codes(self) -> Iterator[str]:
        """Yield the codes for missing values of each column that has some."""
        told = ", ".join(f"{name} ({', '.join(codes)})" for name, codes in self.source_data.codes.items())
        if told:
            yield f"codes that mean missing: {told}."

    def _rows(self, whole: bool = False) -> list[tuple[str, ...]]:
        shown = str if whole else _cut
        columns: list[tuple[str, ...]] = [
            (name, column.role, hierarchy_words(column.hierarchy), shown(self.reasons.get(name, "")))
            for name, column in self.columns.items()
        ]
        return columns + ([("(others)", self.other, "", "")] if self.other else [])


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _quasi(name: str, entry: HierarchyBuilder | ColumnPlan) -> ColumnPlan:
    """Return the plan of a quasi-identifier from its hierarchy, or unchanged."""
    if isinstance(entry, ColumnPlan):
        return entry
    if not hasattr(entry, "fit"):
        raise PlanError.listing([issue(f"columns.{name}", "must_be_a_hierarchy", kind=kind_of(entry), name=name)])
    return ColumnPlan("quasi-identifier", hierarchy=entry)


def _texts(names: Iterable[object]) -> list[str]:
    wrong = next((name for name in names if not isinstance(name, str)), None)
    if wrong is not None:
        do = Message("error.part.names_quoted")
        raise PlanError.listing([issue("columns", message=Message("error.part.text", kind=kind_of(wrong)), hint=do)])
    return [name for name in names if isinstance(name, str)]


def _promised(promises: Iterable[PrivacyModel], columns: Mapping[str, ColumnPlan]) -> dict[str, ColumnPlan]:
    """Return the columns that models refer to and that the plan does not mention."""
    names = (promise.column for promise in promises)
    return {name: ColumnPlan("sensitive") for name in names if name and name not in columns}
