"""Full-domain recodings written in one stream: expressions instead of joins, so that rows keep their order for nothing.

A join may hand rows on in any order, and sorting them again is what costs memory and time. So each text is cast to an
enumeration of its column's texts, whose code picks the label from a list (labels are an enumeration as well: a file's
dictionary is quickly made of one); the packed label codes of a row are cast to an enumeration of all classes, kept ones
first, whose code tells the class's number and whether it is hidden. A value or class that is not known makes the cast
fail, and nothing is published.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sfumato.engines import sql
from sfumato.engines.statements import Application, as_text, format_of_target, required
from sfumato.microdata.frequencies import DROPPED
from sfumato.microdata.recoding import STAR, LevelRecoding

# Lists of labels are constants of the statement: beyond so many, a join is cheaper.
MAX_TEXTS = 2_000
MAX_CLASSES = 5_000_000


def streams(application: Application) -> bool:
    """Whether a recoding can be written in one stream."""
    recoding = application.recoding
    return (
        isinstance(recoding, LevelRecoding)
        and application.handling.shuffle_seed is None
        and len(recoding.classes) <= MAX_CLASSES
        and all(len(coding.texts) <= MAX_TEXTS for coding in recoding.codings)
    )


@dataclass(frozen=True)
class Stream:
    """A full-domain recoding to be written in one stream."""

    application: Application
    recoding: LevelRecoding

    @property
    def compares(self) -> bool:
        """Whether rows must be compared with classes: some are hidden, or their numbers are published."""
        return bool(self.recoding.suppressed.any()) or self.application.handling.class_column is not None

    @property
    def kept(self) -> int:
        """The number of classes that are not hidden."""
        return int((~self.recoding.suppressed).sum())

    def types(self) -> Iterator[str]:
        """The statements that make the enumerations; the table `classes` is loaded."""
        for place, coding in enumerate(self.recoding.codings):
            texts = sql.listed(sql.text(text) for text in coding.texts if text is not None)
            if texts:
                yield f"DROP TYPE IF EXISTS texts{place}"
                yield f"CREATE TYPE texts{place} AS ENUM ({texts})"
            yield f"DROP TYPE IF EXISTS labels{place}"
            yield f"CREATE TYPE labels{place} AS ENUM ({sql.listed(map(sql.text, self._label_texts(place)))})"
        if self.compares:
            key = self._joined([f"k{word}" for word in range(self.application.packing.words)])
            yield "DROP TYPE IF EXISTS classes_of_rows"
            yield f"CREATE TYPE classes_of_rows AS ENUM (SELECT {key} FROM classes ORDER BY hidden, number)"

    def statement(self, target: Path) -> str:
        """Write the published rows to a file."""
        application = self.application
        columns = [f"{self._published(column)} AS {sql.name(column)}" for column in application.source.columns]
        if application.handling.class_column:
            columns.append(f"CASE WHEN {self._hidden} THEN 0 ELSE s.sfumato_class + 1 END AS "
                           f"{sql.name(application.handling.class_column)}")  # fmt: skip
        shown = f" WHERE NOT ({self._hidden})" if self._drops else ""
        select = f"SELECT {sql.listed(columns)} FROM {self._rows()} AS s{shown}"
        return f"COPY ({select}) TO {sql.text(str(target))} ({format_of_target(application, target)})"

    @property
    def _hidden(self) -> str:
        return f"s.sfumato_class >= {self.kept}"

    @property
    def _drops(self) -> bool:
        return bool(self.recoding.suppressed.any()) and self.application.handling.suppressed == "drop"

    def _rows(self) -> str:
        """The rows that are not dropped, with the place of their class where it is asked for."""
        application = self.application
        tests = [required(application.reading, application.strip)]
        tests += [f"({self._picked(place, self._stays(place))})" for place in range(len(self.recoding.columns))]
        wanted = [test for test in tests if test and test != "()"]
        where = f" WHERE {' AND '.join(wanted)}" if wanted else ""
        rank = f", {self._class()} AS sfumato_class" if self.compares else ""
        return f"(SELECT *{rank} FROM {application.source.table} AS s{where})"

    def _stays(self, place: int) -> list[str]:
        """For each text of a column whether its rows stay; nothing where all do."""
        codes = self.recoding.codings[place].codes
        return [str(bool(code != DROPPED)).lower() for code in codes] if (codes == DROPPED).any() else []

    def _picked(self, place: int, entries: list[str], kind: str = "BOOLEAN") -> str:
        """The entry for a row's text in a column, out of one for each of its texts; no SQL where there are none."""
        if not entries:
            return ""
        coding = self.recoding.codings[place]
        present = [entry for entry, text in zip(entries, coding.texts, strict=True) if text is not None]
        absent = [entry for entry, text in zip(entries, coding.texts, strict=True) if text is None]
        if not present:
            return f"CAST({absent[0]} AS {kind})"
        text = as_text(self.recoding.columns[place], self.application.strip)
        at = f"enum_code(CAST({text} AS texts{place})) + 1"
        at = f"coalesce({at}, {len(present) + 1})" if absent else at
        return f"(CAST([{sql.listed([*present, *absent])}] AS {kind}[]))[{at}]"

    def _class(self) -> str:
        packing = self.application.packing
        words: list[list[str]] = [[] for _ in range(packing.words)]
        for place, coding in enumerate(self.recoding.codings):
            if len(self.recoding.labels[place]) == 1:
                continue  # its code is 0 in every class
            codes = np.where(coding.codes == DROPPED, 0, self.recoding.label_codes(place)[coding.codes])
            shifted = [str(int(code) << int(packing.shift[place])) for code in codes]
            words[int(packing.word[place])].append(self._picked(place, shifted, "UBIGINT"))
        key = self._joined([f"({' | '.join(parts) or 'CAST(0 AS UBIGINT)'})" for parts in words])
        return f"CAST(enum_code(CAST({key} AS classes_of_rows)) AS BIGINT)"

    def _joined(self, words: list[str]) -> str:
        """The text of a packed key."""
        texts = [f"CAST({word} AS VARCHAR)" for word in words]
        return " || ':' || ".join(texts)

    def _published(self, column: str) -> str:
        recoding, handling = self.recoding, self.application.handling
        raw = f"s.{sql.name(column)}"
        stars = handling.suppressed == "star" and bool(recoding.suppressed.any())
        if column in handling.starred:
            return sql.text(STAR)
        if column in recoding.columns:
            place = recoding.columns.index(column)
            if recoding.identical[place] and not stars:
                return raw
            label = self._label(place)
            return f"CASE WHEN {self._hidden} THEN CAST('{STAR}' AS labels{place}) ELSE {label} END" if stars else label
        if column in handling.veiled:
            return f"CASE WHEN {self._hidden} THEN '{STAR}' ELSE {as_text(column, self.application.strip)} END"
        return f"trim({raw})" if self.application.strip else raw

    def _label(self, place: int) -> str:
        labels, codes = self.recoding.labels[place], self.recoding.label_codes(place)
        if len(labels) == 1:
            return f"CAST({sql.text(labels[0])} AS labels{place})"
        known = self.recoding.codings[place].codes
        entries = [sql.text(labels[codes[code]] if code != DROPPED else None) for code in known]
        return self._picked(place, entries, f"labels{place}")

    def _label_texts(self, place: int) -> list[str]:
        """Everything that a column may be published as, but the missing value."""
        return list(dict.fromkeys([STAR, *(label for label in self.recoding.labels[place] if label is not None)]))
