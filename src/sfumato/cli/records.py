"""Commands `attributes` (anonymize records attribute by attribute), `import` and `export` (files of other programs)."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.options import AsJson, Decimal, Header, Quiet, Separator, show
from sfumato.values import asdict


def attributes_command(
    data: Annotated[Path, typer.Argument(help="Records: .csv, .json, .jsonl or .parquet.")],
    configuration: Annotated[str, typer.Option(help="File or URL: a knowledge graph, or the inline form.")],
    out: Annotated[
        Path, typer.Option(help="File for the anonymized records; the file extension determines the format.")
    ],
    ontology: Annotated[
        str | None, typer.Option(help="Name or URL of an ontology that must allow each operation.")
    ] = None,
    data_class: Annotated[str | None, typer.Option(help="The class of the graph that the records belong to.")] = None,
    buckets: Annotated[str | None, typer.Option(help="unique99, sqrt or a number.")] = None,
    pass_through: Annotated[
        bool | None, typer.Option("--pass-through/--refuse-unknown", help="What to do with attributes not configured.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes the noise repeatable; for tests only.")] = None,
    allow_config_host: Annotated[
        list[str] | None, typer.Option(help="A host inside the network to fetch from.")
    ] = None,
    ontologies: Annotated[Path | None, typer.Option(help="Folder of ontologies.")] = None,
    separator: Separator = None,
    header: Header = None,
    decimal: Decimal = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Anonymize records attribute by attribute."""
    from sfumato.attributes.fetching import Fetcher
    from sfumato.attributes.sources import Sources
    from sfumato.engines.record_io import read_records, write_records
    from sfumato.pipelines.attributes import anonymize_attributes

    check_free(out)
    hosts = frozenset(host.casefold() for host in allow_config_host or ())
    rule: Any = int(buckets) if buckets and buckets.isdecimal() else buckets
    answer = anonymize_attributes(
        read_records(data, separator, decimal or ".", header),
        configuration,
        ontology=ontology,
        data_class=data_class,
        buckets=rule,
        pass_through=pass_through,
        seed=seed,
        sources=Sources(Fetcher(hosts), ontologies),
    )
    write_records(answer.data, out)
    _print_answer(answer, out, as_json, quiet)


def _print_answer(answer: Any, out: Path, as_json: bool, quiet: bool) -> None:
    if as_json:
        figures = {"records": len(answer.data), "kpis": answer.kpis, "warnings": list(answer.warnings)}
        sys.stdout.write(json.dumps(figures, ensure_ascii=False) + "\n")
    if quiet:
        return
    for warning in answer.warnings:
        sys.stderr.write(f"Warning: {warning}\n")
    sys.stderr.write(f"{len(answer.data)} records written to {out} (kAnonymity {answer.kpis['kAnonymity']}).\n")


PROJECTS = (".deid", ".r")


def import_command(
    data: Annotated[
        Path, typer.Argument(help="Rows (.sav, .zsav, .por, .dta, .sas7bdat, .xpt), or a project (.deid, .R).")
    ],
    *,
    out: Annotated[
        Path, typer.Option(help="The CSV file to write, with labels in a second file; for a project, a new folder.")
    ],
    labels: Annotated[bool, typer.Option("--labels", help="Write labels in place of the values.")] = False,
    catalog: Annotated[Path | None, typer.Option(help="The catalog in which SAS keeps labels.")] = None,
    json: AsJson = False,
) -> None:
    """Convert a survey file to CSV, or an ARX project or sdcMicro script to a plan."""
    if is_project(data):
        import_project(data, out, json)
        return
    from sfumato.pipelines.migration.project import import_survey

    found = import_survey(data, out, labels=labels, catalog=catalog)
    show(found.text(), asdict(found), json)
    sys.stderr.write(f"Wrote {out}.\n")


def is_project(file: Path) -> bool:
    """Return whether a file is a project of another tool, not rows."""
    return file.suffix.lower() in PROJECTS


def import_project(file: Path, out: Path, as_json: bool) -> None:
    """Write the plan and its files to a new folder, and list what could not be imported."""
    from sfumato.pipelines.migration.arx_project import read_arx
    from sfumato.pipelines.migration.sdcmicro_script import read_script

    check_free(out)
    project = read_arx(file) if file.suffix.lower() == ".deid" else read_script(file)
    plan = project.save(out)
    left_out = "".join(f"  left out: {line}\n" for line in project.left_out)
    told = {"plan": str(out / "plan.yaml"), "left_out": list(project.left_out)}
    show(f"{plan}\n\nWrote {out / 'plan.yaml'}.\n{left_out}", told, as_json)


def export_command(
    rows: Annotated[Path, typer.Argument(help="The published rows: data.csv or data.parquet.")],
    *,
    out: Annotated[Path, typer.Option(help="The file to write: .sav, .zsav or .dta.")],
    labels: Annotated[Path | None, typer.Option(help="The labels that `sfumato import` wrote, or the survey.")] = None,
) -> None:
    """Convert published rows back to a survey file."""
    from sfumato.pipelines.migration.project import export_survey

    number = export_survey(rows, out, labels)
    sys.stderr.write(f"Wrote {number:,} rows to {out}.\n")
