"""Attack a release and measure what an attacker achieves with the file."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.engines.join_keys import PERSONS_FILE, record_key
from sfumato.errors import PlanError, did_you_mean
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest
from sfumato.localization.messages import Message
from sfumato.microdata.attacks.coded_rows import AttackRows, Columns, coded_rows
from sfumato.microdata.attacks.inference import infer
from sfumato.microdata.attacks.label_semantics import Text
from sfumato.microdata.attacks.linkage import link, link_register
from sfumato.microdata.attacks.result import FAMILYWISE_ERROR, Absence, AttackResult, judged_together
from sfumato.microdata.attacks.row_order import Order, Shuffle, attack_order
from sfumato.microdata.attacks.singling_out import single_out
from sfumato.microdata.models.model import requested_class_size
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.sequential_releases import attack_histories, attack_rows
from sfumato.pipelines.attack_target import (
    SHARE,
    AttackTarget,
    check_control,
    check_rows,
    in_one_text,
    ladders_of,
    minimality,
    others_texts,
    released_again,
    strings_of,
    target_of,
)
from sfumato.pipelines.persons.earlier_releases import read_release
from sfumato.pipelines.release_folder import ProgressCallback
from sfumato.pipelines.release_stages.checksums import remark_on_siblings
from sfumato.pipelines.verify import listed
from sfumato.report.checks import attack_section
from sfumato.values import Value
from sfumato.version import __version__

ATTEMPTS = 1000
# Progress steps: reading, comparing and six kinds of attacks, with at most PARTS parts each.
STEPS, PARTS = 8, 100
HIDDEN = "nothing but stars is published."
K = 5


class AttackReport(Value):
    """The results of attacks on a release.

    Attributes:
        attacks: All attacks that were run.
        absences: The attacks that were not run, and why.
        rows: How many published, raw and control rows were compared.
        rerun: Whether the plan was run again on a part of the raw rows, because no control was given.
    """

    attacks: tuple[AttackResult, ...]
    absences: tuple[Absence, ...]
    rows: Mapping[str, int]
    rerun: bool
    seed: int
    notes: tuple[Message, ...] = ()

    def __repr__(self) -> str:
        reached = f"{len(self.found)} succeeded, highest risk {self.highest:.1%}" if self.found else "none succeeded"
        others = sum(attack.evidence and not attack.counted for attack in self.attacks)
        reached += f" against the promises, {others} beside them" if others else ""
        return f"AttackReport({len(self.attacks)} attacks, {reached}; {len(self.absences)} not run)"

    def _repr_html_(self) -> str:
        return attack_section(self.to_dict())

    @property
    def found(self) -> tuple[AttackResult, ...]:
        """The successful attacks that count against the release."""
        return tuple(attack for attack in self.attacks if attack.evidence and attack.counted)

    @property
    def highest(self) -> float:
        """The greatest risk of those."""
        return max((attack.risk for attack in self.found), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        return {
            "version": __version__,
            "rows": dict(self.rows),
            "control": "rerun" if self.rerun else "given",
            "seed": self.seed,
            "familywise_error": FAMILYWISE_ERROR,
            "found": len(self.found),
            "highest_risk": self.highest,
            "attacks": [attack.to_dict() for attack in self.attacks],
            "not_run": [absence.to_dict() for absence in self.absences],
            "remarks": list(self.notes),
        }


def attack(
    release: Any,
    raw: Any,
    *,
    control: Any = None,
    register: Any = None,
    earlier: Any = None,
    plan: Any = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    attempts: int = ATTEMPTS,
    neighbors: int = 1,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> AttackReport:
    """Attack a release, or any file anonymized or synthesized by other software.

    Args:
        release: A release, its folder, a published file, or a frame.
        raw: The rows behind it: a file or a frame.
        control: Rows of other persons that were never published. Without any, the plan is run again on a random 80 % of
            the raw rows, and the rest is the control.
        register: Persons known to the attacker: rows that share columns with the release.
        earlier: Earlier releases of the same persons for comparison, the first one first.
        plan: The plan behind the release, if it is no release folder.
        quasi_identifiers: The quasi-identifiers if there is no plan; guessed by default.
        sensitive: The sensitive columns if there is no plan; guessed by default.
        attempts: The number of attempts of each attack.
        neighbors: The number of nearest rows that linkage considers.
        seed: The seed of the random attempts.
        progress: Called with the stage, the amount done, and the total.

    Raises:
        PlanError: There is neither a control nor a plan to run again, or a column does not exist.
    """
    random = np.random.default_rng(seed)
    target = target_of(release, plan)
    check_rows(target.rows, "the release")
    pace = _Pace(progress)
    whole = strings_of(raw, target.plan)
    check_rows(whole, "the raw file")
    roles = _roles(target, whole, listed(quasi_identifiers), listed(sensitive))
    published, kept, others = _compared(target, whole, control, random, progress)
    pace.next()
    rows = _coded(target, published, kept, others, roles)
    pace.next()
    absences: list[Absence] = []
    attacks = _singling_out(rows, attempts, random, absences, pace)
    pace.next()
    attacks += _linking(rows, attempts, neighbors, random, absences, pace)
    attacks += _register(target, register, whole, absences)
    pace.next()
    attacks += _inference(rows, attempts, random, absences, _least(target.plan), pace)
    pace.next()
    attacks.append(_order(target, whole, roles, random, pace))
    pace.next()
    attacks += minimality(target, whole, random, absences)
    pace.next()
    attacks += _differences(target, earlier, whole, roles, absences)
    sizes = dict(zip(("published", "raw", "control"), rows.sizes, strict=True))
    return AttackReport(
        judged_together(tuple(attacks)), tuple(absences), sizes, control is None, seed, _remarks(control, release, rows)
    )


def _remarks(control: Any, release: Any, rows: AttackRows) -> tuple[Message, ...]:
    siblings = remark_on_siblings(release)
    strange = ", ".join(column.name for column in rows.shown if column.is_strange)
    words = Message("note.attack_strange", columns=strange)
    remarks = (*((siblings,) if siblings else ()), *((words,) if strange else ()))
    if control is not None:
        return remarks
    return (
        *remarks,
        Message("note.attack_rerun", share=SHARE),
    )


class _Pace:
    """The progress of the attacks, in steps and parts."""

    def __init__(self, progress: ProgressCallback | None) -> None:
        self._tell = progress or (lambda *_: None)
        self._step = self._part = 0
        self._told()

    def next(self) -> None:
        """Report that a step is done."""
        self._step, self._part = self._step + 1, 0
        self._told()

    def part(self) -> None:
        """Report that a part of a step is done; the number of parts is not known in advance."""
        self._part = min(self._part + 1, PARTS - 1)
        self._told()

    def _told(self) -> None:
        self._tell("attack", self._step * PARTS + self._part, STEPS * PARTS)


class _Roles(Value):
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    promised: tuple[str, ...] = ()


def _roles(
    target: AttackTarget, raw: Columns, quasi_identifiers: Sequence[str] | None, sensitive: Sequence[str] | None
) -> _Roles:
    for name in (*(quasi_identifiers or ()), *(sensitive or ())):
        if name not in raw or name not in target.rows:
            raise PlanError("columns.not_in_both_files", hint=did_you_mean(name, target.rows), column=name)
    plan = target.plan
    if quasi_identifiers is not None or sensitive is not None:
        return _Roles(tuple(quasi_identifiers or ()), tuple(sensitive or ()), tuple(sensitive or ()))
    if plan is not None:
        return _Roles(plan.quasi_identifiers, plan.shown_sensitive, plan.promise_columns)
    roles = {name: suggest(_profile(name, texts)).role for name, texts in raw.items() if name in target.rows}
    known = tuple(name for name, role in roles.items() if role == "quasi-identifier")
    return _Roles(known, tuple(name for name, role in roles.items() if role == "sensitive"))


def _profile(name: str, texts: Sequence[Text]) -> Profile:
    counts = Counter(text for text in texts if text is not None)
    return Profile(name, counts, len(texts), len(texts) - counts.total())


def _compared(
    target: AttackTarget, raw: Columns, control: Any, random: np.random.Generator, progress: ProgressCallback | None
) -> tuple[Columns, Columns, Columns]:
    """Return published, raw and control rows."""
    if control is not None:
        others = strings_of(control, target.plan)
        check_control(raw, others)
        return target.rows, raw, others
    if target.plan is None:
        raise PlanError("control.without_a_plan_the_release")
    return released_again(target.plan, raw, random, progress)


def _coded(target: AttackTarget, published: Columns, raw: Columns, control: Columns, roles: _Roles) -> AttackRows:
    plan = target.plan
    rows = coded_rows(
        published,
        in_one_text(raw, plan),
        in_one_text(control, plan),
        roles.quasi_identifiers,
        roles.sensitive,
        roles.promised,
        ladders_of(plan, in_one_text(raw, plan)),
        None if plan is None else plan.person,
    )
    if not rows.columns:
        raise PlanError("columns.none_in_common")
    return rows


def _singling_out(
    rows: AttackRows, attempts: int, random: np.random.Generator, absences: list[Absence], pace: _Pace
) -> list[AttackResult]:
    attacks = [*single_out(rows, attempts, random, pace.part)]
    if not attacks:
        absences.append(Absence("singling-out", Message("note.attack_stars")))
    return attacks


def _linking(
    rows: AttackRows,
    attempts: int,
    neighbors: int,
    random: np.random.Generator,
    absences: list[Absence],
    pace: _Pace,
) -> list[AttackResult]:
    linked = link(rows, attempts, random, neighbors, pace.part)
    if linked is None:
        absences.append(Absence("linking", Message("note.attack_few")))
        return []
    return [linked]


def _register(target: AttackTarget, register: Any, raw: Columns, absences: list[Absence]) -> list[AttackResult]:
    if register is None:
        absences.append(Absence("linking with a register", Message("note.attack_none")))
        return []
    plan = target.plan
    read = others_texts(register, plan)
    check_rows(read, "the register")
    typed = in_one_text(read, plan)
    shared = [name for name in target.rows if name in typed]
    own = [name for name in typed if name in raw and name not in shared] or shared
    if not shared:
        raise PlanError("columns.none_in_register")
    persons = in_one_text({name: raw[name] for name in own if name in raw}, plan)
    members = {*zip(*persons.values(), strict=True)}
    inside = np.array([person in members for person in zip(*(typed[name] for name in persons), strict=True)], bool)
    rows = coded_rows(target.rows, typed, typed, shared, (), (), ladders_of(plan, typed))
    if not rows.shown:
        absences.append(Absence("linking with a register", Message("note.attack_stars")))
        return []
    places = np.arange(len(inside), dtype=np.int32)
    return [link_register(rows, places[inside], places[~inside])]


def _inference(
    rows: AttackRows, attempts: int, random: np.random.Generator, absences: list[Absence], least: int, pace: _Pace
) -> tuple[AttackResult, ...]:
    from importlib.util import find_spec

    if find_spec("sklearn") is None:
        absences.append(Absence("inference", Message("note.attack_learning")))
    attacks = infer(rows, attempts, random, least, pace.part)
    if not attacks:
        absences.append(Absence("inference", Message("note.attack_insensitive")))
    return attacks


def _order(target: AttackTarget, raw: Columns, roles: _Roles, random: np.random.Generator, pace: _Pace) -> AttackResult:
    """Attack the order of the given release, compared with all raw rows."""
    rows = _coded(target, target.rows, raw, raw, roles)
    others = [texts for name, texts in raw.items() if name not in {column.name for column in rows.columns}]
    seed = None if target.plan is None else target.plan.seed
    return attack_order(rows, others, () if seed is None else (seed,), random, frame_shuffles(), pace.part)


def _differences(
    target: AttackTarget, earlier: Any, raw: Columns, roles: _Roles, absences: list[Absence]
) -> list[AttackResult]:
    if earlier is None or earlier == []:
        absences.append(Absence("differences", Message("note.attack_first")))
        return []
    folders = [Path(one) for one in (earlier if isinstance(earlier, list | tuple) else [earlier]) if _is_path(one)]
    by_persons = compared_by_persons(folders, target, raw)
    if by_persons is not None:
        return [attack_histories(by_persons, _least(target.plan))]
    first = earlier[-1] if isinstance(earlier, list | tuple) else earlier
    before, now = _classes(target_of(first), roles), _classes(target, roles)
    return [attack_rows(before, now, _least(target.plan))]


def _is_path(one: Any) -> bool:
    return isinstance(one, str | Path)


def _classes(target: AttackTarget, roles: _Roles) -> dict[tuple[Hashable, ...], Counter[Hashable]]:
    """Count the rows of a release by their quasi-identifiers."""
    names = [name for name in roles.quasi_identifiers if name in target.rows] or list(target.rows)
    rest = [name for name in target.rows if name not in names]
    count = len(next(iter(target.rows.values())))
    classes: dict[tuple[Hashable, ...], Counter[Hashable]] = {}
    for row in range(count):
        labels = tuple(target.rows[name][row] for name in names)
        classes.setdefault(labels, Counter())[tuple(target.rows[name][row] for name in rest)] += 1
    return classes


def _least(plan: Plan | None) -> int:
    """Return the requested k, or a common one if there is none."""
    return K if plan is None else requested_class_size(plan.privacy, K)


def frame_shuffles() -> tuple[tuple[str, Shuffle], ...]:
    """Return the installed libraries by name; pandas shuffles like NumPy."""
    return (("Polars", _by_polars),) if find_spec("polars") is not None else ()


def _by_polars(seed: int, number: int) -> Order:
    """Return the order of `sample(fraction=1, shuffle=True)` and `shuffle` in Polars."""
    import polars

    order: Order = polars.Series(np.arange(number)).shuffle(seed=seed % 2**64).to_numpy()
    return order


def compared_by_persons(
    earlier: Sequence[Path], target: AttackTarget, raw: Columns
) -> list[Mapping[Hashable, Hashable]] | None:
    """Return for each release the class of each person; None without a person column or if a folder keeps no record.

    If the releases share their secret, all persons are compared; otherwise those whom the raw rows name.
    """
    plan, folder = target.plan, target.folder
    if plan is None or plan.person is None or folder is None or plan.person not in raw:
        return None
    folders = [*earlier, folder]
    if not all((one / PERSONS_FILE).exists() and (one / "plan.yaml").exists() for one in folders):
        return None
    releases = [read_release(one, plan.quasi_identifiers, ()) for one in folders]
    if len({release.secret for release in releases}) == 1:
        return [{key: labels for key, labels in release.classes.items()} for release in releases]  # noqa: C416
    persons = [text for text in dict.fromkeys(raw[plan.person]) if text is not None]
    followed: list[Mapping[Hashable, Hashable]] = []
    for release in releases:
        keys = {person: record_key(person, f"{release.secret}:person:") for person in persons}
        followed.append({person: release.classes[key] for person, key in keys.items() if key in release.classes})
    return followed
