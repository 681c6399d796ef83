"""`.grc` files: global recodings of codes, or codes whose parts are no longer shown (TREERECODE).

A line `new: old, old, from-to` makes one code of several; an open end (`-12`, `40-`) takes all before or after it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from sfumato.dataclass import dataclass
from sfumato.tables.argus.file_errors import lines_of, wrong
from sfumato.tables.cells.dimensions import Code, CodeTree

TREE = "<TREERECODE>"


@dataclass(frozen=True, slots=True)
class Recoding:
    """A global recoding.

    Attributes:
        codes: The new code of each old one.
        closed: Codes of a hierarchy whose children are no longer shown.
    """

    codes: dict[str, str]
    closed: tuple[str, ...] = ()

    def of(self, tree: CodeTree) -> CodeTree:
        """Return a hierarchy without the descendants of closed codes."""
        shut: set[Code] = {(code,) for code in self.closed}
        kept = {code: parent for code, parent in tree.parents.items() if not _below(code, tree, shut)}
        return CodeTree(tree.name, tree.root, kept)


def _below(code: Code, tree: CodeTree, shut: set[Code]) -> bool:
    while code != tree.root:
        code = tree.parents[code]
        if code in shut:
            return True
    return False


def read_recoding(path: Path, codes: Iterable[str], encoding: str | None = None) -> Recoding:
    """Read a recoding file, for the existing codes.

    Raises:
        DataError: A line is invalid, names an unknown code, or one of another line.
    """
    order = list(dict.fromkeys(codes))
    lines = [(number, line.strip()) for number, line in enumerate(lines_of(path, encoding), start=1) if line.strip()]
    if not lines:
        raise wrong(path.name, 1, 1, "recoding.there_is_nothing_to_recode")
    if lines[0][1].upper() == TREE:
        return Recoding({}, tuple(_closed(path.name, number, text, order) for number, text in lines[1:]))
    recoded: dict[str, str] = {}
    for number, text in lines:
        if text.startswith("<"):
            continue
        new, colon, olds = text.partition(":")
        if colon and not new.strip():
            raise wrong(path.name, number, 1, "recoding.there_is_no_new_code")
        if not colon:
            raise wrong(path.name, number, 1, "recoding.there_is_no_colon")
        for old in _chosen(path.name, number, olds, order, len(new) + 2):
            if recoded.get(old, new.strip()) != new.strip():
                raise wrong(path.name, number, 1, "recoding.a_code_is_recoded_twice")
            recoded[old] = new.strip()
    return Recoding(recoded)


def _closed(name: str, number: int, text: str, codes: list[str]) -> str:
    if text not in codes:
        raise wrong(name, number, 1, "unknown-code.the_code_is_unknown_2")
    return text


def _chosen(name: str, number: int, text: str, codes: list[str], column: int) -> list[str]:
    """Return the codes that a list of codes and ranges names."""
    chosen: list[str] = []
    for part in text.split(","):
        entry = part.strip()
        if entry in codes:
            chosen.append(entry)
        elif "-" in entry:
            first, last = (end.strip() for end in entry.split("-", 1))
            chosen += _between(first, last, codes) or _none(name, number, column)
        elif entry:
            raise wrong(name, number, column, "unknown-code.the_code_is_unknown_3")
        column += len(part) + 1
    if not chosen:
        raise wrong(name, number, 1, "recoding.no_code_is_recoded")
    return chosen


def _between(first: str, last: str, codes: Iterable[str]) -> list[str]:
    return [code for code in codes if (not first or _at_least(code, first)) and (not last or _at_least(last, code))]


def _none(name: str, number: int, column: int) -> NoReturn:
    """Refuse a range without a code; its ends may be swapped."""
    raise wrong(name, number, column, "unknown-code.no_code_lies_in_this_range")


def _at_least(one: str, other: str) -> bool:
    numbers = one.strip().isdigit() and other.strip().isdigit()
    return int(one) >= int(other) if numbers else one >= other
