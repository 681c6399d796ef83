"""Check that the solver is installed."""

from importlib.util import find_spec

from sfumato.errors import missing_extra


def check_installed() -> None:
    """Refuse to begin where the solver or the matrices that every attack needs are missing."""
    for package in ("scipy", "highspy"):
        if find_spec(package) is None:
            raise missing_extra(package, "tables")
