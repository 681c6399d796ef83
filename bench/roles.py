"""Roles by evidence on a folder of labeled files, with cross-validation of the weights.

The folder has CSV files and `known.json`: for each file the letters that an expert accepts for columns (`columns`,
`default`): I identifier, Q quasi-identifier, S sensitive, H insensitive, W weight, X free text. Each weight is varied
by itself; what is best on four fifths of the files is judged on the others. Give the folder as LABELED=FOLDER.
"""

import csv
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sfumato.hierarchies.role_detection import thresholds
from sfumato.hierarchies.role_detection.lexicon.name_terms import read_word, terms_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest_all
from sfumato.pipelines.suggest import missing_words, profile_of

LETTERS = {
    "person": "I",
    "household": "IQ",
    "weight": "WH",
    "quasi-identifier": "Q",
    "sensitive": "S",
    "insensitive": "H",
}
MISSING = ("", "NA")
FOLDS = 5
WEIGHTS = (
    "HEAD",
    "MODIFIER",
    "JOINT",
    "COMPOUND",
    "VALUES",
    "DUMMY",
    "DATES",
    "SPREAD",
    "ANSWERS",
    "MARGIN",
    "DECIDED",
)
FACTORS = (0.7, 1.4)
Files = Mapping[str, tuple[Mapping[str, Profile], Mapping[str, Any]]]


def main() -> bool:
    """Print the acceptable roles of all files, and of those left out in turn."""
    folder = os.environ.get("LABELED")
    if not folder:
        print("No folder of labeled files: LABELED=FOLDER python -m bench roles")
        return False
    files = dict(_files(Path(folder)))
    tried = {("as it is", 1.0): _right(files)}
    for name in WEIGHTS:
        for factor in FACTORS:
            tried[name, factor] = _right_with(files, name, factor)
    columns = {name: len(profiles) for name, (profiles, _) in files.items()}
    plain = sum(tried["as it is", 1.0].values())
    print(f"{plain} of {sum(columns.values())} columns have an acceptable role, each judged without its rows")
    fitted = 0
    for fold in range(FOLDS):
        out = [name for name in files if zlib.crc32(name.encode()) % FOLDS == fold]
        best = max(tried, key=lambda way: sum(tried[way][name] for name in files if name not in out))
        here = sum(tried[best][name] for name in out)
        fitted += here
        own, whole = sum(tried["as it is", 1.0][name] for name in out), sum(columns[name] for name in out)
        print(
            f"fold {fold + 1}: {own} of {whole} as it is, {here} with the weights of the others ({best[0]} x {best[1]})"
        )
    print(f"left out in turn: {fitted} of {sum(columns.values())}; as it is: {plain}")
    return False


def _files(folder: Path) -> Iterator[tuple[str, tuple[Mapping[str, Profile], Mapping[str, Any]]]]:
    for name, known in json.loads((folder / "known.json").read_text(encoding="utf-8")).items():
        with (folder / name).open(encoding="utf-8-sig", errors="replace", newline="") as file:
            header, *rows = csv.reader(file)
        texts = {
            column: Counter(row[place] for row in rows if len(row) == len(header))
            for place, column in enumerate(header)
        }
        missing = [*missing_words(texts), *MISSING]
        yield name, ({column: profile_of(column, counts, missing) for column, counts in texts.items()}, known)


def _right_with(files: Files, name: str, factor: float) -> Mapping[str, int]:
    before = getattr(thresholds, name)
    setattr(thresholds, name, before * factor)
    try:
        return _right(files)
    finally:
        setattr(thresholds, name, before)


def _right(files: Files) -> Mapping[str, int]:
    """Return how many columns of each file have an acceptable role."""
    terms_of.cache_clear()
    read_word.cache_clear()
    return {name: sum(_acceptable(profiles, known)) for name, (profiles, known) in files.items()}


def _acceptable(profiles: Mapping[str, Profile], known: Mapping[str, Any]) -> Iterator[bool]:
    for name, one in suggest_all(profiles).items():
        wanted = known["columns"].get(name.strip("'\"\ufeff"), known["default"])
        unknown = one.undecided or (one.concept is None and one.role == "quasi-identifier")
        # What becomes of a column of unknown meaning is decided later.
        yield bool({*("IX" if unknown else LETTERS.get(one.role, "IX"))} & {*wanted})
