"""Columns as HIPAA Safe Harbor allows them: years, ages up to 89, three digits of ZIP codes; others are removed."""

from typing import Any

from sfumato.hierarchies.role_detection.date_formats import date_hierarchy
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.policies.safe_harbor.columns import SafeHarborContext, column_identifiers
from sfumato.policies.safe_harbor.places import area_shown, is_zip_column
from sfumato.policies.safe_harbor.times import OLDEST_SHOWN, latest_years

WITHHELD = {"role": "identifier"}
OLDEST = 120


def safe_harbor_column(profile: Profile, proposed: dict[str, Any], setting: SafeHarborContext) -> dict[str, Any]:
    """Return the plan entry of a column: as suggested if it has no identifier, otherwise generalized or removed."""
    kinds = {kind for kind, _ in column_identifiers(profile, setting)}
    if not kinds:
        return proposed
    if kinds == {"geography"} and is_zip_column(profile.name):
        return _zip(profile, setting)
    if "dates" in kinds and kinds <= {"dates", "ages"}:
        return _dates(profile, setting if "ages" in kinds else None)
    if kinds == {"ages"} and proposed.get("type") == "integer":
        return _ages(profile)
    return WITHHELD


def _zip(profile: Profile, setting: SafeHarborContext) -> dict[str, Any]:
    """Generalize ZIP codes to three digits, 000 for areas with few people."""
    parents = {value: area_shown(value, setting.people) for value in profile.values}
    parents = {value: area for value, area in parents.items() if area != value}
    return {"role": "quasi-identifier", "hierarchy": {"type": "tree", "parents": parents}, "min_level": 1}


def _dates(profile: Profile, old: SafeHarborContext | None) -> dict[str, Any]:
    """Generalize dates to years; to decades or centuries if years would reveal an age over 89."""
    proposal = date_hierarchy(profile, named=True)
    if proposal is None or proposal[1].get("type") != "date":
        return WITHHELD
    levels = ["year", "decade", "century"] if old is None else _levels_of_the_old(profile, old)
    return {"role": "quasi-identifier", "hierarchy": proposal[1] | {"levels": levels}, "min_level": 1}


def _levels_of_the_old(profile: Profile, setting: SafeHarborContext) -> list[str]:
    """Return decades if each of them includes persons of 89 or younger, otherwise centuries."""
    years = [year for value in profile.values for year in latest_years(value)]
    oldest = min(years, default=0) // 10 * 10 + 9
    return ["century"] if setting.today.year - oldest > OLDEST_SHOWN else ["decade", "century"]


def _ages(profile: Profile) -> dict[str, Any]:
    """Top-code ages over 89."""
    ladder = {"type": "intervals", "start": 0, "end": OLDEST, "top": OLDEST_SHOWN, "widths": [1, 5, 10, 20]}
    fits = all(value.strip().isdecimal() and int(value) <= OLDEST for value in profile.values)
    if not fits:
        return WITHHELD
    return {"role": "quasi-identifier", "type": "integer", "hierarchy": ladder, "min_level": 1}
