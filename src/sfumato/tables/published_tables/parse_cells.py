"""Parse a published table: values, ranges and suppressed cells, from texts that anyone may have written."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import DataError
from sfumato.localization.messages import Message
from sfumato.tables.argus.statuses import OF_FLAG, ArgusStatus, masked_of, status_in, unsafe_of
from sfumato.tables.cell_labels import NAMES, PRIMARY_DASH, SuppressionReason, primary_reasons
from sfumato.tables.cells.columns import TextColumns, finite
from sfumato.tables.cells.constraints import precision_of
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers, Places
from sfumato.tables.plan.sections import TableSource
from sfumato.tables.plan.table_plan import TablePlan

# The marks that stand for a masked cell; anything else must be a number or a range.
MASKS = frozenset({"*", "**", "x", "X", "c", "C", ":", ".", "/", "•", "[c]", "[x]"})
# Columns that hold statuses of cells, and their letters.
STATUSES: dict[str, dict[str, ArgusStatus]] = {"Status": {}, "STATUS": {}, "CONF_STATUS": OF_FLAG}
# What the last decimal of a printed number may be off.
PRINTED = 2e-6
# Why a cell is suppressed, as case columns say it.
_CASE = re.compile(rf"^(?:{'|'.join(SuppressionReason)}|[A-Z][0-9]+)$")
_SPACES = "\u0020\u00a0\u2009\u202f'\u2019"
_NUMBER = rf"[-+\u2212]?(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]{{1,3}}(?:[{_SPACES}][0-9]{{3}})+|[0-9]+)(?:\.[0-9]+)?"
_EXACT = re.compile(rf"^(?:{_NUMBER}|[-+]?[0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]+)$")
_RANGE = re.compile(rf"^({_NUMBER})\s*(?:-|–|—|\.\.\.?|…|bis|to)\s*({_NUMBER})$")
_BOUND = re.compile(rf"^(<=|>=|≤|≥|<|>|=<|=>|unter|über|bis)\s*({_NUMBER})$")
_UPPER = {"<=", "≤", "=<", "<", "unter", "bis"}
_STRICT = {"<", ">", "unter", "über"}


@dataclass(frozen=True, slots=True)
class ParsedTable:
    """What a file shows of each row.

    Attributes:
        exact: The published value; not a number where masked.
        ranges: The published range; not a number where there is none.
        case: The case of a masked cell, where the file tells.
        cases: Whether the file tells cases.
        valued: Whether the true values stand beside, with what the rules look at.
        marked: Published cells that the file itself marks as suppressed: by a range, a case or a status.
    """

    exact: Numbers
    ranges: Bounds
    case: tuple[str, ...]
    cases: bool
    valued: bool
    marked: BoolArray

    def with_cells(self, exact: Numbers) -> "ParsedTable":
        """The reading with further cells of which the file shows a value, or nothing."""
        more = np.full(len(exact), np.nan)
        ranges = Bounds(np.append(self.ranges.low, more), np.append(self.ranges.high, more))
        return replace(
            self,
            exact=np.append(self.exact, exact),
            ranges=ranges,
            case=(*self.case, *([""] * len(exact))),
            marked=np.append(self.marked, np.zeros(len(exact), bool)),
        )


def read_published(columns: TextColumns, plan: TablePlan) -> ParsedTable:
    """What a published table shows.

    Raises:
        PlanError: It has neither the value column nor one of those that `protect` writes.
        DataError: A text is neither a number, a range nor a mask.
    """
    prefix = plan.output.prefix or plan.table.value
    style = next((names for names in NAMES.values() if prefix + names[0] in columns), None)
    if style is None:
        texts = columns.text(plan.table.value)
        exact, ranges = read_texts(texts, plan.table.value)
        told = _cases_told(columns, exact, prefix)
        marks = told or tuple(SuppressionReason.PRIMARY if PRIMARY_DASH in text else "" for text in texts)
        marked = _marked(columns, exact, ranges, ())
        return ParsedTable(exact, ranges, marks, told is not None, valued=False, marked=marked)
    names = [prefix + ending for ending in style]
    exact, ranges = read_texts(columns.text(names[0]), names[0])
    if names[1] in columns and names[2] in columns:
        ranges = ranges.within(Bounds(columns.optional(names[1]), columns.optional(names[2])))
    own = names[3] in columns
    told = _cases(columns.text(names[3]), exact) if own else _cases_told(columns, exact, prefix)
    marks = told or ("",) * len(exact)
    marked = _marked(columns, exact, ranges, marks if own else ())
    return ParsedTable(exact, ranges, marks, told is not None, _tells_values(columns, plan.table), marked)


def statuses_in(columns: TextColumns) -> dict[str, Places]:
    """The columns of a file that hold statuses from 1 to 14 or flags, as files of offices write them."""
    read = {
        name: [status_in(text, letters) for text in columns.text(name)]
        for name, letters in STATUSES.items()
        if name in columns
    }
    return {name: np.array(found, np.int64) for name, found in read.items() if None not in found}


def _marked(columns: TextColumns, exact: Numbers, ranges: Bounds, cases: Sequence[str]) -> BoolArray:
    """Published cells that are marked as suppressed."""
    slack = PRINTED * np.maximum(1.0, np.abs(exact))
    marked = (np.abs(ranges.low - exact) > slack) | (np.abs(ranges.high - exact) > slack)
    if cases:
        marked |= np.array([bool(_CASE.match(text)) for text in cases], bool)
    for statuses in statuses_in(columns).values():
        marked |= masked_of(statuses)
    return np.asarray(marked & ~np.isnan(exact))


def _cases(texts: tuple[str, ...], exact: Numbers) -> tuple[str, ...]:
    """The cases of a file that tells them: a masked cell that has none is not primary."""
    masked = np.isnan(exact).tolist()
    return tuple(text or (SuppressionReason.COMPLEMENT if hit else "") for text, hit in zip(texts, masked, strict=True))


def _cases_told(columns: TextColumns, exact: Numbers, prefix: str) -> tuple[str, ...] | None:
    """The cases of a file whose statuses, cases or reasons tell primary cells from others; None where none do."""
    masked = np.isnan(exact)
    told = [unsafe_of(own) for own in statuses_in(columns).values() if np.array_equal(masked_of(own), masked)]
    words = primary_reasons() | {SuppressionReason.PRIMARY, SuppressionReason.SENSITIVE}
    named = [prefix + ending for names in NAMES.values() for ending in names[3:]]
    told += [np.array([text in words for text in columns.text(name)], bool) for name in named if name in columns]
    for primary in told:
        if (masked & primary).any() and (masked & ~primary).any():
            cases = np.where(primary, SuppressionReason.SENSITIVE, SuppressionReason.COMPLEMENT)
            return tuple(str(case) if hit else "" for case, hit in zip(cases, masked, strict=True))
    return None


def _tells_values(columns: TextColumns, source: TableSource) -> bool:
    """Whether true values stand beside, with all that the rules look at: else rules judge what is published."""
    names = (source.value, source.frequency, source.holdings, source.shadow, *source.contributions)
    more = (*source.respondents, *source.contributors)
    return all(name in columns for name in (*names, *more) if name is not None)


def read_texts(texts: tuple[str, ...], column: str) -> tuple[Numbers, Bounds]:
    """Values and ranges.

    Raises:
        DataError: A text is neither a number, a range nor a mask; `rows` says where.
    """
    numbers = {text: _number(text) for text in {*texts} if _EXACT.match(text)}
    exact = np.array([np.nan if (own := numbers.get(text)) is None else own for text in texts], np.float64)
    step, none = precision_of(exact), (np.nan, np.nan)
    told = {text: _span(text, step) for text in {*texts} - numbers.keys()}
    told |= {text: None if number is None else none for text, number in numbers.items()}
    spans = [told[text] for text in texts]
    wrong = [place + 1 for place, span in enumerate(spans) if span is None or span[0] > span[1]]
    if wrong:
        raise DataError(
            "unreadable-cell",
            message=f'column "{column}" holds something that is neither a number, a range nor a mask in row {wrong[0]}'
            + (f" and {len(wrong) - 1} more." if len(wrong) > 1 else "."),
            hint=Message("hint.write_a_number_a"),
        ).about(values=[texts[place - 1] for place in wrong], column=column, rows=wrong)
    low, high = (np.array([span[end] for span in spans if span is not None], np.float64) for end in (0, 1))
    return exact, Bounds(low, high)


def _span(text: str, step: float) -> tuple[float, float] | None:
    """The ends of a range, not a number where open; None for a text that is none."""
    if text in MASKS:
        return np.nan, np.nan
    both = _RANGE.match(text)
    if both:
        low, high = _number(both.group(1)), _number(both.group(2))
        return None if low is None or high is None else (low, high)
    one = _BOUND.match(text)
    if not one or (end := _number(one.group(2))) is None:
        return None
    sign = one.group(1)
    inside = step if sign in _STRICT else 0.0
    return (np.nan, end - inside) if sign in _UPPER else (end + inside, np.nan)


def _number(text: str) -> float | None:
    return finite(re.sub(rf"[,{_SPACES}]", "", text.replace("\u2212", "-")))
