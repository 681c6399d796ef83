"""Parse `.arb` files: the batch language of τ-ARGUS; validate the rules and methods of its commands."""

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import fields_in, lines_of, number_in, wrong
from sfumato.tables.formats.argus_outputs import OPTIONS
from sfumato.values import Value


class Span(Value):
    """The valid range of a parameter.

    Attributes:
        what: Code of the parameter's name, without `parameter.`.
        least: The minimum.
        most: The maximum.
        whole: Whether the parameter must be an integer.
        inside: Whether both ends are excluded.
    """

    what: str
    least: float = 0.0
    most: float = math.inf
    whole: bool = False
    inside: bool = False

    def holds(self, number: float) -> bool:
        """Return whether a number is valid."""
        if self.whole and not float(number).is_integer():
            return False
        return self.least < number < self.most if self.inside else self.least <= number <= self.most

    @property
    def fault(self) -> Message:
        """What a parameter of this range must be."""
        kind = Message("error.part.kind_whole") if self.whole else Message("error.part.kind_number")
        what = Message(f"parameter.{self.what}")
        if math.isinf(self.most):
            limits = "above" if self.inside else "at_least"
            return Message(f"parameter.{limits}", what=what, kind=kind, least=self.least)
        limits = "between" if self.inside else "from_to"
        return Message(f"parameter.{limits}", what=what, kind=kind, least=self.least, most=self.most)


_MARGIN = Span("margin_percent")
_MANY = Span("contributors", 1, whole=True)
_PERCENT = Span("p", 0, 100, inside=True)
_SHARE = Span("percentage", 0, 100)
_SWITCH = Span("switch", 0, 1, whole=True)
# The parameters of each rule, and how many of them are required.
NUMBERS: dict[str, tuple[int, tuple[Span, ...]]] = {
    "P": (1, (_PERCENT, _MANY)),
    "NK": (2, (_MANY, Span("k", 0, 100, inside=True))),
    "FREQ": (1, (Span("least_respondents", 1, whole=True), _MARGIN)),
    "ZERO": (1, (Span("margin"),)),
    "REQ": (1, (Span("first_percentage", 0, 100), _SHARE, Span("respondents"), _MARGIN)),
    **dict.fromkeys(("WGT", "MIS"), (1, (_SWITCH,))),
    "MAN": (1, (_MARGIN,)),
}

_TABLE = Span("table", whole=True)
_MINUTES = Span("minutes")
_BASE, _STEPS = Span("base", inside=True), Span("steps", whole=True)
# The parameters of each protection method, and how many of them are required.
METHOD_NUMBERS: dict[str, tuple[int, tuple[Span, ...]]] = {
    "GH": (1, (_TABLE, Span("bounds"), Span("model_size"), _SWITCH)),
    "MOD": (1, (_TABLE, _MINUTES, _SWITCH, _SWITCH, _SWITCH)),
    "OPT": (1, (_TABLE, _MINUTES)),
    "RND": (
        2,
        (_TABLE, Span("base", inside=True), Span("steps", whole=True), _MINUTES, _SWITCH, _SWITCH),
    ),
    **dict.fromkeys(("NET", "CTA", "CKM"), (1, (_TABLE,))),
}
# Number of these parameters that Sfumato uses; a message lists the unused ones.
USED = {"GH": 1, "MOD": 2, "RND": 4}


def method_fault(method: str, numbers: Sequence[float]) -> Message | None:
    """Return what is wrong with the parameters of a protection method; None if they are valid.

    >>> print(method_fault("OPT", (1, -1)), method_fault("NET", (1, 2)), sep="\\n")
    The number of minutes must be a number of at least 0.
    NET has 1 parameter.
    """
    return _fault(method, *METHOD_NUMBERS[method], numbers)


def _fault(name: str, fewest: int, spans: Sequence[Span], numbers: Sequence[float]) -> Message | None:
    if not fewest <= len(numbers) <= len(spans):
        return _wrong_number(name, fewest, len(spans))
    return next((span.fault for span, number in zip(spans, numbers, strict=False) if not span.holds(number)), None)


def _wrong_number(name: str, fewest: int, most: int) -> Message:
    if most > fewest:
        return Message("parameter.number_between", name=name, least=fewest, most=most)
    return Message("parameter.number", name=name, count=fewest)


def numbers_fault(rule: str, numbers: Sequence[float]) -> Message | None:
    """Return what is wrong with the parameters of a rule; None if they are valid, or all 0, which disables
    the rule.

    >>> print(numbers_fault("NK", (1, 150)), numbers_fault("P", (0, 0)), sep="\\n")
    k must be a number between 0 and 100.
    None
    """
    fewest, spans = NUMBERS[rule]
    if rule == "P" and len(numbers) == 3:
        fewest, spans = 3, (_PERCENT, Span("q", numbers[0], inside=True), _MANY)
    if not fewest <= len(numbers) <= len(spans):
        most = 3 if rule == "P" else len(spans)
        return _wrong_number(rule, fewest, most)
    if not any(numbers):
        return None
    if rule == "REQ" and not numbers[0]:
        return Message("parameter.first_above_zero")
    return next((span.fault for span, number in zip(spans, numbers, strict=False) if not span.holds(number)), None)


WORDS = (
    *("OPENMICRODATA", "OPENTABLEDATA", "OPENMETADATA", "SPECIFYTABLE", "SAFETYRULE", "READMICRODATA", "READTABLE"),
    *("APRIORI", "SUPPRESS", "WRITETABLE", "SOLVER", "RECODE", "CLEAR", "LOGBOOK", "VERSIONINFO", "COMMENT"),
    *("GOINTERACTIVE", "SILENT", "COVER"),
)
ALIASES = {"APRIORY": "APRIORI"}
METHODS = ("GH", "MOD", "OPT", "NET", "RND", "CTA", "CKM")
RULES = ("P", "NK", "FREQ", "ZERO", "REQ", "WGT", "MIS", "MAN")
_COMMAND = re.compile(r"^\s*<([A-Za-z]+)>(.*)$")
_CALL = re.compile(r"([A-Za-z]+)\s*\(([^()]*)\)")
_WRITE = re.compile(r'^\(\s*(\d+)\s*,\s*(\d+)\s*,\s*((?:[A-Za-z]{2}\s*[-+]?\s*)*),\s*"?([^")]+?)"?\s*\)?\s*$')


class Command(Value):
    """One line of a batch file: its word, the text after it, its line number, and the column of that text."""

    word: str
    rest: str
    line: int
    column: int


class Specification(Value):
    """SPECIFYTABLE: the spanning variables, the response, and the cost of suppression."""

    spanning: tuple[str, ...]
    response: str
    shadow: str = ""
    cost: str = ""
    exponent: float = 1.0


class RuleCall(Value):
    """A name with numbers in parentheses: a safety rule, or a protection method."""

    name: str
    numbers: tuple[float, ...]
    rest: str = ""


def read_batch(path: Path, encoding: str | None = None) -> list[Command]:
    """Read the commands of a batch file.

    Raises:
        DataError: A line has no command, or an unknown one.
    """
    return parse_batch(lines_of(path, encoding), path.name)


def parse_batch(lines: Sequence[str], name: str = "the text") -> list[Command]:
    """Parse the commands of lines; comments and empty lines are skipped."""
    commands = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith(("//", "\\\\")):
            continue
        match = _COMMAND.match(line)
        if not match:
            raise wrong(name, number, 1, "batch.there_no_command")
        word = ALIASES.get(match.group(1).upper(), match.group(1).upper())
        if word not in WORDS:
            names = ", ".join(f"<{one}>" for one in WORDS if one != "COVER")
            raise wrong(name, number, line.index("<") + 1, "batch.not_supported", word=word, names=names)
        if word == "COVER":
            raise wrong(name, number, line.index("<") + 1, "batch.cover_refused")
        rest = match.group(2)
        if word != "COMMENT" and rest.count('"') % 2:
            raise wrong(name, number, match.start(2) + rest.rindex('"') + 1, "batch.quote")
        commands.append(Command(word, rest.strip(), number, match.start(2) + len(rest) - len(rest.lstrip()) + 1))
    return commands


def file_in(command: Command) -> str:
    """Return the file name of a command."""
    return command.rest.strip().strip('"')


def specification_in(command: Command, name: str) -> Specification:
    """Parse the table that a command specifies.

    Raises:
        DataError: The spanning variables are missing or repeated, or there is no response.
    """
    parts = command.rest.split("|")
    spanning = tuple(re.findall(r'"([^"]+)"', parts[0]) or parts[0].split())
    if not spanning or len(parts) < 2:
        raise wrong(name, command.line, command.column, "batch.spanning_variables_or_response")
    if len({one.lower() for one in spanning}) < len(spanning):
        raise wrong(name, command.line, command.column, "batch.spanning_variable_occurs_twice")
    texts = [part.strip().strip('"') for part in parts[1:]] + ["", ""]
    cost, _, exponent = texts[2].partition(",")
    power = number_in(exponent, name, command.line, command.column) if exponent.strip() else 1.0
    return Specification(spanning, texts[0] or "<freq>", texts[1], cost.strip().strip('"'), power)


def rules_in(command: Command, name: str) -> list[RuleCall]:
    """Parse the safety rules of a command; empty if the statuses of the file apply.

    Raises:
        DataError: A rule is unknown, or has invalid numbers.
    """
    rules, column = [], command.column
    parts = command.rest.split("|")
    for place, part in enumerate(parts):
        if not part.strip() and place < len(parts) - 1:
            raise wrong(name, command.line, column, "batch.nothing_precedes_bar")
        if part.strip():
            rules.append(_rule(part.strip(), name, command.line, column + len(part) - len(part.lstrip())))
        column += len(part) + 1
    return rules


def _rule(text: str, name: str, line: int, column: int) -> RuleCall:
    match = _CALL.fullmatch(text)
    if not match or match.group(1).upper() not in RULES:
        do = Message("error.part.write_one_of", names=", ".join(RULES))
        raise wrong(name, line, column, "batch.no_safety_rule", hint=do)
    rule, inner = match.group(1).upper(), match.group(2)
    numbers = tuple(number_in(part, name, line, column) for part in inner.split(",")) if inner.strip() else ()
    if fault := numbers_fault(rule, numbers):
        raise wrong(name, line, column, "batch", message=fault, hint=Message("hint.correct_rule", name=text))
    return RuleCall(rule, numbers)


def _numbers(text: str, command: Command, name: str) -> tuple[float, ...]:
    return tuple(number_in(part, name, command.line, command.column) for part in text.split(",") if part.strip())


def suppression_in(command: Command, name: str) -> RuleCall:
    """Parse the protection method of a command; its first number is that of the table, 0 for all jointly.

    Raises:
        DataError: The method is unknown, or the table is not named.
    """
    match = _CALL.match(command.rest)
    if not match or match.group(1).upper() not in METHODS:
        do = Message("error.part.write_method_and_table", names=", ".join(METHODS))
        raise wrong(name, command.line, command.column, "batch.no_way_protect", hint=do)
    numbers, method = _numbers(match.group(2), command, name), match.group(1).upper()
    if not numbers:
        raise wrong(name, command.line, command.column, "batch.number_table_missing")
    if fault := method_fault(method, numbers):
        do = Message("hint.correct_method", name=method)
        raise wrong(name, command.line, command.column, "batch", message=fault, hint=do)
    return RuleCall(method, numbers, command.rest[match.end() :].strip())


class Output(Value):
    """WRITETABLE: the table, the kind of file, its options and its name."""

    table: int
    kind: int
    options: dict[str, bool]
    file: str


def output_in(command: Command, name: str) -> Output:
    """Parse a WRITETABLE command.

    Raises:
        DataError: The line is invalid, or an option is unknown or without effect.
    """
    match = _WRITE.match(command.rest)
    if not match:
        raise wrong(name, command.line, command.column, "batch.table_kind_options_file")
    options = {}
    for letters, sign in re.findall(r"([A-Za-z]{2})\s*([-+]?)", match.group(3)):
        if what := _option_fault(letters.upper(), sign, int(match.group(2))):
            do = Message("hint.batch_options", names=", ".join(OPTIONS))
            raise wrong(name, command.line, command.column, "batch", message=what, hint=do)
        options[letters.upper()] = sign == "+"
    return Output(int(match.group(1)), int(match.group(2)), options, match.group(4))


def _option_fault(option: str, sign: str, kind: int) -> Message | None:
    """Return what is wrong with an option of a kind of output; None if it is valid."""
    if option not in OPTIONS:
        return Message("parameter.unknown_option", option=option)
    if not sign:
        return Message("parameter.option_sign", option=option)
    idle = (option in ("AO", "AD", "AC") and kind != 7) or (option == "AS" and kind == 1)
    return Message("parameter.idle_option", option=option, kind=kind) if idle and sign == "+" else None


class Apriori(Value):
    """APRIORI: the file, the table, and how the file is read."""

    file: str
    table: int
    separator: str
    ignore_errors: bool
    expand_trivial: bool


def apriori_in(command: Command, name: str) -> Apriori:
    """Parse an APRIORI command.

    Raises:
        DataError: File, table or separator is missing.
    """
    quoted = re.match(
        r'^"?([^",]+)"?\s*,\s*(\d+)\s*,\s*"([^"]+)"\s*(?:,\s*([01])?)?\s*(?:,\s*([01])?)?\s*$', command.rest
    )
    if not quoted:
        raise wrong(name, command.line, command.column, "batch.file_table_separator_expected")
    file, table, separator, ignore, expand = quoted.groups()
    sign = {"\\t": "\t"}.get(separator, separator)
    return Apriori(file.strip(), int(table), sign, ignore == "1", expand == "1")


def recode_in(command: Command, name: str) -> tuple[int, str, str]:
    """Parse table, variable and recoding of a RECODE command.

    Raises:
        DataError: Table, variable or recoding is missing.
    """
    fields = [text for text, _ in fields_in(command.rest, ",")]
    if len(fields) != 3 or not fields[0].isdigit():
        raise wrong(name, command.line, command.column, "batch.table_variable_recoding_expected")
    return int(fields[0]), fields[1], fields[2]


def check_commands(commands: Sequence[Command], name: str) -> None:
    """Parse all commands, so that a batch file with an invalid line is neither run nor written.

    Raises:
        DataError: A line is invalid; the message names it.
    """
    readers: dict[str, Callable[[Command, str], object]] = {
        "SPECIFYTABLE": specification_in,
        "SAFETYRULE": rules_in,
        "SUPPRESS": suppression_in,
        "WRITETABLE": output_in,
        "APRIORI": apriori_in,
        "RECODE": recode_in,
    }
    for command in commands:
        if command.word == "GOINTERACTIVE":
            return
        if command.word in readers:
            readers[command.word](command, name)
