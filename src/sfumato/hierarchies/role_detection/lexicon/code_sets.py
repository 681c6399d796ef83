"""Sets of short codes that are only meaningful together: states, countries, colors, marital status, answers.

`M` may be anything; `S`, `M`, `D` and `W` together are single, married, divorced and widowed. The sets are in
`code_sets.txt`: the concept, how many different codes of the set a column needs, and those that are required.
"""

from functools import cache

from sfumato.dataclass import dataclass
from sfumato.hierarchies.role_detection.lexicon.concepts import read_sections
from sfumato.hierarchies.role_detection.profile import Profile

# Minimum proportion of rows with a code of the set, and maximum length of a code.
_SHARE, _LONGEST = 0.97, 5
_MOST_CODES = 260


@dataclass(frozen=True, slots=True)
class _CodeSet:
    concept: str
    least: int
    needed: frozenset[str]
    codes: frozenset[str]


def concept_of_codes(profile: Profile) -> tuple[str, float] | None:
    """Return the concept of a column's codes, and the proportion of rows with one of the set.

    >>> concept_of_codes(Profile("x", {"S": 30, "M": 40, "D": 20, "W": 10}, rows=100))
    ('family', 1.0)
    >>> concept_of_codes(Profile("x", {"S": 30, "M": 40, "L": 20}, rows=100))
    """
    if not 2 <= len(profile.counts) <= _MOST_CODES:
        return None
    plain = {value: value.strip().rstrip(".") for value in profile.counts}
    # Codes are in capitals, or all of them in small letters; a word begins with one capital.
    shouted = all(len(code) <= _LONGEST and code == code.upper() for code in plain.values())
    if not shouted and not all(code == code.lower() and len(code) <= _LONGEST for code in plain.values()):
        return None
    codes = {value: code.lower() for value, code in plain.items()}
    return next((found for one in _sets() if (found := _share(one, codes, profile))), None)


def _share(one: _CodeSet, codes: dict[str, str], profile: Profile) -> tuple[str, float] | None:
    members = {value for value, code in codes.items() if code in one.codes}
    if len(members) < one.least or not one.needed <= {codes[value] for value in members}:
        return None
    share = sum(profile.counts[value] for value in members) / max(profile.present, 1)
    return (one.concept, share) if share >= _SHARE else None


@cache
def _sets() -> tuple[_CodeSet, ...]:
    return tuple(
        _CodeSet(concept, int(least), frozenset(needed), words)
        for (concept, least, *needed), words in read_sections("code_sets.txt")
    )
