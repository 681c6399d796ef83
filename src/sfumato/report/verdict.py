"""The result of verifying a released file, as text."""

from sfumato.microdata.verdict import Verdict

AGAINST = {
    "both": ", against the raw table and the published rows",
    "raw": ", against the raw table",
    "published": ", against the published rows",
    "nothing": ", against a raw table that these rows do not tell",
}


def text(verdict: Verdict) -> str:
    """Return one line per model, and the findings."""
    if not verdict.rows:
        return "DOES NOT HOLD  there are no rows: nothing can be said of them\n"
    lines = [f"DOES NOT HOLD  {fault}" for fault in verdict.faults]
    lines += [
        f"{'holds        ' if promise.satisfied else 'DOES NOT HOLD'}  {promise.model}"
        + (f" of {promise.column}" if promise.column else "")
        + f": asked {promise.requested:g}, reached {promise.achieved:g}"
        + AGAINST.get(str(promise.parameters.get("reference")), "")
        for promise in verdict.promises
    ]
    lines += [f"not checked    {sentence}" for sentence in verdict.unchecked]
    seen = f"{verdict.rows:,} rows in {verdict.classes:,} classes of {verdict.smallest:,} to {verdict.largest:,} rows"
    seen += f"; {verdict.suppressed_rows:,} suppressed" if verdict.suppressed_rows else ""
    return "\n".join([*lines, f"{seen} (counted: {verdict.unit})"]) + "\n"
