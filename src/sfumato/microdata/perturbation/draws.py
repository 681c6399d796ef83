"""What perturbation draws: numbers from a keyed hash, which nobody foretells who does not know the key.

SHAKE-256 of the key is as long as there are rows; each row has eight bytes of it. So a draw belongs to a key and the
place of a row, on every engine and every machine.
"""

from hashlib import shake_256

import numpy as np

from sfumato.microdata.models.classes import Floats


def uniforms(key: str, count: int) -> Floats:
    """Numbers from 0 up to but not including 1, of 53 bits each.

    >>> uniforms("key", 2).round(6).tolist()
    [0.093668, 0.121837]
    """
    bits = np.frombuffer(shake_256(key.encode()).digest(8 * count), ">u8")
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normals(key: str, count: int) -> Floats:
    """Numbers of the standard normal distribution, by Box and Muller."""
    pairs = uniforms(key, 2 * ((count + 1) // 2)).reshape(2, -1)
    radius, angle = np.sqrt(-2 * np.log1p(-pairs[0])), 2 * np.pi * pairs[1]
    both: Floats = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    return both[:count]
