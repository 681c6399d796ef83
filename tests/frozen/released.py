"""What a frozen case publishes: the SHA-256 and size of every data file that its plan releases."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import polars as pl
import yaml

import sfumato as sf
from sfumato.pipelines.apply import apply

HERE = Path(__file__).parent
EXPECTED = HERE / "expected.json"
# What is handed out: the rows, the cells, and the files of offices. Reports, plans and recodings are not compared.
DATA = (
    "data.*",
    "table-external.*",
    "table.px",
    "table-pivot.csv",
    "table-sdmx.csv",
    "patients.csv",
    "visits.csv",
    "lab.csv",
    "answer.csv",
)
Digests = dict[str, dict[str, Any]]


def cases() -> dict[str, dict[str, Any]]:
    """All cases by their names, each with its whole plan."""
    read = yaml.safe_load((HERE / "cases.yaml").read_text(encoding="utf-8"))
    return {name: _whole(case, read["base"]) for name, case in read["cases"].items()}


def expected() -> dict[str, Digests]:
    """The digests that were recorded, by case and file."""
    recorded: dict[str, Digests] = json.loads(EXPECTED.read_text(encoding="utf-8"))
    return recorded


def released(case: Mapping[str, Any], inputs: Path, folder: Path) -> Digests:
    """Carry out a case and say what its data files hold.

    Args:
        inputs: Where the input files lie.
        folder: A folder of its own for what is released.
    """
    folder.mkdir(parents=True)
    out = folder / "released"
    _JOBS[case["job"]](case, inputs, folder, out)
    files = sorted(path for path in out.rglob("*") if path.is_file() and _is_data(path, out))
    return {path.relative_to(out).as_posix(): _digest(path) for path in files}


def _whole(case: dict[str, Any], bases: Mapping[str, Any]) -> dict[str, Any]:
    """A case with what its base says and it does not; columns are merged one by one."""
    base = bases[case["base"]] if "base" in case else {}
    plan = {**base.get("plan", {}), **case.get("plan", {})}
    for part in ("columns", "table"):
        if part in base.get("plan", {}):
            merged = {**base["plan"][part], **case.get("plan", {}).get(part, {})}
            plan[part] = {name: value for name, value in merged.items() if value is not None}
    return {**base, **case, "plan": {name: value for name, value in plan.items() if value is not None}}


def _planned(case: Mapping[str, Any], inputs: Path, folder: Path, further: Mapping[str, Any] | None = None) -> Path:
    """The plan of a case as a file, its inputs named from where it lies."""
    text = json.dumps({"version": 1, **case["plan"], **(further or {})}).replace(
        "IN/", f"{inputs.resolve().as_posix()}/"
    )
    path = folder / "case.json"
    path.write_text(text, encoding="utf-8")
    return path


def _anonymize(case: Mapping[str, Any], inputs: Path, folder: Path, out: Path) -> None:
    if "frame" in case:
        frame = pl.read_csv(inputs / case["frame"], separator=";", infer_schema=False)
        sf.anonymize(frame, _planned(case, inputs, folder)).save(out)
        return
    sf.anonymize(None, _planned(case, inputs, folder)).save(out)


def _anonymize_again(case: Mapping[str, Any], inputs: Path, folder: Path, out: Path) -> None:
    """A release, and a second one of the same persons, a month later."""
    first = out / "first"
    _anonymize(case, inputs, folder, first)
    later = {"data": case["later"], "previous": [first.resolve().as_posix()]}
    sf.anonymize(None, _planned(case, inputs, folder, later)).save(out / "second")


def _apply(case: Mapping[str, Any], inputs: Path, folder: Path, out: Path) -> None:
    """A release, and its recoding applied to other rows."""
    first = out / "first"
    _anonymize(case, inputs, folder, first)
    apply(first / "recoding.json", inputs / case["newer"], out / "second", drop_violating=True, released=False)


def _protect(case: Mapping[str, Any], inputs: Path, folder: Path, out: Path) -> None:
    sf.protect(None, _planned(case, inputs, folder)).save(out)


def _protect_again(case: Mapping[str, Any], inputs: Path, folder: Path, out: Path) -> None:
    """A table, and a second one of the same records."""
    first = out / "first"
    _protect(case, inputs, folder, first)
    later = {"dimensions": case["later"], "previous": [first.resolve().as_posix()]}
    sf.protect(None, _planned(case, inputs, folder, later)).save(out / "second")


def _suppress(case: Mapping[str, Any], inputs: Path, folder: Path, out: Path) -> None:
    """A crosstab of everyday use."""
    rows = pl.read_csv(inputs / "firms.csv", separator=";")
    crosstab = rows.group_by("nace").agg(
        *((pl.col("region") == name).sum().alias(name) for name in "NSW"), pl.len().alias("Total")
    )
    _written(sf.suppress(crosstab.sort("nace"), case["policy"]), out)


def _attributes(case: Mapping[str, Any], inputs: Path, folder: Path, out: Path) -> None:
    rows = pl.read_csv(inputs / "survey.csv", separator=";", columns=list(case["plan"])).head(60)
    _written(sf.anonymize_attributes(rows, case["plan"], **case.get("options", {})).data, out)


def _written(frame: pl.DataFrame, out: Path) -> None:
    out.mkdir()
    text = pl.DataFrame({name: [str(value) for value in frame[name]] for name in frame.columns}).write_csv()
    (out / "answer.csv").write_text(text, encoding="utf-8", newline="")


_JOBS: Mapping[str, Callable[[Mapping[str, Any], Path, Path, Path], None]] = {
    "anonymize": _anonymize,
    "anonymize-again": _anonymize_again,
    "apply": _apply,
    "protect": _protect,
    "protect-again": _protect_again,
    "suppress": _suppress,
    "attributes": _attributes,
}


def _is_data(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    return "internal" not in parts and any(fnmatch(part, pattern) for part in parts for pattern in DATA)


def _digest(path: Path) -> dict[str, Any]:
    """The digest of a file; of Parquet, whose bytes say who wrote it, that of its values as CSV."""
    held = path.read_bytes()
    if path.suffix == ".parquet":
        held = pl.read_parquet(path, hive_partitioning=False).write_csv().encode()
    return {"sha256": hashlib.sha256(held).hexdigest(), "bytes": len(held)}


def differences(then: Digests, now: Digests) -> Iterator[str]:
    """Each file whose data are not what they were, and how."""
    for name in sorted({*then, *now}):
        if name not in now:
            yield f"{name} is no longer published"
        elif name not in then:
            yield f"{name} was not published before"
        elif then[name] != now[name]:
            yield f"{name} has other data: {now[name]['bytes']} bytes, {then[name]['bytes']} before"
