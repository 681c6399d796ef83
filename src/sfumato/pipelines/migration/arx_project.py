"""Projects of ARX (.deid): a zip with the input as CSV, hierarchies as CSV, and XML that says what each column is.

`metadata.xml` has the version, `project.xml` how the CSV files are written, `input/definition.xml` the columns,
`input/config.xml` models, suppression, metric and weights, `input/hierarchies/` one CSV file a column and
`data/input.csv` the rows. The other entries are objects of Java, which nothing but ARX reads.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from sfumato.dataclass import dataclass
from sfumato.errors import DataError, EngineError
from sfumato.pipelines.migration.arx_models import losses_of, model_of
from sfumato.pipelines.migration.project import ImportedProject

ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi-identifier",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "insensitive",
}
TYPES = {"Integer": "integer", "Decimal": "decimal"}
INPUT = "data/input.csv"
# Entries that only ARX can read, with their contents.
OBJECTS = {"lattice.dat": "the solution space", "filter.dat": "the filter", "clipboard.xml": "the clipboard"}
LARGEST_XML = 50_000_000


def read_arx(path: Path) -> ImportedProject:
    """Convert an ARX project to a plan with its files.

    Raises:
        EngineError: The file cannot be read.
        DataError: It is no project of ARX.
    """
    try:
        with ZipFile(path) as archive:
            return _Reader(archive).project()
    except OSError as error:
        raise EngineError(f"{path.name} cannot be read: {error.strerror}.", "Check the path.", "unreadable") from None
    except BadZipFile:
        raise _no_project("it is no zip file.") from None


def _no_project(what: str) -> DataError:
    return DataError(f"this is no project of ARX: {what}", "Save it in ARX as a project (.deid).", "project")


@dataclass(slots=True)
class _Reader:
    """Reads one project and collects what cannot be converted."""

    archive: ZipFile
    left_out: list[str] = field(default_factory=list)

    def project(self) -> ImportedProject:
        definition, config = self._xml("input/definition.xml"), self._xml("input/config.xml")
        if definition is None or config is None:
            raise _no_project("it has no definition of columns or no configuration.")
        separator = self._separator()
        files = dict(self._files(definition))
        weights = dict(self._weights(config))
        columns = {name: self._column(one, files, separator, weights) for name, one in _assignments(definition)}
        plan = {
            "version": 1,
            "data": self._data(separator),
            "columns": columns,
            "privacy": list(self._privacy(config, columns, files)),
            "method": self._method(config),
            "output": {"suppressed": "star"},
        } | self._utility(definition, columns)
        self._note_objects()
        return ImportedProject(plan, self._contents(files), tuple(self.left_out))

    def _xml(self, name: str) -> ElementTree.Element | None:
        if name not in self.archive.namelist():
            return None
        if self.archive.getinfo(name).file_size > LARGEST_XML:
            raise _no_project(f"{name} is too large.")
        text = self.archive.read(name)
        if b"<!DOCTYPE" in text:
            raise _no_project(f"{name} declares a document type, which ARX does not write.")
        try:
            return ElementTree.fromstring(text)
        except ElementTree.ParseError:
            raise _no_project(f"{name} is no XML.") from None

    def _separator(self) -> str:
        project = self._xml("project.xml")
        return (project.findtext("separator") if project is not None else None) or ";"

    def _data(self, separator: str) -> dict[str, Any]:
        if INPUT not in self.archive.namelist():
            self.left_out.append("The project has no rows: name the file in data.source.")
            return {"separator": separator}
        return {"source": INPUT, "separator": separator, "header": True}

    def _files(self, definition: ElementTree.Element) -> Iterator[tuple[str, str]]:
        """Yield the file of each hierarchy, by column; column names may not be valid file names."""
        for place, (name, one) in enumerate(_assignments(definition), start=1):
            ref = one.findtext("ref")
            if ref and f"input/{ref}" in self.archive.namelist():
                yield name, f"hierarchies/{place:02d}-{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)}.csv"

    def _contents(self, files: Mapping[str, str]) -> dict[str, bytes]:
        contents = {file: self.archive.read(f"input/hierarchies/{name}.csv") for name, file in files.items()}
        return contents | ({INPUT: self.archive.read(INPUT)} if INPUT in self.archive.namelist() else {})

    def _column(
        self, one: ElementTree.Element, files: Mapping[str, str], separator: str, weights: Mapping[str, float]
    ) -> dict[str, Any]:
        name, kind = one.findtext("name") or "", one.findtext("type") or ""
        role = ROLES.get(kind, "identifier")
        if kind not in ROLES:
            self.left_out.append(f'Column "{name}": its type {kind or "(none)"} is not known; it is withheld.')
        if one.findtext("microAggregationFunction"):
            function = one.findtext("microAggregationFunction")
            self.left_out.append(f'Column "{name}": microaggregation by {function} is not carried over.')
        if role != "quasi-identifier":
            type_ = TYPES.get(one.findtext("datatype") or "") if role == "sensitive" else None
            return {"role": role} | ({"type": type_} if type_ else {})
        hierarchy: dict[str, Any] = {"type": "any"}
        if name in files:
            hierarchy = {"type": "file", "path": files[name], "separator": separator}
        weight = {"weight": weights[name]} if weights.get(name, 1.0) != 1.0 else {}
        return {"role": role, "hierarchy": hierarchy} | weight | (_levels(one) if name in files else {})

    def _weights(self, config: ElementTree.Element) -> Iterator[tuple[str, float]]:
        """Yield the weights scaled to a maximum of 1; ARX gives each column 0.5 by default."""
        entries = [
            (entry.findtext("attribute") or "", float(entry.findtext("weight") or 0))
            for entry in config.iterfind("attributeWeights/attributeWeight")
        ]
        if len({weight for _, weight in entries}) > 1:
            yield from ((name, 2 * weight) for name, weight in entries)

    def _privacy(
        self, config: ElementTree.Element, columns: Mapping[str, dict[str, Any]], files: Mapping[str, str]
    ) -> Iterator[dict[str, Any]]:
        for criterion in config.iterfind("criteria/criterion"):
            text = (criterion.text or "").strip()
            model = model_of(text, files)
            column = model.get("column") if model else None
            if model is None or (column is not None and columns.get(column, {}).get("role") != "sensitive"):
                self.left_out.append(f"Privacy model: {text}.")
            else:
                yield model

    def _method(self, config: ElementTree.Element) -> dict[str, Any]:
        metric = config.findtext("metric") or ""
        loss, aggregate = losses_of(metric)
        if loss is None:
            self.left_out.append(f"Utility measure: {metric or '(none)'}; the loss metric is used instead.")
        suppression = float(config.findtext("relativeMaxOutliers") or 0)
        if (config.findtext("suppressionString") or "*") != "*":
            self.left_out.append("The text for suppressed values: here it is *.")
        more = {"aggregate": aggregate} if aggregate else {}
        return {"name": "optimal", "loss": loss or "loss-metric", "suppression": min(max(suppression, 0), 1)} | more

    def _utility(self, definition: ElementTree.Element, columns: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
        """Return the target column of a classifier; ARX allows several, with any role."""
        names = [name for name, one in _assignments(definition) if one.findtext("responseVariable") == "true"]
        fitting = [name for name in names if columns[name]["role"] in ("sensitive", "insensitive")]
        self.left_out.extend(f'Response variable "{name}".' for name in names if name not in fitting[:1])
        return {"utility": {"target": fitting[0]}} if fitting else {}

    def _note_objects(self) -> None:
        present = [what for entry, what in OBJECTS.items() if entry in self.archive.namelist()]
        if present:
            self.left_out.append(f"What ARX had found: {', '.join(present)}; run the plan instead.")


def _assignments(definition: ElementTree.Element) -> Iterator[tuple[str, ElementTree.Element]]:
    """Yield the columns by name; ARX misspells the element, and the correct spelling is accepted, too."""
    for one in definition:
        if one.tag in ("assigment", "assignment"):
            yield one.findtext("name") or "", one


def _levels(one: ElementTree.Element) -> dict[str, int]:
    """Return the minimum and maximum level, if the project limits them."""
    levels = {"min_level": one.findtext("min") or "", "max_level": one.findtext("max") or ""}
    return {key: int(text) for key, text in levels.items() if text.isdigit() and (key, text) != ("min_level", "0")}
