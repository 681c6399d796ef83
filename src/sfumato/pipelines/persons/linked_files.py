"""Several files that are joined by keys: read and joined for a release, and the folder in which they are published."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np

from sfumato.atomic_folders import ScratchFolder, link, staged
from sfumato.engines.engine import Engine, FrameHolder, MissingRules, PublishedRows
from sfumato.engines.opening import EngineName, open_engine
from sfumato.engines.postprocessing import quote_formulas, separator_of
from sfumato.errors import DataError, PlanError, issue
from sfumato.localization.messages import Message, to_json
from sfumato.microdata.counts.frequency_table import Coding, ValueCounts, code_column, meaning_of
from sfumato.microdata.linked_files import FileRows, LinkedFiles, Values
from sfumato.microdata.plan.builder import Plan as RequestedPlan
from sfumato.microdata.plan.model import ColumnPlan, Plan, located
from sfumato.microdata.plan.parts import FilePlan, key_columns, parents_first
from sfumato.microdata.plan.write import plan_dict, plan_text
from sfumato.pipelines.persons.pseudonyms import write_private
from sfumato.pipelines.release_folder import readable
from sfumato.pipelines.release_stages.counting import check_texts
from sfumato.report.files import html
from sfumato.schema.frozen_dict import FrozenDict
from sfumato.values import State, Value, replace


class OpenFile(Value):
    """An input file.

    Attributes:
        plan: The plan of its own columns; keys are identifiers there.
        names: The plan's name for each of its columns: `visits.day` if other files also have a `day`.
        text_counts: Its rows by quasi-identifiers, sensitive columns and keys.
        codings: The codings of its quasi-identifiers.
    """

    name: str
    file: FilePlan
    plan: Plan
    names: Mapping[str, str]
    engine: Engine
    text_counts: ValueCounts
    codings: tuple[Coding, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that join it to other files."""
        return tuple(name for name in self.text_counts.columns if name not in self.names)

    def codes(self, column: str) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Return the codes of a column's texts, row by row."""
        codes: np.ndarray[Any, np.dtype[np.int32]] = np.repeat(
            self.text_counts.codes[:, self.text_counts.columns.index(column)], self.text_counts.counts
        )
        return codes

    def texts(self, column: str) -> list[str | None]:
        """Return the texts of a column, row by row."""
        values = self.text_counts.values[self.text_counts.columns.index(column)]
        return [values[code] for code in self.codes(column).tolist()]


def open_files(
    data: Mapping[str, Any] | None, plan: Plan, engine: EngineName | None, folder: Path | None = None
) -> tuple[OpenFile, ...]:
    """Open all files of a plan, parents first.

    Args:
        folder: The folder for the published rows, or None.

    Raises:
        PlanError: Data is given for other files, or a file's columns differ from those of the plan.
    """
    if data is not None and set(data) != set(plan.files):
        raise PlanError("files.not_those_of_plan", names=", ".join(plan.files))
    opened: list[OpenFile] = []
    try:
        for name in parents_first(plan.files):
            opened.append(_open(name, (data or {}).get(name), plan, engine, folder))
        _check_used(plan, opened)
    except BaseException:
        for file in opened:
            file.engine.close()
        raise
    return tuple(opened)


def _open(name: str, data: Any, plan: Plan, engine: EngineName | None, folder: Path | None) -> OpenFile:
    file = plan.files[name]
    keys = key_columns(plan.files, name)
    reading = replace(plan.data, source=file.source, codes=_codes(plan, name))
    source = replace(plan, data=reading, columns={}, files={})
    rows = open_engine(data, source, engine, folder=folder)
    try:
        names = {column: _named(plan, name, column) for column in rows.columns if column not in keys}
        own = _own_plan(plan, name, names, keys)
        judged = [column for column, known in names.items() if any(model.column == known for model in plan.privacy)]
        missing_keys = [key for key in keys if key not in rows.columns]
        if missing_keys:
            raise PlanError.listing(
                [issue(f"files.{name}", "file_lacks_join_key", missing_key=missing_keys[0])], "files"
            )
        check_texts(own, rows)
        text_counts = rows.count((*own.quasi_identifiers, *judged, *keys), MissingRules())
        codings = _codings(name, text_counts, own)
    except BaseException:
        rows.close()
        raise
    return OpenFile(name, file, own, names, rows, text_counts, codings)


def _codings(file: str, text_counts: ValueCounts, plan: Plan) -> tuple[Coding, ...]:
    """Return the codings of the quasi-identifiers of a file.

    Raises:
        DataError: Values do not fit their hierarchy.
    """
    codings = []
    for name in plan.quasi_identifiers:
        coding, rejected = code_column(text_counts.values[text_counts.columns.index(name)], plan.columns[name], plan)
        if rejected:
            raise DataError("invalid", name=file, count=len(rejected), column=name).about(
                values=list(rejected), column=name
            )
        codings.append(coding)
    return tuple(codings)


def _codes(plan: Plan, file: str) -> FrozenDict[tuple[str, ...]]:
    """Return the codes that mean missing in one column of a file, by the file's own column names."""
    codes = plan.source_data.codes
    own = {name.removeprefix(f"{file}."): texts for name, texts in codes.items() if name.startswith(f"{file}.")}
    shared = {name: texts for name, texts in codes.items() if f"{file}.{name}" not in plan.columns}
    return FrozenDict({**shared, **own})


def _named(plan: Plan, file: str, column: str) -> str:
    """Return the plan's name for a column of a file.

    Raises:
        PlanError: The plan does not mention the column.
    """
    name = next((name for name in (f"{file}.{column}", column) if name in plan.columns), None)
    if name is None:
        do = Message("error.part.give_it_a_role_insensitive")
        raise PlanError.listing(
            [issue("columns", message=Message("error.part.is_not_mentioned", name=file, column=column), hint=do)],
            "columns",
        )
    return name


def _own_plan(plan: Plan, file: str, names: Mapping[str, str], keys: tuple[str, ...]) -> Plan:
    """Return the plan for the columns of one file; the models are evaluated elsewhere."""
    columns = {column: plan.columns[name] for column, name in names.items()}
    own = replace(plan, data=replace(plan.data, source=plan.files[file].source), files={}, privacy=())
    return located(replace(own, columns=columns | {key: ColumnPlan("identifier") for key in keys}))


def _check_used(plan: Plan, opened: list[OpenFile]) -> None:
    """Refuse columns of the plan that no file has."""
    used = {name for file in opened for name in file.names.values()}
    faults = [issue(f"columns.{name}", "no_file_has_such_a_column") for name in plan.columns if name not in used]
    if faults:
        raise PlanError.listing(faults, "columns")


def relations_of(opened: tuple[OpenFile, ...], plan: Plan) -> LinkedFiles:
    """Return the joined rows of all files.

    Raises:
        DataError: A key is missing, repeated, or without a row in the parent file.
    """
    places: dict[str, dict[str | None, int]] = {}
    files = []
    for entry in opened:
        if entry.file.key is not None:
            places[entry.name] = _places(entry, entry.file.key)
        ladders = tuple(coding.ladder for coding in entry.codings)
        above = _above(entry, plan, places)
        columns = entry.plan.quasi_identifiers
        files.append(FileRows(entry.name, entry.file.parent, columns, ladders, _coded(entry), above))
    relations = LinkedFiles(tuple(files), {})
    return replace(relations, values=_values(opened, plan, relations))


def _coded(entry: OpenFile) -> Any:
    """Return the codes of the quasi-identifiers, row by row."""
    columns = entry.plan.quasi_identifiers
    coded = []
    for name, coding in zip(columns, entry.codings, strict=True):
        coded.append(coding.codes[entry.codes(name)])
    rows = int(entry.text_counts.counts.sum())
    return np.column_stack(coded) if coded else np.zeros((rows, 0), np.int32)


def _places(entry: OpenFile, key: str) -> dict[str | None, int]:
    texts = entry.texts(key)
    places = {text: place for place, text in enumerate(texts)}
    if None in places or len(places) != len(texts):
        raise DataError("key.missing_or_repeated", name=entry.name, column=key).about(column=key)
    return places


def _above(entry: OpenFile, plan: Plan, places: Mapping[str, Mapping[str | None, int]]) -> Any:
    parent = entry.file.parent
    if parent is None:
        return np.arange(int(entry.text_counts.counts.sum()))
    key = plan.files[parent].key or ""
    rows = [places[parent].get(text, -1) for text in entry.texts(key)]
    orphans = sum(place < 0 for place in rows)
    if orphans:
        raise DataError("orphans", name=entry.name, count=orphans, other=parent).about(column=key)
    return np.array(rows, np.int64)


def _values(opened: tuple[OpenFile, ...], plan: Plan, relations: LinkedFiles) -> dict[str, Values]:
    """Return which persons have which values in each sensitive column with a model, from all files that have it."""
    values = {}
    for column in dict.fromkeys(model.column for model in plan.privacy if model.column):
        numbers: dict[str | None, int] = {}
        pairs: set[tuple[int, int]] = set()
        for entry in opened:
            for own in (own for own, name in entry.names.items() if name == column):
                persons = relations.persons[entry.name].tolist()
                texts = entry.texts(own)
                meant = {text: meaning_of(text, column, plan) for text in dict.fromkeys(texts)}
                codes = [numbers.setdefault(meant[text], len(numbers)) for text in texts]
                pairs |= set(zip(persons, codes, strict=True))
        ordered = np.array(sorted(pairs), np.int64).reshape(-1, 2)
        values[column] = Values(ordered[:, 0], ordered[:, 1].astype(np.int32), tuple(numbers))
    return values


# The published replacement of each key; internal.
KEYS_FILE = "keys.json"


class FilesRelease(State):
    """The published rows of several files, with metrics."""

    resolved: Plan
    published: Mapping[str, PublishedRows]
    figures: Mapping[str, Any]
    keys: Mapping[str, Mapping[str, str]]
    workspace: ScratchFolder | None = None

    @property
    def plan(self) -> RequestedPlan:
        """The plan as it was carried out, as a start for new plans."""
        return RequestedPlan.of(self.resolved)

    @property
    def data(self) -> dict[str, Any]:
        """The published rows of each file: the kind of frame that was passed in, or the path of a file."""
        return {name: rows.data() for name, rows in self.published.items()}

    def __repr__(self) -> str:
        return f"FilesRelease({', '.join(self.published)}; {self.figures['persons']:,} persons)"

    def close(self) -> None:
        """Delete the temporary files of the release; saved files remain."""
        for rows in self.published.values():
            rows.close()
        if self.workspace is not None:
            self.workspace.cleanup()

    def save(self, folder: str | Path, home: Path | None = None) -> Path:
        """Write the release folder atomically.

        Args:
            home: The folder from which paths of the plan are resolved; the release folder by default.

        Raises:
            PlanError: The folder exists.
            EngineError: It cannot be written.
        """
        place = Path(folder)
        with staged(place) as stage:
            checksums = {}
            for name, rows in self.published.items():
                target = stage / f"{name}.{self.resolved.output.format}"
                _write(rows, target, self.resolved)
                if self.resolved.output.quotes_formulas:
                    quote_formulas(target, rows.columns, separator_of(rows, self.resolved.data.separator))
                checksums[name] = sha256(target.read_bytes()).hexdigest()
            write_private(stage / "plan.yaml", plan_text(self.resolved, home or place))
            write_private(stage / "report.json", to_json({**self.figures, "sha256": checksums}) + "\n")
            write_private(stage / "report.html", html(self.resolved, self.figures))
            write_private(stage / "recoding.json", readable(self._recoding(home or place), ensure_ascii=True) + "\n")
            write_private(stage / KEYS_FILE, readable(self.keys) + "\n")
        return place

    def _recoding(self, folder: Path) -> dict[str, Any]:
        secret = {"secret": self.resolved.secret} if self.resolved.seed is None else {}
        return {"kind": "files", "levels": self.figures["levels"], "plan": plan_dict(self.resolved, folder)} | secret


def _write(rows: Any, target: Path, plan: Plan) -> None:
    data = rows.data()
    if isinstance(data, Path):
        link(data, target)
        return
    cast("FrameHolder", rows).write(target, separator_of(rows, plan.data.separator)).close()
