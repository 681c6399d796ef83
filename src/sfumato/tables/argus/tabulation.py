"""Tabulate records into a table with all its totals."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.localization.messages import Message
from sfumato.schema.paths import PlanPath
from sfumato.tables.argus.office_table import ArgusStatus, ArgusTable
from sfumato.tables.argus.safety_rules import Requests
from sfumato.tables.cells.constraints import ValueUnit, precision_of
from sfumato.tables.cells.dimensions import Code, CodeTree, unknown_code
from sfumato.tables.cells.system import BoolArray, Numbers
from sfumato.tables.formats.batch_file import Specification
from sfumato.tables.formats.cells_file import labels_of
from sfumato.tables.formats.hierarchy_files import Recoding, hrc_text
from sfumato.tables.formats.metadata import Metadata, Variable
from sfumato.tables.formats.records_file import Records, record_tree
from sfumato.tables.noise.cell_key import check_spread, distribution_of
from sfumato.tables.plan.sections import Dimension
from sfumato.tables.tabulate import WORD, Base, by_weight, table_of
from sfumato.values import Value, replace

# Number of largest contributions that are kept.
TOP = 10
FREQUENCY = "<freq>"


class Crossed(Value):
    """A tabulated table, with further rule inputs: requests, and cells with a missing code."""

    table: ArgusTable
    requests: Requests | None
    missing: BoolArray


def cross(
    records: Records,
    metadata: Metadata,
    wanted: Specification,
    folder: Path,
    scratch: Path,
    recodings: Mapping[str, Recoding] | None = None,
    weighted: bool = False,
    by_holding: bool = False,
) -> Crossed:
    """Tabulate records.

    Args:
        records: The records, every value as text.
        metadata: Description of the columns.
        wanted: Spanning variables and response.
        scratch: Folder for temporary hierarchies.
        recodings: Recodings by variable name.
        weighted: Whether weights are applied.
        by_holding: Whether the largest contributions are those of holdings.

    Raises:
        DataError: A variable is unknown, or a record has an unknown code or no number.
    """
    variables = [metadata.named(name) for name in wanted.spanning]
    codes, trees = {}, []
    origins: dict[str, dict[str, frozenset[str]]] = {}
    for one in variables:
        recoding = (recodings or {}).get(one.name.lower())
        own, tree = spanned(records, one, folder, metadata.encoding, recoding)
        if recoding is not None:
            origins[one.name] = _origins(records.text(one.name), own)
        codes[one.name] = tuple(own)
        trees.append(tree)
    response = None if wanted.response.lower() == FREQUENCY else metadata.named(wanted.response)
    base = _base(records, metadata, codes, response, weighted, by_holding)
    value = response.name if response else None
    cells = table_of(base, _dimensions(trees, scratch), value, TOP, with_holdings=value is not None, crossed=False)
    table = _table(cells, trees, response, labels_of(variables, folder, metadata.encoding), base)
    table = table.with_columns(origins=origins, **_holders(records, metadata, trees, base, response, scratch))
    missing = np.array(
        [any(code[0] in one.missing for code, one in zip(key, variables, strict=True)) for key in table.keys], bool
    )
    return Crossed(table, _requests(cells, records, metadata, base.holdings), missing)


def spanned(
    records: Records, one: Variable, folder: Path, encoding: str | None, recoding: Recoding | None
) -> tuple[list[str], CodeTree]:
    """Return the code of each record for a spanning variable, and the hierarchy of these codes.

    Raises:
        DataError: A record has an unknown code.
    """
    own = list(records.text(one.name))
    tree = _with_missing(record_tree(records, one, folder, encoding), one, own)
    _check_codes(records, one, tree)
    return (own, tree) if recoding is None else _recoded(own, tree, recoding)


def _holders(
    records: Records,
    metadata: Metadata,
    trees: Sequence[CodeTree],
    base: Base,
    response: Variable | None,
    scratch: Path,
) -> dict[str, Any]:
    """Return the number of holdings in each cell and the largest ones, if records name them; insiders know their own
    contribution whatever level the rules use.
    """
    flagged = metadata.flagged("HOLDING")
    if not flagged or response is None:
        return {}
    own = replace(
        base, owners=np.arange(len(records)), amounts=base.sums, holdings=records.text(flagged[0].name), keys=()
    )
    cells = table_of(own, _dimensions(trees, scratch), response.name, TOP, with_holdings=True, crossed=False)
    names, amounts = ([cells[f"top{place + 1}{end}"] for place in range(TOP)] for end in ("_id", ""))
    holders = tuple(
        tuple((str(name), float(amount)) for name, amount in zip(*own, strict=True) if name)
        for own in zip(zip(*names, strict=True), zip(*amounts, strict=True), strict=True)
    )
    return {"holdings": np.array(cells["holdings"], np.float64), "holders": holders}


def _with_missing(tree: CodeTree, one: Variable, codes: Sequence[str]) -> CodeTree:
    """Return the tree with the missing codes that records have, as children of the total."""
    extra: dict[Code, Code] = {
        (code,): tree.root for code in codes if code in one.missing and (code,) not in tree.parents
    }
    return CodeTree(tree.name, tree.root, {**tree.parents, **extra})


def _recoded(codes: list[str], tree: CodeTree, recoding: Recoding) -> tuple[list[str], CodeTree]:
    if not recoding.closed:
        new = [recoding.codes.get(code, code) for code in codes]
        return new, CodeTree(tree.name, tree.root, {(code,): tree.root for code in dict.fromkeys(new)})
    kept = recoding.of(tree)
    return [_open_code(code, tree, kept) for code in codes], kept


def _origins(old: Sequence[str], new: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the record codes that each new code covers."""
    origins: dict[str, set[str]] = {}
    for before, after in zip(old, new, strict=True):
        origins.setdefault(after, set()).add(before)
    return {after: frozenset(codes) for after, codes in origins.items()}


def _open_code(code: str, tree: CodeTree, kept: CodeTree) -> str:
    place = (code,)
    while place not in kept.parents and place in tree.parents:
        place = tree.parents[place]  # type: ignore[assignment]
    return place[0]


def _base(
    records: Records,
    metadata: Metadata,
    codes: dict[str, tuple[str, ...]],
    response: Variable | None,
    weighted: bool,
    by_holding: bool,
) -> Base:
    size = len(records)
    values = np.ones(size) if response is None else records.numbers(response)
    weights = np.ones(size)
    own = metadata.flagged("WEIGHT")
    if weighted and own:
        weights = records.numbers(own[0])
    holding = metadata.flagged("HOLDING")
    # Without holdings each record is a contributor of its own; its number identifies it.
    names = records.text(holding[0].name) if by_holding and holding else tuple(str(place) for place in range(size))
    owners, amounts = np.arange(size), values
    if weighted and own and not by_holding:
        owners, amounts = by_weight(owners, values, weights, TOP)
        names = tuple(names[place] for place in owners)
    key = metadata.flagged("RECORDKEY")
    digits = int(key[0].option("DECIMALS", "0")) if key else 0
    keys = _record_keys(records, key[0], digits) if key else ()
    modulus = 10 ** min(digits, 18) if digits else WORD
    return Base(codes, weights if weighted else np.ones(size), values * weights, owners, amounts, names, keys, modulus)


def check_record_keys(records: Records, metadata: Metadata) -> None:
    """Refuse record keys that are not uniformly distributed: the noise would be the same everywhere."""
    for one in metadata.flagged("RECORDKEY"):
        digits = int(one.option("DECIMALS", "0"))
        keys = _record_keys(records, one, digits)
        spread = distribution_of(keys, 10 ** min(digits, 18) if digits else WORD)
        do = Message("hint.draw_record_keys")
        check_spread(spread, Message("phrase.keys_of_records", column=one.name), do)


def _record_keys(records: Records, one: Variable, digits: int) -> tuple[int, ...]:
    """Return the record keys: 64-bit integers, or decimal fractions."""
    keys = []
    for place, text in enumerate(records.text(one.name)):
        whole, _, rest = text.replace(",", ".").partition(".")
        decimal = rest.isascii() and rest.isdigit() and whole in ("", "0")
        if not (decimal if digits else whole.isascii() and whole.isdigit() and not rest and int(whole) < WORD):
            raise records.fault(one, place, "key.fraction" if digits else "key.whole")
        keys.append(int(rest.ljust(digits, "0")[: min(digits, 18)]) if digits else int(whole))
    return tuple(keys)


def _check_codes(records: Records, one: Variable, tree: CodeTree) -> None:
    """Refuse records without a code, with a code unknown to the hierarchy, or with the code of a total."""
    above = _totals(tree, records.text(one.name))
    for place, text in enumerate(records.text(one.name)):
        if not text:
            raise records.fault(one, place, "no-code.missing", column=one.name)
        if (text,) in above:
            raise records.fault(one, place, "inner-code.total", column=one.name)
        if (text,) not in tree.parents:
            hint = unknown_code(text, tree.parents, Message("hint.give_code", column=one.name))
            raise records.fault(one, place, "unknown-code.hierarchy", hint=hint, column=one.name)


def _totals(tree: CodeTree, codes: Iterable[str]) -> set[Code]:
    """Return the root and those codes that are totals of other given codes."""
    totals = {tree.root}
    for text in set(codes):
        code = tree.parents.get((text,), tree.root)
        while code not in totals:
            totals.add(code)
            code = tree.parents[code]
    return totals


def _dimensions(trees: Sequence[CodeTree], scratch: Path) -> dict[str, Dimension]:
    dimensions = {}
    for place, tree in enumerate(trees):
        path = scratch / f"{place}.hrc"
        path.write_text(hrc_text(tree), encoding="utf-8")
        dimensions[tree.name] = Dimension(column=tree.name, hierarchy=PlanPath(path), total=tree.root[0])
    return dimensions


def _table(
    cells: Mapping[str, list[object]],
    trees: list[CodeTree],
    response: Variable | None,
    labels: Mapping[str, Mapping[str, str]],
    base: Base,
) -> ArgusTable:
    keys = tuple(
        tuple((str(code),) for code in codes) for codes in zip(*(cells[tree.name] for tree in trees), strict=True)
    )
    counts = np.array(cells["count"], np.float64)
    values = counts if response is None else np.array(cells[response.name], np.float64)
    largest = [f"top{place + 1}" for place in range(TOP)] if response is not None else []
    statuses = np.where(counts > 0, int(ArgusStatus.SAFE), int(ArgusStatus.EMPTY)).astype(np.int64)
    return ArgusTable(
        value="Freq" if response is None else response.name,
        trees=tuple(trees),
        keys=keys,
        values=values,
        statuses=statuses,
        frequency=counts,
        largest=tuple(np.array(cells[name], np.float64) for name in largest),
        holdings=np.array(cells["holdings"], np.float64) if "holdings" in cells else None,
        labels=labels,
        decimals=int(response.option("DECIMALS", "0")) if response else 0,
        cell_keys=tuple(int(str(key)) for key in cells["key"]) if base.keys else (),
    )


def _requests(
    cells: Mapping[str, list[object]], records: Records, metadata: Metadata, names: Sequence[str]
) -> Requests | None:
    """Return the request code of the largest contributor of each cell; for a holding, that of its first record."""
    own = metadata.flagged("REQUEST")
    if not own or "top1_id" not in cells:
        return None
    codes = records.text(own[0].name)
    by_name: dict[str, str] = {}
    for place, who in enumerate(names if len(names) == len(codes) else [str(place) for place in range(len(codes))]):
        by_name.setdefault(who, codes[place])
    marks = [*own[0].options.get("REQUEST", ("1", "2")), ""]
    return Requests(tuple(by_name.get(str(who), "") for who in cells["top1_id"]), marks[0], marks[1])


def with_totals(table: ArgusTable, keep_statuses: bool) -> ArgusTable:
    """Return the table with its totals recomputed from its inner cells.

    Args:
        table: The table; only inner cells are required.
        keep_statuses: Whether existing totals keep their statuses.
    """
    above = {tree.name: set(tree.parents.values()) for tree in table.trees}
    inner = [
        place
        for place, key in enumerate(table.keys)
        if not any(code in above[tree.name] for code, tree in zip(key, table.trees, strict=True))
    ]
    sums: dict[tuple[tuple[str, ...], ...], list[int]] = {}
    for place in inner:
        for key in _above(table, place):
            sums.setdefault(key, []).append(place)
    old = {key: place for place, key in enumerate(table.keys)}
    keys = tuple(sums)
    own = set(inner)

    def added(column: Numbers | None) -> Numbers | None:
        if column is None:
            return None
        return np.array(ValueUnit(precision_of(column)).clean([column[sums[key]].sum() for key in keys]))

    def kept(column: Numbers | None) -> Numbers | None:
        if column is None:
            return None
        return np.array([column[old[key]] if key in old else 0.0 for key in keys])

    statuses = [
        int(table.statuses[old[key]]) if key in old and (keep_statuses or old[key] in own) else int(ArgusStatus.SAFE)
        for key in keys
    ]
    return table.with_columns(
        keys=keys,
        lines=(),
        values=added(table.values),
        statuses=np.array(statuses, np.int64),
        frequency=added(table.frequency),
        largest=_largest(table, tuple(sums.values())),
        costs=added(table.costs),
        lower=kept(table.lower),
        upper=kept(table.upper),
    )


def _largest(table: ArgusTable, sums: Sequence[Sequence[int]]) -> tuple[Numbers, ...]:
    """Return the largest contributions of each total, from those of its cells."""
    if not table.largest:
        return ()
    tops = np.stack(table.largest)
    return tuple(np.array([np.sort(tops[:, places].ravel())[::-1][: len(tops)] for places in sums]).T)


def _above(table: ArgusTable, place: int) -> list[tuple[tuple[str, ...], ...]]:
    """Return a cell and all totals that contain it."""
    keys: list[tuple[tuple[str, ...], ...]] = [()]
    for tree, code in zip(table.trees, table.keys[place], strict=True):
        chain = [code]
        while chain[-1] != tree.root:
            chain.append(tree.parents[chain[-1]])
        keys = [(*key, one) for key in keys for one in chain]
    return keys
