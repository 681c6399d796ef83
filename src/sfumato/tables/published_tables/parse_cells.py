"""Parse a published table from any origin: values, intervals and suppressed cells."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.errors import DataError
from sfumato.localization.messages import Message
from sfumato.tables.argus.office_table import OF_FLAG, ArgusStatus, masked_of, status_in, unsafe_of
from sfumato.tables.build import dimensions_of, grouped
from sfumato.tables.cell_labels import MASKS, NAMES, PRIMARY_DASH, SuppressionReason, primary_reasons
from sfumato.tables.cells.columns import TextColumns, finite
from sfumato.tables.cells.constraints import Key, describe, precision_of
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers, Places
from sfumato.tables.plan.rules import GroupDisclosure
from sfumato.tables.plan.sections import Dimension, TableSource
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.values import Value, replace

# Columns with cell statuses, and the status of each letter.
STATUSES: dict[str, dict[str, ArgusStatus]] = {"Status": {}, "STATUS": {}, "CONF_STATUS": OF_FLAG}
# Relative rounding error of a printed number.
PRINTED = 2e-6
# Reasons for suppression, as written in case columns.
_CASE = re.compile(rf"^(?:{'|'.join(SuppressionReason)}|[A-Z][0-9]+)$")
_SPACES = "\u0020\u00a0\u2009\u202f'\u2019"
_NUMBER = rf"[-+\u2212]?(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]{{1,3}}(?:[{_SPACES}][0-9]{{3}})+|[0-9]+)(?:\.[0-9]+)?"
_EXACT = re.compile(rf"^(?:{_NUMBER}|[-+]?[0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]+)$")
_RANGE = re.compile(rf"^({_NUMBER})\s*(?:-|–|—|\.\.\.?|…|bis|to)\s*({_NUMBER})$")
_BOUND = re.compile(rf"^(<=|>=|≤|≥|<|>|=<|=>|unter|über|bis)\s*({_NUMBER})$")
_UPPER = {"<=", "≤", "=<", "<", "unter", "bis"}
_STRICT = {"<", ">", "unter", "über"}


class ParsedTable(Value):
    """The published value, interval and case of each row of a file.

    Attributes:
        exact: The published value; NaN if suppressed.
        ranges: The published interval; NaN if there is none.
        case: The case of a suppressed cell; empty if the file shows none.
        cases: Whether the file distinguishes primary from secondary suppressions.
        valued: Whether the file has the true values, and all columns that the rules need.
        marked: Published cells that the file nevertheless marks as suppressed: by an interval, a case or a status.
    """

    exact: Numbers
    ranges: Bounds
    case: tuple[str, ...]
    cases: bool
    valued: bool
    marked: BoolArray

    def with_cells(self, exact: Numbers) -> "ParsedTable":
        """Return the parsed table with additional cells: their published values, or NaN."""
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
    """Return the published values, intervals and cases of a table.

    Raises:
        PlanError: It has neither the value column nor one of those that `protect` writes.
        DataError: A text is neither a number, an interval nor a suppression mark.
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
    """Return the columns with cell statuses: numbers from 1 to 14 as in τ-ARGUS, or confidentiality flags."""
    read = {
        name: [status_in(text, letters) for text in columns.text(name)]
        for name, letters in STATUSES.items()
        if name in columns
    }
    return {name: np.array(found, np.int64) for name, found in read.items() if None not in found}


def _marked(columns: TextColumns, exact: Numbers, ranges: Bounds, cases: Sequence[str]) -> BoolArray:
    """Return which published cells are marked as suppressed."""
    slack = PRINTED * np.maximum(1.0, np.abs(exact))
    marked = (np.abs(ranges.low - exact) > slack) | (np.abs(ranges.high - exact) > slack)
    if cases:
        marked |= np.array([bool(_CASE.match(text)) for text in cases], bool)
    for statuses in statuses_in(columns).values():
        marked |= masked_of(statuses)
    return np.asarray(marked & ~np.isnan(exact))


def _cases(texts: tuple[str, ...], exact: Numbers) -> tuple[str, ...]:
    """Return the cases of a file with a case column; a suppressed cell without a case is secondary."""
    masked = np.isnan(exact).tolist()
    return tuple(text or (SuppressionReason.COMPLEMENT if hit else "") for text, hit in zip(texts, masked, strict=True))


def _cases_told(columns: TextColumns, exact: Numbers, prefix: str) -> tuple[str, ...] | None:
    """Return the cases by statuses, cases or reasons; None if none of them separates primary from secondary cells."""
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
    """Return whether the file has the true values and all columns that the rules need."""
    names = (source.value, source.frequency, source.holdings, source.shadow, *source.contributions)
    more = (*source.respondents, *source.contributors)
    return all(name in columns for name in (*names, *more) if name is not None)


def read_texts(texts: tuple[str, ...], column: str) -> tuple[Numbers, Bounds]:
    """Parse texts as values and intervals; both are NaN for a suppression mark.

    Raises:
        DataError: A text is neither a number, an interval nor a suppression mark; `rows` lists the rows.
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
            message=Message("error.data.unreadable-cell.in_rows", column=column, row=wrong[0], more=len(wrong) - 1),
            hint=Message("hint.write_a_number_a"),
        ).about(values=[texts[place - 1] for place in wrong], column=column, rows=wrong)
    low, high = (np.array([span[end] for span in spans if span is not None], np.float64) for end in (0, 1))
    return exact, Bounds(low, high)


def _span(text: str, step: float) -> tuple[float, float] | None:
    """Return the ends of an interval, NaN if unbounded; None if the text is neither an interval nor a mark."""
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


def rows_left_out(trees: Sequence[CodeTree], keys: Sequence[Key], exact: Numbers | None = None) -> list[Key]:
    """Return the combinations of categories without a row, if all totals that they are part of have rows.

    Args:
        trees: The hierarchy of each dimension.
        keys: The combinations that have a row.
        exact: The published values; NaN if suppressed. Combinations that these values show to be empty are not
            returned. None returns all combinations.
    """
    places = {key: place for place, key in enumerate(keys)}
    found: Counter[Key] = Counter()
    for dimension, tree in enumerate(trees):
        seen = {key[dimension] for key in keys}
        below = {code: [part for part in parts if part in seen] for code, parts in tree.children().items()}
        for key in keys:
            parts = [(*key[:dimension], code, *key[dimension + 1 :]) for code in below.get(key[dimension], ())]
            missing = [part for part in parts if part not in places]
            if missing and len(missing) < len(parts) and (exact is None or _is_open(exact, places, (key, *parts))):
                found.update(missing)
    return [key for key, count in found.items() if count == _totals(trees, key)]


def _is_open(exact: Numbers, places: dict[Key, int], cells: Sequence[Key]) -> bool:
    """Return whether a total or one of its parts is suppressed; False for a published total of 0."""
    shown = [exact[places[cell]] for cell in cells if cell in places]
    return bool(np.isnan(shown).any() and shown[0] != 0)


def _totals(trees: Sequence[CodeTree], key: Key) -> int:
    return sum(code != tree.root for tree, code in zip(trees, key, strict=True))


def unlisted_cells(
    columns: TextColumns, plan: TablePlan, reading: ParsedTable, dimensions: Mapping[str, Dimension]
) -> tuple[str, ...]:
    """Return the names of combinations without a row that no published number shows to be empty."""
    if reading.valued or plan.perturbation is not None or not dimensions or not np.isnan(reading.exact).any():
        return ()
    trees, keys = dimensions_of(dimensions, columns, plan.folder)
    names = (
        describe(trees, key)
        for _, rows in grouped(plan, columns)
        for key in rows_left_out(trees, [keys[row] for row in rows], reading.exact[rows])
    )
    return tuple(dict.fromkeys(names))


def with_rows_left_out(
    columns: TextColumns, plan: TablePlan, reading: ParsedTable, dimensions: Mapping[str, Dimension]
) -> tuple[TextColumns, ParsedTable]:
    """Return a file with a row of 0 for each omitted combination, if the plan has a group disclosure rule.

    An omitted row and a row of 0 equally disclose that a group has no respondents in a category.
    """
    ruled = any(isinstance(rule, GroupDisclosure) for rule in plan.primary)
    if reading.valued or plan.perturbation is not None or not ruled:
        return columns, reading
    trees, keys = dimensions_of(dimensions, columns, plan.folder)
    added: list[dict[str, str]] = []
    for group, rows in grouped(plan, columns):
        for key in rows_left_out(trees, [keys[row] for row in rows]):
            texts = dict(zip(plan.table.group_by, group, strict=True))
            for own, code in zip(dimensions.values(), key, strict=True):
                texts |= zip(own.levels or (own.column or "",), code, strict=True)
            added.append(texts)
    whole = {name: (*own, *(row.get(name, "") for row in added)) for name, own in columns.texts.items()}
    return TextColumns(whole), reading.with_cells(np.zeros(len(added)))
