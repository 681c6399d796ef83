"""Read and write `.rda` files: descriptions of the columns of τ-ARGUS microdata and tables."""

import re
from collections.abc import Sequence
from pathlib import Path

from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import check_text, fields_in, lines_of, number_in, office_field, wrong
from sfumato.values import Value, field, replace

# Tags without values, and tags with values.
FLAGS = (
    *("RECODEABLE", "HIERARCHICAL", "NUMERIC", "WEIGHT", "HOLDING", "TRUNCABLE", "RECORDKEY"),
    *("FREQUENCY", "MAXSCORE", "STATUS", "LOWERPL", "UPPERPL", "SHADOW", "COSTVAR"),
)
OPTIONS = (
    *("HIERLEVELS", "HIERCODELIST", "HIERLEADSTRING", "CODELIST", "DECIMALS", "REQUEST", "DISTANCE", "TOTCODE"),
    *("CKM", "PFILE", "PFILE_FREQ", "PFILE_CONT", "PFILE_SEP", "INCLUDEZEROS", "PARITY", "SCALING", "SEPARATION"),
)
# Tags with a single text value.
SINGLE = (
    *("HIERCODELIST", "HIERLEADSTRING", "CODELIST", "DECIMALS", "TOTCODE"),
    *("PFILE", "PFILE_FREQ", "PFILE_CONT", "PFILE_SEP"),
)
ALIASES = {"RECODABLE": "RECODEABLE", "COST": "COSTVAR"}
GLOBAL = ("SEPARATOR", "SAFE", "UNSAFE", "PROTECT")
_TAG = re.compile(r"<([A-Za-z_]+)>")


class Variable(Value):
    """The description of one column.

    Attributes:
        line: The line of the file that names it.
        position: Start position in a line of fixed format, from 1; 0 in free format.
        length: Number of characters; 0 if not given.
        missing: Codes of missing values.
        flags: The tags without values.
        options: The values of the other tags.
    """

    name: str
    line: int
    position: int = 0
    length: int = 0
    missing: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def has(self, flag: str) -> bool:
        """Return whether the variable has a tag."""
        return flag in self.flags or flag in self.options

    def option(self, name: str, default: str = "") -> str:
        """Return the first value of a tag."""
        return next(iter(self.options.get(name, ())), default)

    @property
    def spanning(self) -> bool:
        """Whether the variable can span tables."""
        return "RECODEABLE" in self.flags

    @property
    def total(self) -> str:
        """The code of its total."""
        return self.option("TOTCODE", "Total") or "Total"


class Metadata(Value):
    """The description of a file of microdata or cells.

    Attributes:
        name: The name of the metadata file.
        variables: The columns in their order.
        separator: The field separator; None in fixed format.
        marks: Codes in the status column, for safe, sensitive and protected cells.
        encoding: Encoding of this file and of the files that it names; detected if None.
    """

    name: str
    variables: tuple[Variable, ...]
    separator: str | None = None
    marks: dict[str, str] = field(default_factory=dict)
    encoding: str | None = None

    def find(self, name: str) -> Variable | None:
        """Return a variable by its name, ignoring case."""
        return next((one for one in self.variables if one.name.lower() == name.lower()), None)

    def named(self, name: str) -> Variable:
        """Return a variable by its name.

        Raises:
            DataError: There is no such variable.
        """
        one = self.find(name)
        if one is None:
            names = ", ".join(variable.name for variable in self.variables)
            raise wrong(self.name, 1, 1, "unknown-variable.there_is_no_variable", name=name, names=names)
        return one

    def flagged(self, flag: str) -> tuple[Variable, ...]:
        """Return the variables with a tag."""
        return tuple(one for one in self.variables if one.has(flag))


def read_metadata(path: Path, encoding: str | None = None) -> Metadata:
    """Read a metadata file.

    Raises:
        DataError: A tag is unknown, precedes all variables, or lacks its value; or a variable is described twice.
    """
    return replace(parse_metadata(lines_of(path, encoding), path.name), encoding=encoding)


def parse_metadata(lines: Sequence[str], name: str = "the text") -> Metadata:
    """Parse the lines of a metadata file."""
    variables: list[Variable] = []
    marks: dict[str, str] = {}
    separator: str | None = None
    free = any("<SEPARATOR>" in line.upper() for line in lines)
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("//"):
            continue
        if not text.startswith("<"):
            variables.append(_variable(line, number, free))
            _check_new(variables, name)
            continue
        if not _TAG.search(line):
            raise wrong(name, number, line.index("<") + 1, "metadata.the_tag_has_no_end")
        for tag, rest, column in _tags(line):
            if tag == "SEPARATOR":
                separator = _separator(rest, name, number, column)
            elif tag in GLOBAL and len(rest) > 1:
                do = Message("error.part.leave_the_others_out")
                raise wrong(name, number, column, "metadata.more_than_one_text_stands_behind", hint=do, name=tag)
            elif tag in GLOBAL:
                marks[tag] = next(iter(rest), "")
            elif not variables:
                do = Message("error.part.before_it_only_may_stand", names=", ".join(f"<{one}>" for one in GLOBAL))
                raise wrong(name, number, column, "metadata.stands_before_any_variable", hint=do, name=tag)
            else:
                variables[-1] = _tagged(variables[-1], tag, rest, name, number, column)
    if not variables:
        raise wrong(name, 1, 1, "truncated.no_variable_is_described")
    return Metadata(name, tuple(variables), separator, marks)


def _variable(line: str, number: int, free: bool) -> Variable:
    """Parse a column: position and length in fixed format, a length in free format; then codes of missing values."""
    head, *rest = fields_in(line, None)
    texts = [text for text, _ in rest]
    bare = [text.isdigit() and line[start - 1] != '"' for text, start in rest] + [False, False]
    if bare[0] and bare[1] and not free:
        return Variable(head[0], number, int(texts[0]), int(texts[1]), tuple(texts[2:]))
    length = int(texts[0]) if bare[0] else 0
    return Variable(head[0], number, 0, length, tuple(texts[1:] if bare[0] else texts))


def _check_new(variables: Sequence[Variable], name: str) -> None:
    """Refuse a variable with the name of an earlier one, ignoring case, because names would be ambiguous."""
    *before, new = variables
    for one in before:
        if one.name.lower() == new.name.lower():
            raise wrong(name, new.line, 1, "metadata.line_describes_already", line=one.line, column=new.name)


def _tags(line: str) -> list[tuple[str, list[str], int]]:
    tags = list(_TAG.finditer(line))
    ends = [*(one.start() for one in tags[1:]), len(line)]
    return [
        (
            ALIASES.get(one.group(1).upper(), one.group(1).upper()),
            [text for text, _ in fields_in(line[one.end() : end], None)],
            one.start() + 1,
        )
        for one, end in zip(tags, ends, strict=True)
    ]


def _separator(rest: list[str], name: str, number: int, column: int) -> str:
    text = next(iter(rest), "")
    if len(text) != 1 or len(rest) > 1:
        raise wrong(name, number, column, "metadata.the_separator_is_not_one_sign")
    return text


def _tagged(variable: Variable, tag: str, rest: list[str], name: str, number: int, column: int) -> Variable:
    most = 0 if tag in FLAGS else 1 if tag in SINGLE else len(rest)
    if len(rest) > most:
        raise wrong(name, number, column, "metadata.texts_too_many_stand_behind", count=len(rest) - most, name=tag)
    if tag in FLAGS:
        return replace(variable, flags=variable.flags | {tag})
    if tag not in OPTIONS:
        do = Message("hint.valid", names=", ".join(f"<{one}>" for one in (*FLAGS, *OPTIONS)))
        raise wrong(name, number, column, "metadata.is_unknown", hint=do, name=tag)
    if not rest:
        raise wrong(name, number, column, "metadata.nothing_stands_behind", name=tag)
    if tag in ("DECIMALS", "HIERLEVELS", "DISTANCE"):
        for text in rest:
            number_in(text, name, number, column)
    if tag == "DECIMALS" and not (rest[0].isascii() and rest[0].isdigit()):
        do = Message("error.part.write_whole_number")
        raise wrong(name, number, column, "metadata.decimals_not_whole", hint=do)
    if tag == "HIERLEVELS":
        _check_levels(variable, rest, name, number, column)
    return replace(variable, options={**variable.options, tag: tuple(rest)})


def _check_levels(variable: Variable, widths: list[str], name: str, number: int, column: int) -> None:
    """Refuse levels whose digits do not add up to those of the code."""
    if not all(text.isascii() and text.isdigit() for text in widths) or not any(map(int, widths)):
        raise wrong(name, number, column, "metadata.digits_not_whole")
    digits = sum(map(int, widths))
    if variable.length and digits != variable.length:
        raise wrong(
            name,
            number,
            column,
            "metadata.digits_of_code",
            count=digits,
            column=variable.name,
            number=variable.length,
        )


def metadata_text(metadata: Metadata) -> str:
    """Return metadata as the text of a file."""
    lines = [] if metadata.separator is None else [f'<SEPARATOR> "{metadata.separator}"']
    lines += [f'<{tag}> "{mark}"' for tag, mark in metadata.marks.items()]
    for one in metadata.variables:
        place = [str(one.position)] if one.position else []
        size = [str(one.length)] if one.length else []
        lines.append(
            " ".join([office_field(one.name, None, one.name), *place, *size, *(f'"{code}"' for code in one.missing)])
        )
        lines += [f"  <{flag}>" for flag in FLAGS if flag in one.flags]
        for tag, texts in one.options.items():
            for text in texts:
                check_text(text, one.name)
            bare = tag in (
                "DECIMALS",
                "HIERLEVELS",
                "DISTANCE",
                "CKM",
                "INCLUDEZEROS",
                "PARITY",
                "SCALING",
                "SEPARATION",
            )
            lines.append(f"  <{tag}> " + " ".join(text if bare else f'"{text}"' for text in texts))
    return "\n".join(lines) + "\n"
