"""Many numbers published at once: numbers of one step are published alike, so its two ends tell what all become."""

from collections.abc import Callable, Sequence

import numpy as np

from sfumato.microdata.models.classes import Floats

# Numbers of more characters may be one binary fraction though they differ: these are published one by one.
_EXACT = 15


def rough_steps(
    numbers: Floats,
    bottom: float | None = None,
    top: float | None = None,
    rounded: float | None = None,
    width: float | None = None,
) -> Floats:
    """The step of each number, but for those that binary fractions put on the other side of an end.

    >>> rough_steps(np.array([1.0, 24.0, 26.0, 99.0]), top=50, rounded=10)
    array([ 0.,  2.,  3., inf])
    """
    steps = numbers
    if rounded is not None:
        steps = np.floor(np.abs(numbers) / rounded + 0.5) * np.sign(numbers)
    elif width is not None:
        steps = np.floor(numbers / width)
    steps = steps if bottom is None else np.where(numbers < bottom, -np.inf, steps)
    return steps if top is None else np.where(numbers > top, np.inf, steps)


def publish_steps(forms: Sequence[str], numbers: Floats, steps: Floats, publish: Callable[[str], str]) -> Sequence[str]:
    """What each number is published as, where a larger one is never published as a smaller one.

    Args:
        steps: Roughly which numbers are published alike; where the least and the largest of a step are not, each
            number is looked at.
    """
    if not forms or max(map(len, forms)) > _EXACT:
        return [publish(form) for form in forms]
    order = np.lexsort((numbers, steps))
    ordered = steps[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    labels = np.empty(len(forms), object)
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        places = order[start:end]
        first, last = publish(forms[places[0]]), publish(forms[places[-1]])
        labels[places] = first if first == last else [publish(forms[place]) for place in places]
    return list(labels)
