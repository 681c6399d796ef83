"""Verify a release: read a published file or frame and evaluate it against a plan, against k, or both."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sfumato.delimited.dialect import check_separator
from sfumato.engines.engine import Engine, MissingRules
from sfumato.engines.join_keys import PERSONS_FILE
from sfumato.engines.sql import check_header
from sfumato.errors import PlanError, SfumatoError, did_you_mean
from sfumato.microdata.counts.frequency_table import typed
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.plan.model import Plan, RequestedPlan
from sfumato.microdata.plan.read import read_plan, released_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.microdata.recoding.reference import Reference, read_reference
from sfumato.microdata.verdict import Verdict, judge, judge_plan
from sfumato.pipelines.release_folder import Release
from sfumato.pipelines.release_stages import checksums
from sfumato.pipelines.release_stages.column_checks import own_columns
from sfumato.pipelines.release_stages.counting import published_persons, published_weights
from sfumato.pipelines.release_stages.release_check import release_check
from sfumato.values import replace


def listed(names: Sequence[str] | None) -> Sequence[str] | None:
    """Return column names as a sequence; a single text is one name.

    >>> listed("zip"), listed(["zip", "sex"]), listed(None)
    (('zip',), ['zip', 'sex'], None)
    """
    return (names,) if isinstance(names, str) else names


NO_PERSONS = "persons not checked: the file does not name them."


def verify(
    release: Any,
    plan: RequestedPlan | Mapping[str, Any] | str | Path | None = None,
    *,
    k: int | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    separator: str | None = None,
    persons: str | Path | None = None,
    table: str | None = None,
) -> Verdict:
    """Verify that published rows satisfy their models.

    For a release folder, the consistency of its files is verified, too. Models that refer to the raw table or a
    population use the reference in the folder; for a file or frame, they use the published rows only.

    Args:
        release: A release or its folder (with its own plan unless another is given), a file, or a frame.
        plan: The plan with the models to verify.
        k: A k to verify for `quasi_identifiers`, or else for those of the plan.
        quasi_identifiers: The columns for `k`; those of the plan by default.
        separator: The separator of a CSV file; detected by default.
        persons: The internal file with the person keys of the rows, if models count persons; by default that of the
            release folder.
        table: The table of a database, or the sheet of a workbook; the first by default.
    """
    check_separator(separator)
    reading = DataPlan(separator=separator, header=True, table=table)
    if isinstance(release, Release):
        # The folder that would be published is verified: written and read again.
        with TemporaryDirectory(prefix="sfumato-") as place:
            folder = release.save(Path(place) / "release")
            return _folder(folder, plan, k, quasi_identifiers, reading, persons)
    path = Path(release) if isinstance(release, str | Path) else None
    if path is not None and path.is_dir() and (path / "plan.yaml").exists():
        return _folder(path, plan, k, quasi_identifiers, reading, persons)
    plan_asked = None if plan is None else read_plan(plan)
    quotes = plan_asked is not None and plan_asked.output.quotes_formulas
    with closing(_opened(path if path is not None else release, reading, persons, quotes)) as engine:
        resolved = None if plan_asked is None else _resolved(plan_asked, engine)
        return _judge(engine, resolved, k, quasi_identifiers)


def _folder(
    folder: Path,
    plan: Any,
    k: int | None,
    quasi_identifiers: Sequence[str] | None,
    reading: DataPlan,
    persons: str | Path | None,
) -> Verdict:
    """Return the verdict on a release folder."""
    plan_asked = released_plan(folder) if plan is None else read_plan(plan)
    if plan_asked.files:
        from sfumato.pipelines.persons.joint_evaluation import verify_files

        return verify_files(folder, resolve(plan_asked))
    own = folder / PERSONS_FILE if plan_asked.person is not None and (folder / PERSONS_FILE).exists() else None
    quotes = plan_asked.output.quotes_formulas
    with closing(_opened(checksums.data_of(folder), reading, persons or own, quotes)) as engine:
        star_rows = plan is not None or plan_asked.output.suppressed == "star"
        resolved = _resolved(plan_asked, engine)
        verdict = _judge(engine, resolved, k, quasi_identifiers, _reference(folder, resolved), star_rows)
    faults = checksums.integrity_issues(folder, resolved if plan is None else None, verdict)
    return replace(verdict, faults=(*verdict.faults, *faults))


def _reference(folder: Path, plan: Plan) -> Reference | None:
    """Return the reference in the folder; None if it has none, which is reported elsewhere."""
    plain = checksums.read_mapping(folder / "recoding.json")
    try:
        reference = read_reference(plain or {})
    except PlanError:
        return None
    return reference if set(plan.promise_columns) <= set(reference.whole.sensitive) else None


def _opened(data: Any, reading: DataPlan, persons: str | Path | None, quotes: bool = False) -> Engine:
    """Open published rows; formulas quoted in a CSV file are unquoted."""
    if isinstance(data, Path):
        from sfumato.engines.postprocessing import open_published

        engine = open_published(data, reading, quotes, () if persons is None else (Path(persons),))
        try:
            if persons is not None:
                engine.attach_persons(Path(persons))
        except SfumatoError:
            engine.close()
            raise
        return engine
    from sfumato.engines.opening import open_frame

    return open_frame(data)


def _judge(
    engine: Engine,
    plan: Plan | None,
    k: int | None,
    quasi_identifiers: Sequence[str] | None,
    reference: Reference | None = None,
    star_rows: bool = True,
) -> Verdict:
    """Return the verdict by a plan, and by k if it is given.

    Args:
        star_rows: Whether rows of `*` may be suppressed rows; not so in a folder whose plan drops those.
    """
    names = listed(quasi_identifiers) or (plan.quasi_identifiers if plan is not None else ())
    if plan is None and (k is None or not names):
        raise PlanError("nothing")
    if k is None and quasi_identifiers:
        raise PlanError("k.unused_quasi_identifiers")
    by_k = _by_k(engine, k, names) if k is not None else None
    if plan is None:
        assert by_k is not None
        return by_k
    verdict = _by_plan(engine, plan, reference, star_rows)
    return verdict if by_k is None else replace(verdict, promises=(*verdict.promises, *by_k.promises))


def _by_k(engine: Engine, k: int, names: Sequence[str]) -> Verdict:
    _check(engine, names)
    return judge(engine.count(names, MissingRules()), names, [KAnonymity(k)])


def _by_plan(engine: Engine, plan: Plan, reference: Reference | None, star_rows: bool) -> Verdict:
    names = (*plan.quasi_identifiers, *plan.promise_columns)
    _check(engine, names)
    counted = engine.count(names, MissingRules())
    text_counts, _ = typed(counted, plan)
    named = plan.publishes_keys or getattr(engine, "person_column", None) is not None
    members = published_persons(plan, engine) if named else None
    weights = published_weights(plan, engine) or (None if reference is None else reference.weights)
    if reference is None or (reference.whole.counts_persons and members is None):
        judging = partial(judge_plan, plan=plan, star_rows=star_rows)
        verdict = judging(text_counts, members=members, weights=weights)
    else:
        known = replace(plan, privacy=reference.with_hierarchies(plan.privacy))
        judging = partial(judge_plan, plan=known, reference=reference.whole, star_rows=star_rows)
        verdict = judging(text_counts, persons=reference.persons, members=members, weights=weights)
    checked = release_check(engine, plan, counted, lambda rows, persons: judging(rows, members=persons), persons=named)
    unnamed = () if plan.person is None or members is not None else (NO_PERSONS,)
    faults, promises = (*verdict.faults, *unnamed, *checked.faults), (*verdict.promises, *checked.columns)
    return replace(verdict, promises=promises, faults=faults, unchecked=checked.unchecked)


def _resolved(plan: RequestedPlan, engine: Engine) -> Plan:
    """Return the plan resolved for the columns of published rows."""
    return resolve(plan, (name for name in engine.columns if name not in own_columns(plan)))


def _check(engine: Engine, names: Sequence[str]) -> None:
    check_header(names, engine.columns)
    for name in names:
        if name not in engine.columns:
            raise PlanError("columns.not_in_file", hint=did_you_mean(name, engine.columns), column=name)
