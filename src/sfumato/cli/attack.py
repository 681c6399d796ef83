"""`sfumato attack`: measure how well attacks on a release succeed; exits with 1 only above a given risk."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.files import write_text
from sfumato.cli.options import AsJson, Quiet, names
from sfumato.cli.progress import progress_shown, show
from sfumato.errors import STATUS


def command(
    release: Annotated[Path, typer.Argument(help="A release folder, or a published file.")],
    raw: Annotated[Path | None, typer.Option(help="The original rows; by default the source of the plan.")] = None,
    control: Annotated[
        Path | None, typer.Option(help="Control rows: records of other persons that were never published.")
    ] = None,
    register: Annotated[Path | None, typer.Option(help="Register of persons that the attacker knows.")] = None,
    earlier: Annotated[list[Path] | None, typer.Option(help="Earlier releases, the first one first.")] = None,
    plan: Annotated[Path | None, typer.Option(help="The plan behind a published file.")] = None,
    quasi_identifiers: Annotated[str | None, typer.Option(help="Quasi-identifiers, separated by commas.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns, separated by commas.")] = None,
    attempts: Annotated[int, typer.Option(min=1, help="Number of attempts of each attack.")] = 1000,
    neighbors: Annotated[int, typer.Option(min=1, help="Number of nearest rows used by linkage.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the attack.")] = 0,
    fail_above: Annotated[float | None, typer.Option(min=0, max=1, help="Exit 1 above this risk.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page to this file, too.")] = None,
    save: Annotated[bool, typer.Option(help="Also add the results to the reports of the release folder.")] = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> int:
    """Measure attacks on a release, compared with rows that were never published."""
    from sfumato.pipelines.attacks.attack import attack
    from sfumato.pipelines.attacks.saved_report import add_to_folder, raw_of
    from sfumato.report.checks import attack_text, page_of

    if html is not None:
        check_free(html)
    with progress_shown(quiet):
        report = attack(
            release,
            raw or raw_of(release),
            control=control,
            register=register,
            earlier=earlier,
            plan=plan,
            quasi_identifiers=names(quasi_identifiers),
            sensitive=names(sensitive),
            attempts=attempts,
            neighbors=neighbors,
            seed=seed,
        )
    if html is not None:
        write_text(html, page_of(report.to_dict()))
    if save:
        add_to_folder(release, report)
    show(attack_text(report.to_dict()), report.to_dict(), json)
    return STATUS["promise"].exit if fail_above is not None and report.highest > fail_above else 0
