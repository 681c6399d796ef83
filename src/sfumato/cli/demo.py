"""`sfumato demo`: releases made-up German patients, to show what comes out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.files import make_folder
from sfumato.cli.talk import show, talking
from sfumato.errors import PlanError
from sfumato.folders import check_free

if TYPE_CHECKING:
    from sfumato.datasets.dataset import Dataset


def command(
    out: Annotated[Path, typer.Option(help="Folder for the release; it must not exist yet.")] = Path("demo-release"),
    quiet: Annotated[bool, typer.Option(help="Say nothing but results and errors.")] = False,
) -> None:
    """Release 300 made-up patients with k = 5, and say where release and report lie."""
    check_free(out)
    with talking(quiet, compiled=True) as talk:
        from sfumato.datasets import patients
        from sfumato.pipelines.release import anonymize
        from sfumato.report.release import text

        dataset = patients()
        source, plan = out.parent / "demo-patients.csv", out.parent / "demo-plan.yaml"
        _place({source: _rows(dataset), plan: _plan(dataset, source.name)})
        release = anonymize(None, plan, progress=talk)
        try:
            release.save(out)
        finally:
            release.close()
        talk.say(f"{dataset.rows} made-up patients (name, date of birth, sex, ZIP code, illness): {source}")
        show(text(release.report), release.report.to_dict(), False)
        typer.echo(f"\nRelease: {out.resolve() / 'data.csv'}\nReport:  {out.resolve() / 'report.html'}")


def _place(files: dict[Path, bytes]) -> None:
    """Write files for the user to play with; one of an earlier demo stays, and what was made of it is not replaced."""
    for path, content in files.items():
        if path.exists() and path.read_bytes() != content:
            raise PlanError(
                f"{path.name} exists and is not the demo's.", "Name another folder with --out, or remove it.", "exists"
            )
    for path, content in files.items():
        make_folder(path.parent)
        path.write_bytes(content)


def _rows(dataset: "Dataset") -> bytes:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        dataset.write(path)
        return path.read_bytes()


def _plan(dataset: "Dataset", source: str) -> bytes:
    import yaml

    wanted = dataset.plan(source, 5)
    wanted["method"] = {"name": "optimal", "loss": "loss-metric", "suppression": 0.05}
    wanted["output"] = {"class_column": "class", "order": "shuffle"}
    return str(yaml.safe_dump(wanted, sort_keys=False, allow_unicode=True)).encode()
