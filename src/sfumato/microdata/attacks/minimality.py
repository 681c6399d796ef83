"""Minimality attack: what an attacker infers from knowing that the method generalizes no further than necessary.

The attacker knows the method and the quasi-identifiers of all persons in the original table, but not their sensitive
values, and asks why a class was not published at a finer level. If its parts are large enough, only a model of a
sensitive column can be the reason, so one of the parts violates it. That may determine sensitive values. Wong, Fu, Wang
& Pei (2007), Minimality attack in privacy preserving data publishing, VLDB.

The attack draws assignments of sensitive values that agree with the published class and discards those in which no part
violates a model. A value that all remaining assignments give to a part is known for certain.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.localization.messages import Message
from sfumato.microdata.attacks.result import AttackResult, Rate
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses, histogram
from sfumato.microdata.models.model import PrivacyModel
from sfumato.values import Value, replace

NAME = "minimality"
Codes = npt.NDArray[np.int64]
DRAWS = 400
_LEAST_DRAWS = 20


class Finer(Value):
    """A published class and its parts one level finer: the part and the sensitive value of each row."""

    parts: Codes
    values: Codes


class SensitiveTarget(Value):
    """The sensitive column that is attacked: its name, its values, and its privacy models."""

    column: str
    texts: tuple[str | None, ...]
    models: tuple[PrivacyModel, ...]


def attack_minimality(
    groups: Sequence[Sequence[Finer]], target: SensitiveTarget, random: np.random.Generator
) -> AttackResult:
    """Compute what the attacker learns about a sensitive column.

    Args:
        groups: For each column that could be finer, all published classes with their parts, if these have rows
            enough.
    """
    right = certain = rows = naive = 0
    size, column = len(target.texts), target.column
    for group in groups:
        suspects = [one for one in group if _may_fail(one, target, random)]
        if len(suspects) != 1:
            continue  # the class is unknown
        learned = _learned(suspects[0], target, random)
        rows += len(suspects[0].values)
        common = np.bincount(suspects[0].values, minlength=size).argmax()
        naive += int((suspects[0].values == common).sum())
        guesses = learned.argmax(axis=1)[suspects[0].parts]
        right += int((guesses == suspects[0].values).sum())
        sure = (learned.max(axis=1) >= 1.0)[suspects[0].parts] & (guesses == suspects[0].values)
        before = np.bincount(suspects[0].values, minlength=size).max() == len(suspects[0].values)
        certain += 0 if before else int(sure.sum())
    return AttackResult(
        NAME,
        Message("verbatim", text=column),
        Rate(right, rows),
        Rate(naive, rows),
        certain=certain,
        details={"column": column},
    )


def _may_fail(one: Finer, target: SensitiveTarget, random: np.random.Generator) -> bool:
    return any(_fails(one.parts, random.permutation(one.values), target) for _ in range(DRAWS))


def _learned(one: Finer, target: SensitiveTarget, random: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return for each part the probability of each value over the tables that agree with the attacker's knowledge."""
    number, size = int(one.parts.max()) + 1, len(target.texts)
    counts = np.zeros((number, size))
    kept = 0
    for _ in range(DRAWS * 10):
        values = random.permutation(one.values)
        if _fails(one.parts, values, target):
            np.add.at(counts, (one.parts, values), 1)
            kept += 1
    if kept < _LEAST_DRAWS:
        return np.zeros((number, size))
    shares: npt.NDArray[np.float64] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares


def _fails(parts: Codes, values: Codes, target: SensitiveTarget) -> bool:
    """Return whether some part violates a model."""
    classes = _classes(parts, values, target)
    whole = _classes(np.zeros(len(parts), np.int64), values, target)
    return any(bool(model.violating(classes, whole).any()) for model in target.models)


def _classes(parts: Codes, values: Codes, target: SensitiveTarget) -> EquivalenceClasses:
    number = int(parts.max()) + 1
    ones = np.ones(len(parts), np.int64)
    content = histogram(parts, values.astype(np.int32), ones, number, len(target.texts))
    sizes = np.bincount(parts, minlength=number).astype(np.int64)
    return EquivalenceClasses(sizes, {target.column: replace(content, texts=target.texts)})
