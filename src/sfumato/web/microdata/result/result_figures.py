"""Data of the result step: what columns preserved, rows before and after, and the nodes of the lattice."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from sfumato.delimited.dialect import Dialect
from sfumato.delimited.records import read_lines
from sfumato.engines.duckdb.engine import DuckDBEngine, Row
from sfumato.localization.messages import Messages, from_json, words_in
from sfumato.microdata.data_plan import DataPlan, code_texts
from sfumato.microdata.plan.model import HIDDEN_ROLES
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.publish_plan import PublishPlan
from sfumato.microdata.recoding.recoding_file import read_recoding
from sfumato.pipelines.attack import attack
from sfumato.pipelines.release_folder import ProgressCallback
from sfumato.pipelines.report_folder import add_to_folder, read_dossier
from sfumato.report.plots import Pair
from sfumato.report.release.column_evidence import ReportData, before_alone
from sfumato.report.release.columns import lost_shares
from sfumato.schema.composite import read
from sfumato.schema.dataclass_schema import record_of
from sfumato.schema.files import load
from sfumato.service.jobs.worker import pack
from sfumato.values import Value, replace

MOST_POINTS = 3_000
# Shown for a value changed by chance or by its neighbors: its original row is not recorded.
CHANGED = "≈"


class KeptColumn(Value):
    """The information preserved in a column: proportion of detail, different values and distribution before and after.

    Attributes:
        lost: Whether every row has `*` here.
    """

    name: str
    share: float | None
    before: int
    after: int
    lost: bool
    shares: tuple[Pair, ...]


def dossier(folder: Path, words: Messages) -> ReportData:
    """Return the contents of a release folder, in the language of a page."""
    return replace(read_dossier(folder), language=words.language)


def report_of(folder: Path) -> dict[str, Any]:
    """Return the metrics of report.json."""
    report: dict[str, Any] = from_json((folder / "report.json").read_text(encoding="utf-8"))
    return report


def kept_columns(report: Mapping[str, Any]) -> list[KeptColumn]:
    """Return what each quasi-identifier preserved, the largest loss first, consistent with the notes on lost columns.

    If the method minimized another loss, the loss metric that was measured afterwards is used; for a column reported as
    lost, the reported proportion.
    """
    loss, utility = report["loss"], report["utility"]
    shares = loss if loss["name"] == "loss-metric" else (utility.get("losses") or {}).get("loss-metric", loss)
    hidden, left = report["suppressed_rows"], utility.get("values_left") or {}
    losses = lost_shares(
        shares.get("per_column") or {}, report["rows"] - hidden, hidden, report.get("heavily_generalized_columns") or ()
    )
    kept = [
        _kept(name, entry, losses.get(name), left.get(name, {}))
        for name, entry in (report.get("columns") or {}).items()
    ]
    return sorted(kept, key=lambda column: (not column.lost, column.share if column.share is not None else 1.0))


def _kept(name: str, entry: Mapping[str, Any], loss: float | None, left: Mapping[str, Any]) -> KeptColumn:
    share = None if loss is None or not 0 <= loss <= 1 else 1.0 - loss
    drawn = entry.get("distribution") or entry.get("shares", ())
    pairs = tuple(Pair(label, before, after) for label, before, after in drawn)
    # Remaining values exclude stars and missing values, as in the notes on lost columns.
    before, after = left.get("before", entry["distinct_before"]), left.get("after", entry["distinct_after"])
    lost = after == 0 and before > 0
    return KeptColumn(name, share, before, after, lost, before_alone(pairs) if lost else pairs)


def tile_helps(words: Messages) -> list[str]:
    """Return the tooltip of each highlighted metric."""
    return [words[f"tile.{name}"] for name in ("published", "suppressed", "highest", "uniques", "loss")]


def recoding_of(folder: Path) -> dict[str, Any]:
    """Return the content of recoding.json."""
    recoding: dict[str, Any] = json.loads((folder / "recoding.json").read_text(encoding="utf-8"))
    return recoding


def published_rows(
    recoding: Mapping[str, Any], rows: Sequence[Row], plan: Mapping[str, Any]
) -> list[tuple[Row, Row | None]]:
    """Return original rows with their published rows; None for a suppressed row."""
    recoded = read_recoding(recoding)
    names = list(recoding["columns"])
    missing = set(plan["data"].get("missing", ()))
    absent = {name: code_texts(column.get("missing", ())) for name, column in recoding["plan"]["columns"].items()}
    publishers = {name: cache(publisher(column)) for name, column in recoding["plan"]["columns"].items()}
    subset = next((entry["subset"] for entry in plan["privacy"] if entry["model"] == "delta-presence"), None)
    marks = {} if subset is None else {subset["column"]: "*"}
    pairs: list[tuple[Row, Row | None]] = []
    for raw in rows:
        row = {name: None if text in absent.get(name, ()) else text for name, text in raw.items()}
        if subset is not None and str(row[subset["column"]]) != str(subset["value"]):
            pairs.append((raw, None))
            continue
        texts = [None if row[name] in missing else row[name] for name in names]
        codes = [coding.places.get(text) for coding, text in zip(recoded.codings, texts, strict=True)]
        outcome = None if None in codes else recoded.publish(tuple(code for code in codes if code is not None))
        if outcome is None or outcome[1]:
            pairs.append((raw, None))
        else:
            labels = dict(zip(names, outcome[0], strict=True))
            others = {name: publish(row[name]) for name, publish in publishers.items() if name in row}
            pairs.append((raw, {**row, **others, **marks, **labels}))
    return pairs


def tried_changes(path: Path, plan: dict[str, Any], language: str, tell: ProgressCallback) -> list[dict[str, Any]]:
    """Try changes of a plan; return each as a sentence with the changed plan, and sentences on the costs of models."""
    from sfumato.pipelines.remedies import advise
    from sfumato.report.release.findings import cost_sentence, remedy_sentence

    words, original = words_in(language), read_plan(plan, path.parent)
    advice = advise(path, original, progress=tell)
    found = [
        {"says": remedy_sentence(words, one.to_dict()), "plan": one.applied_to(plan, original)}
        for one in advice.remedies
    ]
    return [*found, *({"says": cost_sentence(words, one.to_dict())} for one in advice.costs)]


def publisher(column: Mapping[str, Any]) -> Callable[[str | None], str | None]:
    """Return a function that maps the values of a column that is no quasi-identifier to its published ones.

    >>> publisher({"role": "person"})("7"), publisher({"role": "person", "publish": "key"})("7")
    ('*', 'key')
    >>> publisher({"role": "sensitive", "publish": {"round": 100}})("1234")
    '1200'
    >>> [publisher({"role": "sensitive", "publish": {"noise": 0.1}})(text) for text in ("1234", None)]
    ['≈', None]
    >>> publisher({"role": "identifier", "publish": {"pseudonym": "keyed"}})("Ada")
    '≈'
    """
    publish = column.get("publish")
    if publish == "removed" or (publish is None and column["role"] in HIDDEN_ROLES):
        return lambda _: "*"
    if publish is None:
        return lambda text: text
    if isinstance(publish, str):
        return lambda _: publish
    plan = read(record_of(PublishPlan), publish)
    if plan.perturbation is not None:
        return lambda text: None if text is None else CHANGED
    return lambda text: text if text is None or plan.shares else plan.publish([text])[0] or text


class Point(Value):
    """A node of the lattice: its levels, its loss, its suppressed rows, and whether it is Pareto optimal."""

    levels: dict[str, int]
    loss: float
    suppressed_rows: int
    best: bool = False


def points(folder: Path, rows: int) -> list[Point]:
    """Return the nodes of an exhaustive search that publish something, with Pareto optimal ones marked."""
    table = [line.fields for line in read_lines(folder / "nodes.csv", Dialect(";"))]
    head, place = table[0], table[0].index("loss")
    lost = head.index("suppressed_rows")
    nodes = [
        Point(dict(zip(head[:place], map(int, line[:place]), strict=True)), float(line[place]), int(line[lost]))
        for line in table[1:]
        if int(line[lost]) < rows
    ]
    return _thinned(_marked(nodes))


def here(folder: Path) -> Point | None:
    """Return the current release as a point with mean loss and suppressed rows; None if no loss was measured."""
    report = report_of(folder)
    mean = report.get("mean_loss")
    return None if mean is None else Point({}, float(mean), int(report["suppressed_rows"]))


def improves(points: Sequence[Point], release: Point) -> bool:
    """Return whether some node loses less than a release, or suppresses fewer rows.

    >>> improves([Point({}, 0.4, 3)], Point({}, 0.2, 0)), improves([Point({}, 0.1, 3)], Point({}, 0.2, 0))
    (False, True)
    """
    return any(point.loss < release.loss - 1e-9 or point.suppressed_rows < release.suppressed_rows for point in points)


def _marked(nodes: Sequence[Point]) -> list[Point]:
    """Return all points in the order of suppressed rows; Pareto optimal ones are marked."""
    marked, least = [], float("inf")
    for point in sorted(nodes, key=lambda point: (point.suppressed_rows, point.loss)):
        marked.append(replace(point, best=point.loss < least - 1e-9))
        least = min(least, point.loss)
    return marked


def _thinned(nodes: list[Point]) -> list[Point]:
    """Return a limited number of points, including all marked ones."""
    if len(nodes) <= MOST_POINTS:
        return nodes
    step = -(-len(nodes) // MOST_POINTS)
    return [point for place, point in enumerate(nodes) if point.best or place % step == 0]


RowPair = tuple[Row, Row | None]


def published_pairs(
    path: Path, read: DataPlan, folder: Path, plan: dict[str, Any], limit: int
) -> tuple[list[RowPair], bool]:
    """Return the first rows of a file with their published values, and whether equal rows were divided."""
    recoding = recoding_of(folder)
    return published_rows(recoding, first_rows(path, read, limit), plan), "division" in recoding


def first_rows(path: Path, read: DataPlan, limit: int) -> list[Row]:
    """Return the first rows of a file."""
    with closing(DuckDBEngine(path, read)) as engine:
        return engine.first_rows(limit)


Figures = dict[str, Any]


def attacked(folder: Path, raw: Path, control: Path | None, tell: ProgressCallback | None = None) -> Figures:
    """Attack the release in a folder, add the results to its reports, and return them."""
    plan = read_plan(load(folder / "plan.yaml"), raw.parent)  # its files are next to the data
    report = attack(folder, raw, control=control, plan=plan, progress=tell)
    add_to_folder(folder, report)
    pack(folder, folder.with_suffix(".zip"))
    return report.to_dict()
