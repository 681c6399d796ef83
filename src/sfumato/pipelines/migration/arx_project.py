"""Projects of ARX (.deid): a zip with the input as CSV, hierarchies as CSV, and XML with the role of each column.

`metadata.xml` has the version, `project.xml` how the CSV files are written, `input/definition.xml` the columns,
`input/config.xml` models, suppression, metric and weights, `input/hierarchies/` one CSV file a column and
`data/input.csv` the rows. The other entries are objects of Java, which nothing but ARX reads.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from sfumato.errors import DataError, EngineError
from sfumato.localization.messages import Message
from sfumato.pipelines.migration.project import ImportedProject
from sfumato.values import State, field

NUMBER = r"([0-9.]+(?:E-?[0-9]+)?)"
OF = r" for attribute '(?P<column>.*)'"
Model = dict[str, Any]
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
        raise EngineError("unreadable", name=path.name, problem=error.strerror) from None
    except BadZipFile:
        raise _no_project(Message("phrase.arx_no_zip")) from None


def _no_project(what: str) -> DataError:
    return DataError("project.no_project_arx", what=what)


class _Reader(State):
    """Reads one project and collects what cannot be converted."""

    archive: ZipFile
    left_out: list[str] = field(default_factory=list)

    def project(self) -> ImportedProject:
        definition, config = self._xml("input/definition.xml"), self._xml("input/config.xml")
        if definition is None or config is None:
            raise _no_project(Message("phrase.arx_no_definition"))
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
            raise _no_project(Message("error.part.is_too_large", name=name))
        text = self.archive.read(name)
        if b"<!DOCTYPE" in text:
            raise _no_project(Message("phrase.arx_document_type", name=name))
        try:
            return ElementTree.fromstring(text)
        except ElementTree.ParseError:
            raise _no_project(Message("phrase.arx_no_xml", name=name)) from None

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


def _plain(name: str, key: str, whole: bool = False, **more: Any) -> Callable[[re.Match[str]], Model]:
    """Return a function that makes a model with one number."""
    return lambda match: {"model": name, key: int(float(match[1])) if whole else float(match[1]), **more}


def _recursive(match: re.Match[str]) -> Model:
    return {"model": "l-diversity", "l": int(float(match[2])), "variant": "recursive", "c": float(match[1])}


# Patterns of ARX texts and the corresponding models; a column is added if the text has one.
MODELS: dict[str, Callable[[re.Match[str]], Model]] = {
    rf"\(?{NUMBER}\)?-anonymity": _plain("k-anonymity", "k", whole=True),
    rf"distinct-{NUMBER}-diversity{OF}": _plain("l-diversity", "l", whole=True, variant="distinct"),
    rf"(?:shannon-)?entropy-{NUMBER}-diversity{OF}": _plain("l-diversity", "l", variant="entropy"),
    rf"recursive-\({NUMBER},\s*{NUMBER}\)-diversity{OF}": _recursive,
    rf"{NUMBER}-closeness with equal (?:ground-)?distance{OF}": _plain("t-closeness", "t", distance="equal"),
    rf"{NUMBER}-closeness with ordered (?:ground-)?distance{OF}": _plain("t-closeness", "t", distance="ordered"),
    rf"{NUMBER}-closeness with hierarchical (?:ground-)?distance{OF}": _plain(
        "t-closeness", "t", distance="hierarchical"
    ),
    rf"{NUMBER}-disclosure privacy{OF}": _plain("delta-disclosure", "delta"),
    rf"basic-{NUMBER}-likeness{OF}": _plain("beta-likeness", "beta", variant="basic"),
    rf"enhanced-{NUMBER}-likeness{OF}": _plain("beta-likeness", "beta", variant="enhanced"),
    rf"\(<\s*{NUMBER}\)?-sample-uniques.*": _plain("sample-uniqueness", "threshold"),
    rf"\(<\s*{NUMBER}\)?-(?:avg|average)-reidentification-risk.*": _plain("average-risk", "threshold"),
}
# Words in names of utility measures and the corresponding losses; the first match is used.
LOSSES = {
    "non-uniform entropy": "non-uniform-entropy",
    "discernib": "discernibility",
    "discernab": "discernibility",
    "precision": "precision",
    "height": "height",
    "average equivalence class": "average-class-size",
    "aecs": "average-class-size",
    "loss": "loss-metric",
}
AGGREGATES = {"geometric": "geometric", "arithmetic": "mean", "mean": "mean", "sum": "sum"}


def model_of(text: str, hierarchies: Mapping[str, str]) -> Model | None:
    """Return the model for a text of ARX, or None if Sfumato has none.

    Args:
        hierarchies: Hierarchy files by column; some distances are measured along one.

    >>> model_of("distinct-3-diversity for attribute 'illness'", {})
    {'model': 'l-diversity', 'l': 3, 'variant': 'distinct', 'column': 'illness'}
    """
    for pattern, make in MODELS.items():
        found = re.fullmatch(pattern, text, re.IGNORECASE)
        if found:
            column = found.groupdict().get("column")
            model = make(found) | ({"column": column} if column is not None else {})
            return _with_hierarchy(model, hierarchies)
    return None


def _with_hierarchy(model: Model, hierarchies: Mapping[str, str]) -> Model | None:
    if model.get("distance") != "hierarchical":
        return model
    path = hierarchies.get(model["column"])
    return None if path is None else model | {"hierarchy": {"type": "file", "path": path}}


def losses_of(metric: str) -> tuple[str | None, str | None]:
    """Return the loss and the aggregate for a utility measure of ARX.

    >>> losses_of("Loss (Geometric Mean)")
    ('loss-metric', 'geometric')
    """
    name = metric.casefold()
    loss = next((loss for word, loss in LOSSES.items() if word in name), None)
    aggregate = next((one for word, one in AGGREGATES.items() if word in name), None)
    return loss, aggregate if loss in ("loss-metric", "precision", "non-uniform-entropy") else None
