"""Perturb the published rows by a plan: columns of one group together, each operation with its report.

Rows come in published order, and random numbers depend on the secret of the release and the row position. What an
operation preserves exactly (means, distributions, sizes of groups) is recorded and compared with the file after it was
written.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError, UnattainableError
from sfumato.microdata.counts.combinations import numbers_of as combination_numbers
from sfumato.microdata.counts.frequency_table import value_of
from sfumato.microdata.keyed_random import normals, uniforms
from sfumato.microdata.models.equivalence_classes import BoolArray, Floats
from sfumato.microdata.perturbation.microaggregation import groups_of, information_loss, means_of, revealing_means
from sfumato.microdata.perturbation.number_text import (
    EXACT_WHOLE,
    Texts,
    check_digits,
    checked,
    noise_decimals,
    rounded_texts,
    strings_of,
)
from sfumato.microdata.perturbation.plan import (
    Microaggregate,
    Noise,
    Pram,
    Pseudonym,
    RankSwap,
    ShiftDays,
    SwapHouseholds,
    jobs_of,
)
from sfumato.microdata.perturbation.random_changes import (
    given_transition,
    invariant_transition,
    partners_of,
    randomized,
    rank_partners,
    risky_rows,
    shifted,
    with_noise,
)
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.pseudonyms import Pseudonyms
from sfumato.values import Value, field

STAR = "*"
# Name of the person key column added to published rows.
PERSON_KEY = "sfumato_person"
Households = Callable[[], Sequence[str]]
Codes = npt.NDArray[np.int64]


class ColumnReader(Protocol):
    """Interface that reads columns of the rows."""

    def __call__(self, column: str) -> Texts:
        """Return a column as texts."""
        ...

    def numbers(self, column: str) -> Floats:
        """Return a column as numbers, NaN for missing ones."""
        ...


class Exact(Value):
    """Properties that the written rows must reproduce exactly.

    Attributes:
        means: The mean of each column.
        sorted_texts: All texts in order, for columns with an unchanged distribution.
        least: Minimum number of rows of each combination of some columns.
    """

    means: Mapping[str, float] = field(default_factory=dict)
    sorted_texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    least: Mapping[tuple[str, ...], int] = field(default_factory=dict)


class PerturbationResult(Value):
    """The result of one operation.

    Attributes:
        texts: The published texts of each column, in row order.
        figures: Metrics for the report.
        before: The original numbers, for numeric columns.
        after: The published numbers, for numeric columns.
    """

    operation: str
    texts: Mapping[str, list[str | None]]
    exact: Exact
    figures: Mapping[str, Any]
    before: Floats | None = None
    after: Floats | None = None


def _shifted(plan: Plan, name: str, operation: ShiftDays, read: ColumnReader) -> PerturbationResult:
    """Shift dates by the days of their person."""
    texts = read(name)
    persons = [str(key) for key in read(PERSON_KEY)]
    changed = shifted(texts, persons, operation.days, plan.chain_secret, plan.data.missing, name)
    return PerturbationResult(operation.name, {name: changed}, Exact(), {"days": operation.days})


def perturb(
    plan: Plan, read: ColumnReader, households: Households | None, pseudonyms: Mapping[str, Pseudonyms] | None = None
) -> tuple[PerturbationResult, ...]:
    """Perturb rows as planned.

    Args:
        read: Reads columns of the rows.
        households: Reads the household of each row, if these are known.
        pseudonyms: The pseudonym generator of each pseudonymous column.
    """
    ciphers = pseudonyms or {}
    return tuple(
        _hidden(plan, names[0], operation, read, ciphers[names[0]])
        if isinstance(operation, Pseudonym)
        else _shifted(plan, names[0], operation, read)
        if isinstance(operation, ShiftDays)
        else _part(plan, names, operation, read, households)
        for names, operation in jobs_of(plan.perturbations)
    )


def _hidden(
    plan: Plan, name: str, operation: Pseudonym, read: ColumnReader, pseudonyms: Pseudonyms
) -> PerturbationResult:
    """Replace identifiers by pseudonyms; missing ones stay missing, and those of suppressed rows stay suppressed."""
    texts = read(name)
    missing = plan.data.missing
    hidden = {
        text: pseudonyms.hide(text)
        for text in dict.fromkeys(texts)
        if text is not None and text != STAR and value_of(text, missing) is not None
    }
    figures = {"kind": operation.kind, "domain": operation.domain, "distinct": len(hidden)}
    changed = [text if text is None else hidden.get(text, text) for text in texts]
    return PerturbationResult(operation.name, {name: changed}, Exact(), figures)


Drawn = Microaggregate | Noise | RankSwap | Pram | SwapHouseholds


def _part(
    plan: Plan, names: tuple[str, ...], operation: Drawn, read: ColumnReader, households: Households | None
) -> PerturbationResult:
    keys = [f"{plan.chain_secret}:{operation.name}:{name}:" for name in names]
    if isinstance(operation, Pram):
        return _categories(plan, names[0], operation, read, keys[0])
    if isinstance(operation, SwapHouseholds):
        return _households(plan, names, operation, read, households, keys[0])
    values = np.column_stack([read.numbers(name) for name in names])
    steps = [None if (publish := plan.columns[name].published) is None else publish.round for name in names]
    if not isinstance(operation, RankSwap):
        for at, name in enumerate(names):
            if (np.abs(values[:, at]) >= EXACT_WHOLE).any():
                check_digits(values[:, at], read(name), name)
    if isinstance(operation, Microaggregate):
        return _microaggregated(names, values, steps, operation)
    if isinstance(operation, Noise):
        draws = [_normals(plan, read, key, values[:, at].tolist()) for at, key in enumerate(keys)]
        return _noisy(names, values, steps, operation, np.column_stack(draws))
    return _swapped(names[0], read(names[0]), values, steps[0], operation, keys[0])


def _noisy(
    names: tuple[str, ...], values: Floats, steps: Sequence[float | None], operation: Noise, drawn: Floats
) -> PerturbationResult:
    changed = values.copy()
    for rows, columns in _present(values):
        part = np.ix_(rows, columns)
        changed[part] = with_noise(
            values[part], drawn[part], operation.share, operation.deviation, correlated=bool(operation.group)
        )
    texts, deviations = {}, {}
    for at, name in enumerate(names):
        present = values[~np.isnan(values[:, at]), at]
        deviations[name] = operation.deviation or (operation.share * float(present.std()) if len(present) else 0.0)
        decimals = noise_decimals(deviations[name]) if len(present) else None
        texts[name] = strings_of(checked(changed[:, at], name), steps[at], decimals)
    figures = {"share": operation.share, "correlated": bool(operation.group), "deviations": deviations}
    return PerturbationResult(operation.name, texts, Exact(), figures, values, changed)


def _normals(plan: Plan, read: ColumnReader, key: str, values: Sequence[float]) -> Floats:
    """Return a standard normal number for each row; without identities, it also depends on the number of rows."""
    identities = _identities(plan, read, [repr(value) for value in values])
    return normals(key if identities else f"{key}{len(values)}:", len(values), identities)


def _identities(plan: Plan, read: ColumnReader, values: Sequence[str]) -> list[str] | None:
    """Return what identifies each row in every release of a chain: its person and its value.

    Several rows of a person with one value are numbered in the order of their labels. Equal numbers therefore do not
    show that rows belong to one person, and unchanged rows get the same numbers in the next release.

    Returns:
        None without a person column.
    """
    if plan.person is None:
        return None
    rows: dict[tuple[str, str], list[int]] = {}
    for row, pair in enumerate(zip(map(str, read(PERSON_KEY)), values, strict=True)):
        rows.setdefault(pair, []).append(row)
    labels = [read(name) for name in plan.quasi_identifiers]
    identities = [""] * len(values)
    for (person, value), places in rows.items():
        if len(places) > 1:
            places.sort(key=lambda row: [column[row] or "" for column in labels])
        for number, row in enumerate(places):
            identities[row] = f"{person}:{number}:{value}"
    return identities


def _swapped(
    name: str, texts: Texts, values: Floats, step: float | None, operation: RankSwap, key: str
) -> PerturbationResult:
    """Exchange texts between rows of near ranks, keeping their exact spelling."""
    rows = np.flatnonzero(~np.isnan(values[:, 0]))
    partners = np.arange(len(values))
    partners[rows] = rows[rank_partners(values[rows, 0], operation.share, key)]
    exchanged = [texts[row] for row in partners.tolist()]
    there = set(rows.tolist())
    published = rounded_texts([text if row in there else None for row, text in enumerate(exchanged)], step)
    exact = Exact() if step is not None else Exact(sorted_texts={name: _sorted([texts[row] for row in rows.tolist()])})
    moved = int((partners != np.arange(len(partners))).sum())
    figures = {"share": operation.share, "swapped_rows": moved}
    return PerturbationResult(operation.name, {name: published}, exact, figures, values, values[partners])


def _present(values: Floats) -> Iterator[tuple[Any, list[int]]]:
    """Yield rows with the same present columns, and these columns; rows without any are left out."""
    there = ~np.isnan(values)
    if there.all():
        yield np.arange(len(values)), list(range(values.shape[1]))
        return
    patterns, owners = np.unique(there, axis=0, return_inverse=True)
    for place, pattern in enumerate(patterns):
        if pattern.any():
            yield np.flatnonzero(owners.reshape(-1) == place), np.flatnonzero(pattern).tolist()


def _sorted(texts: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(sorted(text for text in texts if text is not None))


def _microaggregated(
    names: tuple[str, ...], values: Floats, steps: Sequence[float | None], operation: Microaggregate
) -> PerturbationResult:
    """Return means of groups; rows with a rare set of present columns are published as missing."""
    changed = np.full_like(values, np.nan)
    loss, blank, smallest, number, most = 0.0, 0, len(values), 0, 0
    revealing = dict.fromkeys(names, 0)
    for rows, columns in _present(values):
        if len(rows) < operation.k:
            blank, most = blank + len(rows), max(most, len(rows))
            continue
        part = values[np.ix_(rows, columns)]
        groups = groups_of(part, operation.k, operation.refine)
        changed[np.ix_(rows, columns)] = means_of(part, groups)
        loss += information_loss(part, groups) * len(rows)
        for at, column in enumerate(columns):
            revealing[names[column]] += revealing_means(part[:, at], groups)
        smallest, number = min(smallest, int(np.bincount(groups).min())), number + int(groups.max()) + 1
    grouped = len(values) - blank
    if blank and not number:
        raise UnattainableError(
            "rows.microaggregation_with_k_needs", k=operation.k, columns=", ".join(names), most=most
        )
    figures = {
        "k": operation.k,
        "refine": operation.refine,
        "groups": number,
        "smallest": smallest if number else 0,
        "information_loss": loss / max(grouped, 1),
        "blank_rows": blank,
        "revealing_means": {name: count for name, count in revealing.items() if count},
    }
    texts = {name: strings_of(changed[:, at], steps[at]) for at, name in enumerate(names)}
    whole = not blank and not np.isnan(values).any()
    means = {name: float(values[:, at].mean()) for at, name in enumerate(names) if whole and steps[at] is None}
    least = {names: operation.k} if number else {}
    return PerturbationResult(operation.name, texts, Exact(means, least=least), figures, values, changed)


def _categories(plan: Plan, name: str, operation: Pram, read: ColumnReader, key: str) -> PerturbationResult:
    texts = [value_of(text, plan.data.missing) for text in read(name)]
    present = np.array([text is not None for text in texts], bool)
    categories = sorted({text for text in texts if text is not None})
    places = {category: code for code, category in enumerate(categories)}
    codes = np.array([places.get(text or "", 0) for text in texts], np.int64)
    identities = _identities(plan, read, [text or "" for text in texts])
    shown: list[str | None] = list(texts)
    transitions = {}
    for stratum, rows in _strata(plan, operation, read, present):
        if not categories:
            continue
        transition = (
            given_transition(categories, operation.matrix, name)
            if operation.retention is None
            else invariant_transition(
                categories, np.bincount(codes[rows], minlength=len(categories)), operation.retention
            )
        )
        transitions[stratum] = transition.to_dict()
        chosen = None if identities is None else [identities[row] for row in rows.tolist()]
        drawn = randomized(codes[rows], transition, uniforms(f"{key}{stratum}:", len(rows), chosen))
        for row, code in zip(rows.tolist(), drawn.tolist(), strict=True):
            shown[row] = transition.categories[code]
    changed = sum(old != new for old, new in zip(texts, shown, strict=True))
    counts = {"rows_before": _rows(texts), "rows_after": _rows(shown)}
    figures: dict[str, Any] = {
        "retention": operation.retention,
        "changed_rows": changed,
        "matrices": transitions,
        **counts,
    }
    return PerturbationResult(operation.name, {name: shown}, Exact(), figures)


def _rows(texts: Sequence[str | None]) -> dict[str, int]:
    """Return the number of rows of each category."""
    return dict(Counter(text for text in texts if text is not None))


def _strata(plan: Plan, operation: Pram, read: ColumnReader, present: BoolArray) -> Iterator[tuple[str, Any]]:
    """Yield the name of each stratum, and its rows in which the category is present."""
    if not operation.strata:
        yield "", np.flatnonzero(present)
        return
    columns = [[value_of(text, plan.data.missing) or "" for text in read(name)] for name in operation.strata]
    names = [" / ".join(parts) for parts in zip(*columns, strict=True)]
    for stratum in sorted(set(names)):
        yield stratum, np.flatnonzero(present & np.array([name == stratum for name in names], bool))


def _households(
    plan: Plan,
    names: tuple[str, ...],
    operation: SwapHouseholds,
    read: ColumnReader,
    households: Households | None,
    key: str,
) -> PerturbationResult:
    if households is None:
        raise DataError("household.unknown_households")
    owners = _codes([households()])[:, 0]
    regions = _codes([read(name) for name in names])
    together = _numbers(regions)
    _check_regions(owners, together, names[0])
    risky = risky_rows(together, _codes([read(name) for name in plan.quasi_identifiers]), operation.k)
    similar = _codes([read(name) for name in operation.similar]) if operation.similar else regions[:, :0]
    partners = partners_of(owners, together, similar, risky, operation.share, key)
    texts, sorted_texts = {}, {}
    for name in names:
        column = read(name)
        texts[name] = [column[row] for row in partners.tolist()]
        sorted_texts[name] = _sorted(column)
    swapped = np.unique(owners[partners != np.arange(len(partners))])
    figures = {"share": operation.share, "k": operation.k, "households": int(owners.max(initial=-1)) + 1}
    figures |= {"swapped_households": len(swapped), "risky_rows": int(risky.sum())}
    at_risk = np.unique(owners[risky])
    figures |= {"risky_households": len(at_risk), "unswapped_risky_households": len(np.setdiff1d(at_risk, swapped))}
    return PerturbationResult(operation.name, texts, Exact(sorted_texts=sorted_texts), figures)


def _check_regions(owners: Codes, regions: Codes, name: str) -> None:
    """Refuse households with several regions."""
    first = np.zeros(int(owners.max(initial=-1)) + 1, np.int64)
    first[owners] = regions
    if (first[owners] != regions).any():
        raise DataError("household.members_of_one_household", column=name).about(column=name)


def _codes(columns: Sequence[Texts]) -> Any:
    """Return texts as codes, (rows, columns)."""
    coded = []
    for texts in columns:
        places: dict[str | None, int] = {}
        coded.append(np.array([places.setdefault(text, len(places)) for text in texts], np.int64))
    return np.column_stack(coded)


def _numbers(codes: Any) -> Any:
    """Return a number for each combination of codes."""
    return combination_numbers(codes, [int(column.max(initial=0)) + 1 for column in codes.T])[0]
