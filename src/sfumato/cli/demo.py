"""`sfumato demo`: release synthetic German patients and print the result."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.files import make_folder
from sfumato.cli.options import NewFolder, Quiet
from sfumato.cli.progress import progress_shown, show
from sfumato.errors import PlanError

if TYPE_CHECKING:
    from sfumato.datasets.generated import Dataset


def command(
    out: NewFolder = Path("demo-release"),
    quiet: Quiet = False,
) -> None:
    """Release 300 made-up patients with k = 5, and print the paths of release and report."""
    check_free(out)
    with progress_shown(quiet) as progress:
        from sfumato.datasets import patients
        from sfumato.pipelines.release import anonymize
        from sfumato.report.release.report import text

        dataset = patients()
        source, plan = out.parent / "demo-patients.csv", out.parent / "demo-plan.yaml"
        _place({source: _rows(dataset), plan: _plan(dataset, source.name)})
        with closing(anonymize(None, plan, progress=progress)) as release:
            release.save(out)
        progress.say(f"{dataset.rows} made-up patients (name, date of birth, sex, ZIP code, illness): {source}")
        show(text(release.report), release.report.to_dict(), False)
        typer.echo(f"\nRelease: {out.resolve() / 'data.csv'}\nReport:  {out.resolve() / 'report.html'}")


def _place(files: dict[Path, bytes]) -> None:
    """Write the example files; a file of an earlier demo is not replaced."""
    for path, content in files.items():
        if path.exists() and path.read_bytes() != content:
            raise PlanError("exists", name=path.name)
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

    plan = dataset.plan(source, 5)
    plan["method"] = {"name": "local", "suppression": 0.02}
    plan["output"] = {"class_column": "class", "order": "shuffle"}
    return str(yaml.safe_dump(plan, sort_keys=False, allow_unicode=True)).encode()
