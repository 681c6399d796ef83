"""Random numbers of perturbation, from a keyed hash: they cannot be predicted without the key.

SHAKE-256 of the key yields eight bytes per row. A random number therefore depends on a key and a row position only, on
every engine and every machine. For rows of persons it depends on person and value instead: later releases of the same
persons use the same numbers, so averaging several releases comes no closer to a value than one does.
"""

from collections.abc import Sequence
from hashlib import shake_256

import numpy as np

from sfumato.microdata.models.equivalence_classes import Floats


def uniforms(key: str, count: int, identities: Sequence[str] | None = None) -> Floats:
    """Return numbers from 0 up to but not including 1, of 53 bits each.

    Args:
        key: Key of the random numbers.
        count: How many rows there are.
        identities: What identifies each row in every release; None uses the position of a row.

    >>> uniforms("key", 2).round(6).tolist()
    [0.093668, 0.121837]
    >>> float(uniforms("key", 2, ["Ada:0:7", "Bob:0:7"])[0] - uniforms("key", 1, ["Ada:0:7"])[0])
    0.0
    """
    if identities is None:
        return _fractions(shake_256(key.encode()).digest(8 * count))
    return _fractions(b"".join(shake_256(f"{key}{identity}".encode()).digest(8) for identity in identities))


def normals(key: str, count: int, identities: Sequence[str] | None = None) -> Floats:
    """Return numbers of the standard normal distribution, by Box and Muller."""
    if identities is not None:
        radius, angle = _polar(*(uniforms(f"{key}{part}:", count, identities) for part in ("radius", "angle")))
        return radius * np.cos(angle)
    radius, angle = _polar(*uniforms(key, 2 * ((count + 1) // 2)).reshape(2, -1))
    both: Floats = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    return both[:count]


def _polar(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    return np.sqrt(-2 * np.log1p(-one)), 2 * np.pi * other


def _fractions(content: bytes) -> Floats:
    return (np.frombuffer(content, ">u8") >> np.uint64(11)).astype(np.float64) * 2.0**-53
