"""`sfumato attributes`: mask, generalize or randomize the attributes of a file of records."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.options import AsJson, Decimal, Header, Quiet, Separator


def command(
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
    _tell(answer, out, as_json, quiet)


def _tell(answer: Any, out: Path, as_json: bool, quiet: bool) -> None:
    if as_json:
        figures = {"records": len(answer.data), "kpis": answer.kpis, "warnings": list(answer.warnings)}
        sys.stdout.write(json.dumps(figures, ensure_ascii=False) + "\n")
    if quiet:
        return
    for warning in answer.warnings:
        sys.stderr.write(f"Warning: {warning}\n")
    sys.stderr.write(f"{len(answer.data)} records written to {out} (kAnonymity {answer.kpis['kAnonymity']}).\n")
