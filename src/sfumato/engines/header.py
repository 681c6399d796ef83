"""Whether the first line of a file is a header, told without quoting what may be a person."""

from collections.abc import Iterable, Sequence

from sfumato.errors import PlanError


def check_header(asked: Iterable[str], found: Sequence[str]) -> None:
    """Refuse data that have none of the columns asked for.

    The names found are then likely the first row, or a whole line that was read with another separator: they are for
    the caller alone. Messages may quote them once this check has passed.

    Raises:
        PlanError: The data have none of the columns; the names found are its values.
    """
    if any(name in found for name in asked):
        return
    raise PlanError(
        "the first line has none of the columns asked for; has the file a header?",
        "Check the names and the separator; a plan says data.header: false for a file without a header.",
        "columns",
        values=tuple(found),
    )
