"""Feed damaged files to every reader and parser, for a limited time; anything but a result or a refusal is a fault.

`python tools/fuzz.py [SECONDS] [TARGET...]` prints how many texts each target read, and the smallest one of each fault.
Texts are mutations of valid ones: bytes changed, cut, repeated, spliced, numbers and marks inserted. The seed is
    printed.
"""

import random
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz_binary import BINARY
from fuzz_office import OFFICE
from sfumato.attributes.knowledge_graph.configurations import configuration_of
from sfumato.attributes.knowledge_graph.parsing import parse
from sfumato.delimited.dialect import Dialect
from sfumato.delimited.header import read_head
from sfumato.delimited.records import read_lines
from sfumato.errors import SfumatoError
from sfumato.hierarchies.builders import hierarchy_file
from sfumato.hierarchies.dates import read_moments, readable
from sfumato.microdata.plan.read import read_plan
from sfumato.tables.plan.table_plan import read_table_plan

Target = Callable[[bytes, Path], object]
SLOW_SECONDS = 5.0
MARKS = [
    b'"',
    b"'",
    b";",
    b",",
    b"\n",
    b"\r",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"{",
    b"}",
    b"[",
    b"]",
    b"&a ",
    b"*a",
    b"!!x ",
]
MARKS += [
    b"1e999",
    b"-0",
    b"nan",
    b".inf",
    b"9" * 400,
    b"%Y",
    b"\xf0\x9f\x98\x80",
    b"\xe2\x80\xae",
    b"<b>",
    b"\t",
    b"null",
    b"~",
]

PLAN = b"""version: 1
data: {source: rows.csv, separator: ";", header: true}
columns:
  name: {role: identifier}
  age: {role: quasi-identifier, type: integer, hierarchy: {type: intervals, widths: [5, 10]}}
  born: {role: quasi-identifier, hierarchy: {type: date, format: "%Y-%m-%d", levels: [month, year]}}
  zip: {role: quasi-identifier, hierarchy: {type: digits, length: 5}}
  illness: {role: sensitive}
privacy: [{model: k-anonymity, k: 5}, {model: l-diversity, variant: distinct, l: 2, column: illness}]
method: {name: optimal, loss: loss-metric, suppression: 0.02, time_limit: 5}
output: {format: csv, order: shuffle, suppressed: drop}
"""
TABLE_PLAN = b"""version: 1
table: {source: cells.csv, value: turnover, count: firms,
  dimensions: {region: {hierarchy: regions.csv}, size: {total: Total}}}
primary: [{rule: threshold, n: 3}, {rule: dominance, n: 1, k: 80}]
method: {name: optimal, time_limit: 10}
"""
ROWS = 'name;age;zip\nAda;36;70173\n"Grace ""G"" H";85;70174\nÄnne;;\n'.encode()
LADDER = b"70173;701**;7****;*\n70174;701**;7****;*\n89112;891**;8****;*\n"
TURTLE = b"""@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix soya: <https://w3id.org/soya/ns#> . @prefix : <https://clinic.example/Patient/> .
:visit rdfs:domain :Patient ; rdfs:range xsd:dateTime ; soya:classification soya:generalization .
"""
CONFIGURATION = b"""{"@context": {"@base": "https://clinic.example/Patient/", "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
"domain": {"@id": "rdfs:domain", "@type": "@id"}}, "@graph": [{"@id": "name", "domain": "Patient"}]}"""


def read_rows(content: bytes, folder: Path) -> None:
    """Read delimited files in several dialects."""
    path = folder / "rows.csv"
    path.write_bytes(content)
    for dialect in (Dialect(), Dialect(separator=";", header=True), Dialect(encoding="utf-16"), Dialect(decimal=",")):
        _answer_or_refuse(lambda dialect=dialect: read_head(path, dialect))
        _answer_or_refuse(lambda dialect=dialect: read_lines(path, dialect))


def read_microdata_plan(content: bytes, folder: Path) -> None:
    """Read a plan of rows."""
    path = folder / "plan.yaml"
    path.write_bytes(content)
    _answer_or_refuse(lambda: read_plan(path))


def read_tables_plan(content: bytes, folder: Path) -> None:
    """Read a plan of tables."""
    path = folder / "plan.yaml"
    path.write_bytes(content)
    _answer_or_refuse(lambda: read_table_plan(path))


def read_hierarchy(content: bytes, folder: Path) -> None:
    """Read a hierarchy in a file."""
    path = folder / "ladder.csv"
    path.write_bytes(content)
    _answer_or_refuse(lambda: hierarchy_file(path).fit(["70173", "70174", "", "x"]))


def read_dates(content: bytes, folder: Path) -> None:  # noqa: ARG001
    """Read dates under a format that may itself be damaged."""
    format_, *texts = content.decode("utf-8", "replace").split("\n")
    if readable(format_):  # plans with other formats are refused earlier
        _answer_or_refuse(lambda: read_moments(texts, format_))


def read_turtle(content: bytes, folder: Path) -> None:  # noqa: ARG001
    """Read a configuration graph in Turtle."""
    _answer_or_refuse(lambda: configuration_of(parse(content.decode("utf-8", "replace"), "text/turtle")))


def read_json_ld(content: bytes, folder: Path) -> None:  # noqa: ARG001
    """Read a configuration graph in JSON."""
    _answer_or_refuse(lambda: configuration_of(parse(content.decode("utf-8", "replace"), "application/ld+json")))


TARGETS: dict[str, tuple[Target, bytes]] = {
    "rows": (read_rows, ROWS),
    "plan": (read_microdata_plan, PLAN),
    "table plan": (read_tables_plan, TABLE_PLAN),
    "hierarchy": (read_hierarchy, LADDER),
    "dates": (read_dates, b"%Y-%m-%d %H:%M\n2026-11-16 10:00\n0001-01-01 00:00\n9999-12-31 23:59"),
    "turtle": (read_turtle, TURTLE),
    "json": (read_json_ld, CONFIGURATION),
    **OFFICE,
    **BINARY,
}


def _answer_or_refuse(call: Callable[[], object]) -> None:
    with suppress(SfumatoError):
        call()


def mutate(draw: random.Random, text: bytes) -> bytes:
    """Return a text with some damage."""
    content = bytearray(text)
    for _ in range(draw.choice((1, 1, 2, 4, 16))):
        place, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
        kind = draw.randrange(6)
        if kind == 0 and content:
            content[draw.randrange(len(content))] = draw.randrange(256)
        elif kind == 1:
            del content[place : min(end, place + 40)]
        elif kind == 2:
            content[place:place] = content[place : min(end, place + 60)]
        elif kind == 3:
            content[place:place] = draw.choice(MARKS)
        elif kind == 4:
            content[place : min(end, place + 12)] = draw.choice(MARKS)
        else:
            other = bytearray(draw.choice([seed for _, seed in TARGETS.values()]))
            content[place:end] = other[place:end]
    return bytes(content)


def attack(name: str, seconds: float, seed: int) -> tuple[int, dict[str, bytes]]:
    """Return how many texts a target read, and the smallest text of each fault."""
    target, good = TARGETS[name]
    draw, faults, count = random.Random(f"{seed}:{name}"), dict[str, bytes](), 0
    deadline = time.monotonic() + seconds
    with TemporaryDirectory() as folder:
        while time.monotonic() < deadline:
            content, count, began = mutate(draw, good), count + 1, time.monotonic()
            try:
                target(content, Path(folder))
                fault = "slow" if time.monotonic() - began > SLOW_SECONDS else ""
            except Exception as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                fault = f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"
            if fault and len(content) < len(faults.get(fault, content + b"x")):
                faults[fault] = content
    return count, faults


def main(arguments: Sequence[str]) -> int:
    seconds = float(arguments[0]) if arguments else 300.0
    names = arguments[1:] or list(TARGETS)
    seed, worst = random.SystemRandom().randrange(1 << 32), 0
    print(f"seed {seed}, {seconds:g} seconds")
    for name in names:
        count, faults = attack(name, seconds / len(names), seed)
        print(f"{name}: {count:,} texts, {len(faults)} faults")
        for fault, content in faults.items():
            print(f"  {fault}\n    {content!r}")
        worst += len(faults)
    return int(worst > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
