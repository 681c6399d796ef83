"""The embedded engine: rows in files, counted and rewritten by DuckDB without coming into Python."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.engines import sql
from sfumato.engines.canonical_text import Texts, no_text, ordered
from sfumato.engines.duckdb.count_statements import Counting
from sfumato.engines.duckdb.database import Database, compiled, explained, register, relations
from sfumato.engines.duckdb.expressions import RecodingApplier, as_text, locating
from sfumato.engines.duckdb.in_memory import (
    Combinations,
    CountsByCodes,
    KeepsTextRows,
    arrays_of,
    fits,
    kept_codes,
    write_numbers,
)
from sfumato.engines.duckdb.in_memory_apply import RowCodes
from sfumato.engines.duckdb.join_apply import Joining
from sfumato.engines.duckdb.sources import Source, csv_source, file_list, open_source, opened_for
from sfumato.engines.duckdb.streaming_apply import Stream, streams
from sfumato.engines.duckdb.writing import ReplacesColumns, asked, finish_copy
from sfumato.engines.engine import LOOKED_AT_ROWS, MissingRules, ReadsSource
from sfumato.engines.files import about_rows, checksum, files_of, format_of
from sfumato.engines.join_keys import PERSON, PERSONS_FILE
from sfumato.errors import DataError, EngineError, SfumatoError
from sfumato.formats import CSV, DUCKDB_FILE, PARQUET, format_named
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.persons import PersonCount
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.recoding.mapping import STAR, LevelRecoding, Recoding, SuppressionHandling
from sfumato.values import replace

Row = dict[str, str | None]
# Texts of at most this many cells are numbered in Python.
_FEW_CELLS = 1_000_000


class DuckDBEngine(ReadsSource, CountsByCodes, KeepsTextRows, ReplacesColumns):
    """Rows in a file."""

    name = "duckdb"

    # The column of person keys if they are attached, else None.
    person_column: str | None = None
    _person_rows = ""
    _person_keys = ""

    _closed = False

    # Columns whose published values partition Parquet files into folders.
    partition: tuple[str, ...] = ()

    def __init__(
        self,
        path: Path,
        data: DataPlan | None = None,
        names: Sequence[str] = (),
        partition: Sequence[str] = (),
        opens: Sequence[Path] = (),
    ) -> None:
        """Open a file.

        Args:
            opens: Further files that are read with it, and folders into which its rows are written.
        """
        plan = data or DataPlan()
        self.partition = tuple(partition)
        self._open(
            path,
            plan,
            lambda connection, scratch: open_source(connection, path, plan, names, scratch),
            (*opened_for(path, plan), *opens),
        )

    @classmethod
    def of_published(
        cls,
        path: Path,
        columns: Sequence[str],
        separator: str,
        plan: DataPlan | None = None,
        database: Database | None = None,
    ) -> "DuckDBEngine":
        """Return the engine for a file just written to a private folder, within the limits of a plan."""
        engine = cls.__new__(cls)
        limits = DataPlan()
        if plan is not None:
            limits = DataPlan(memory_limit=plan.memory_limit, temp_folder=plan.temp_folder)
        if format_named(path) is CSV:
            source = csv_source([path], columns, separator, published=True)
            engine._open(path, limits, lambda _, __: source, (path.parent,), database)
        else:  # the file contains its columns
            engine._open(
                path,
                limits,
                lambda opened, scratch: open_source(opened, path, limits, (), scratch),
                (path.parent,),
                database,
            )
        return engine

    @classmethod
    def of_stream(
        cls,
        stream: Any,
        columns: Sequence[str],
        plan: DataPlan | None = None,
        kept: bool = False,
        opens: Sequence[Path] = (),
    ) -> "DuckDBEngine":
        """Return the engine for a stream of Arrow batches, which can be read once unless its rows are kept.

        Args:
            opens: Folders into which its rows are written.
        """

        def source(connection: Any, _: Path) -> Source:
            register(connection, "streamed_rows", stream)
            if not kept:
                return Source("streamed_rows", tuple(columns))
            connection.execute("CREATE TEMP TABLE kept_rows AS SELECT * FROM streamed_rows").fetchall()
            return Source("kept_rows", tuple(columns))

        engine = cls.__new__(cls)
        engine._open(Path(), plan or DataPlan(), source, opens)
        return engine

    def _open(
        self,
        path: Path,
        plan: DataPlan,
        source: Callable[[Any, Path], Source],
        opens: Sequence[Path],
        database: Database | None = None,
    ) -> None:
        """Connect and open the source; a failure leaves nothing behind.

        Args:
            opens: All files and folders that are opened, including the source's own.
        """
        self.opens = tuple(opens)
        self.path, self.plan, self.source = path, plan, Source("", ())
        # The texts of columns that were counted by codes, for later counts.
        self._known_texts: dict[tuple[str, tuple[str, ...]], Texts] = {}
        # The number of rows as soon as they were counted, else None.
        self._rows: int | None = None
        self.coded, self.likely = {}, {}
        with ExitStack() as undo:
            self._database = Database(plan, opens) if database is None else database.shared()
            undo.callback(self._database.close)
            self._connection = self._database.session()
            undo.callback(self._connection.close)
            with self.faults(reads=True):
                self.source = source(self._connection, self._database.folder)
            undo.pop_all()

    def count(self, columns: Sequence[str], reading: MissingRules) -> ValueCounts:
        keyed = PERSON in columns  # person keys are in a separate file without dictionaries
        with self.faults(reads=True):
            table = self._person_rows if keyed else self.source.table
            counting = Counting(table, tuple(columns), reading, self.plan.strip)
            quick = None if keyed else self._by_codes(counting) or self._by_rows(counting)
            values, codes, counts = quick or self._by_texts(counting)
            rows = self._rows = self._all_rows() if reading.required else self.check_rows(int(counts.sum()))
        return ValueCounts(tuple(columns), values, codes, counts, rows)

    def _all_rows(self) -> int:
        return self.check_rows(int(self._run(f"SELECT count(*) FROM {self.source.table}")[0][0]))

    def expected_rows(self) -> int | None:
        if not self.path.name:
            return None
        form = format_of(self.path, self.plan)
        return self._all_rows() if form.keeps_types else about_rows(self.path) if form.delimited else None

    def count_persons(
        self, columns: Sequence[str], person: str, value: str | None, reading: MissingRules
    ) -> PersonCount:
        """Count persons in the database; only persons with rows in several combinations are returned individually."""
        table = self._person_rows if person == PERSON else self.source.table
        counting = Counting(table, tuple(columns), reading, self.plan.strip)
        with self.faults(reads=True):
            names = (*columns, *([value] if value else []))
            quick: PersonCount | None = self._persons_by_codes(replace(counting, columns=names), person, value)
            if quick is not None:
                return quick
            nameless = bool(self._run(counting.nameless(person))[0][0])
            for statement in counting.group_persons(person, value):
                self._run(statement)
            values, codes, counts, persons = self._texts_and_codes(replace(counting, columns=names), ", person")
        return PersonCount(ValueCounts(names, values, codes, counts, int(counts.sum())), persons, nameless)

    def _by_texts(self, counting: Counting) -> Combinations:
        """Return texts of columns, codes and rows of combinations, for columns of any type."""
        self._run(counting.group_by_texts())
        return self._texts_and_codes(counting)[:3]

    def _texts_and_codes(self, counting: Counting, further: str = "") -> tuple[Any, ...]:
        """Return the table of combinations: texts, codes and counts, and persons if requested."""
        if self._run("SELECT count(*) FROM combinations")[0][0] * len(counting.columns) <= _FEW_CELLS:
            found: tuple[Any, ...] = self._coded_here(counting, further)
            return found
        values = self._texts(counting)
        for statement in counting.numberings(values):
            self._run(statement)
        arrays = self._connection.execute(counting.codes(values, further)).fetchnumpy()
        self._run("DROP TABLE combinations")
        codes = [np.asarray(arrays[f"c{place}"], np.int32) for place in range(len(counting.columns))]
        matrix = np.column_stack(codes) if codes else np.zeros((0, 0), np.int32)
        persons = np.asarray(arrays.get("person", ()), np.int64)
        return values, matrix, np.asarray(arrays["n"], np.int64), persons

    def first_texts(self, column: str) -> dict[str, int]:
        text, table = as_text(column, self.plan.strip), self.source.table_for(column, self.plan)
        rows = f"(SELECT {text} AS t FROM {table} AS s LIMIT {LOOKED_AT_ROWS})"
        return dict(self.ask(f"SELECT t, count(*) FROM {rows} WHERE t IS NOT NULL GROUP BY t"))

    def locate(self, column: str, texts: Sequence[str], limit: int) -> tuple[int, ...]:
        with self.faults(reads=True):
            rows = self._run(locating(self.source.table, column, texts, limit, self.plan.strip))
        return tuple(int(row[0]) for row in rows)

    def apply(
        self, recoding: Recoding, handling: SuppressionHandling, reading: MissingRules, target: Path | None
    ) -> "DuckDBEngine":
        if target is None:
            raise EngineError("no-target")
        with self.faults():
            kinds = self._dictionaries()
            application = RecodingApplier(
                recoding, handling, self.source, reading, self.plan.strip, self.partition, kinds
            )
            texts: Mapping[str, Texts] = {}
            if isinstance(recoding, LevelRecoding) and streams(application):
                self._stream(Stream(application, recoding), target)
            else:
                texts = self._join(Joining(application, target, self._rows))
        finish_copy(target)
        published = DuckDBEngine.of_published(
            target, application.published_columns, self.source.separator, self.plan, self._shareable()
        )
        published.likely = texts
        if handling.person is not None:
            published.attach_persons(target.with_name(PERSONS_FILE))
        return published

    def _shareable(self) -> Database | None:
        """Return the database for reading the written file, unless the source is attached to it."""
        attached = bool(self.path.name) and format_of(self.path, self.plan) is DUCKDB_FILE
        return None if attached else self._database

    def attach_persons(self, path: Path) -> None:
        """Add the person keys from a file, in the order of the rows, as a further column.

        Raises:
            DataError: The numbers of keys and rows differ.
        """
        keys = f"read_parquet({file_list(files_of(path))})"
        with self.faults(reads=True):
            pair = self._run(f"SELECT (SELECT count(*) FROM {self.source.table}), (SELECT count(*) FROM {keys})")[0]
        if pair[0] != pair[1]:
            raise DataError("persons", name=path.name)
        self._person_keys = keys
        self._person_rows = f"(SELECT d.*, p.{PERSON} FROM {self.source.table} AS d POSITIONAL JOIN {keys} AS p)"
        self.person_column = PERSON

    def _stream(self, stream: Stream, target: Path) -> None:
        if stream.compares:
            self._load("classes", stream.application.class_lookup())
        for statement in (*stream.types(), stream.statement(target)):
            self._run(statement)
        if stream.application.handling.person is None:
            return
        record = target.with_name(PERSONS_FILE)
        if not (fits(self._rows, self.plan) and write_numbers(self._connection, stream, record)):
            self._run(stream.persons(record))

    def _join(self, joining: Joining) -> Mapping[str, Texts]:
        """Publish rows by joins or by codes; return the written texts of columns if they are known."""
        known = {name: texts for (name, required), texts in self._known_texts.items() if not required}
        codes = RowCodes(joining, known)
        kept = kept_codes(codes, self.coded)
        if kept is not None and fits(self._rows, self.plan, kept.row_bytes):
            return self._write_codes(kept, arrays_of(kept, self.coded))
        if codes.tell_all and fits(self._rows, self.plan, codes.row_bytes):
            for statement in codes.types():
                self._run(statement)
            return self._write_codes(codes, self._connection.execute(codes.reading()).fetchnumpy())
        for table, arrays in joining.tables():
            self._load(table, arrays)
        for statement in (*joining.classes(), *joining.writing(self._threads)):
            self._run(statement)
        return {}

    def _write_codes(self, codes: RowCodes, arrays: dict[str, Any]) -> Mapping[str, Texts]:
        """Publish rows by their codes in memory; return the texts of columns that are written as texts."""
        published = codes.published(arrays)
        alone = codes.joining.one_writes(self._threads)
        for statement in (*published.types(), "SET threads = 1") if alone else ():
            self._run(statement)
        asked(self._connection, published.arrays(), codes.joining.copy(published.values(as_texts=not alone), "given"))
        if alone:
            self._run("RESET threads")
        pairs = zip(codes.joining.columns, published.columns, strict=True)
        return {name: (*sorted(column.texts), None) for name, column in pairs if column.texts is not None}

    def _threads(self) -> int:
        return int(self._run("SELECT current_setting('threads')")[0][0])

    def _dictionaries(self) -> dict[str, str]:
        """Return the types of dictionary-encoded columns, which are those of Parquet files."""
        if not self.path.name or format_of(self.path, self.plan) is not PARQUET:
            return {}
        return {row[0]: row[1] for row in self._run(f"DESCRIBE SELECT * FROM {self.source.table} AS s")}

    def data(self) -> Any:
        return self.path

    def frame(self) -> Any:
        """Return all rows as a frame of texts, with an installed library."""
        from sfumato.engines.dataframes.sources import installed

        texts = sql.listed(f"{self._star_or_text(column)} AS {sql.name(column)}" for column in self.columns)
        with self.faults(reads=True):
            rows = relations(self._connection, f"SELECT {texts} FROM {self.source.table} AS s")
            polars = ("polars",) if find_spec("pyarrow") else ()  # DuckDB makes Polars frames through Arrow
            return rows.pl() if installed(*polars, "pandas") == "polars" else rows.df()

    def _star_or_text(self, column: str) -> str:
        """Return the expression of a value's text; a star for columns without texts."""
        return sql.text(STAR) if column in self.source.textless else as_text(column, self.plan.strip)

    def first_rows(self, limit: int) -> list[Row]:
        """Return the first rows by column, as texts; None is the missing value."""
        texts = sql.listed(map(self._star_or_text, self.columns))
        with self.faults(reads=True):
            rows = self._run(f"SELECT {texts} FROM {self.source.table} AS s LIMIT {int(limit)}")
        return [dict(zip(self.columns, row, strict=True)) for row in rows]

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the result of a query."""
        with self.faults(reads=True):
            return self._run(statement)

    def stream(self) -> Any:
        """Return all rows as a stream of Arrow batches."""
        with self.faults():
            return relations(self._connection, f"SELECT * FROM {self.source.table}").to_arrow_reader()

    def checksum(self) -> str:
        return checksum(self.path)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._connection.close()
            self._database.close()

    def _run(self, statement: str) -> list[tuple[Any, ...]]:
        return list(self._connection.execute(statement).fetchall())

    def _texts(self, counting: Counting) -> tuple[Texts, ...]:
        """Return the texts of each column in the table of combinations, in order."""
        if not counting.columns:
            return ()
        arrays = self._connection.execute(counting.texts()).fetchnumpy()
        places, texts = np.asarray(arrays["place"]), arrays["text"]
        return tuple(ordered(texts[places == place].tolist()) for place in range(len(counting.columns)))

    def _load(self, table: str, arrays: dict[str, Any]) -> None:
        self._connection.register("loaded", arrays)
        self._run(f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT * FROM loaded")
        self._connection.unregister("loaded")

    @contextmanager
    def faults(self, reads: bool = False) -> Iterator[None]:
        """Convert errors of DuckDB to Sfumato's; their texts may contain data values and are not passed on.

        Args:
            reads: Whether only the source is read, so that an error is probably one of the data.
        """
        try:
            yield
        except SfumatoError:
            raise
        except (compiled().Error, RuntimeError) as error:
            if "interrupt" in str(error).lower():
                raise KeyboardInterrupt from None
            textless = self.source.textless if isinstance(error, compiled().BinderException) else ()
            if any(f'"{name}"' in str(error) for name in textless):
                raise no_text(*textless) from None
            raise explained(error, self.plan.encoding, self.path if reads else None) from None
