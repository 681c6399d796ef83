"""Summary sentences about the result of a table, from its report.json: for the page and the annex."""

from collections.abc import Mapping
from typing import Any

from sfumato.localization.messages import Messages
from sfumato.report.tables import perturbed
from sfumato.report.tables.inherent_disclosure import less_promised


def outcome_sentences(report: Mapping[str, Any], words: Messages) -> list[tuple[str, bool | None]]:
    """Return the result of a table in sentences, each good, bad or neutral."""
    if "noise" in report:
        promised = not report["warnings"]
        return [
            (words["noised.holds"], True) if promised else (words.text(report["warnings"][0]), None),
            *((text, None) for text in perturbed.sentences({**report, "warnings": []}, words)),
        ]
    audit = {key: words.count(count) for key, count in report["audit"].items()}
    counts = {key: words.count(report[key]) for key in ("masked", "cells", "primary", "secondary")}
    proved = (
        "table_proved" if report["proved_optimal"] else "table_gap" if report["gap"] is not None else "table_unproved"
    )
    gap = words.figure(f"{100 * (report['gap'] or 0):.1f}")
    if not report["masked"]:
        said, *more = report["warnings"]
        return [(words.text(text), None) for text in (said, words["masked"].format(**counts), *more)]
    # Older jobs lack it.
    attacked = report.get("attacked", True)
    fails = "table_leaks" if attacked else "tabled.unattacked"
    return [
        (words["table_holds" if report["satisfied"] else fails], bool(report["satisfied"])),
        (words["masked"].format(**counts), None),
        (words["audit"].format(checked=audit["checked"], exact=audit["exact"], narrow=audit["too_narrow"]), None),
        (words[proved].format(gap=gap), None),
        *((text, None) for text in less_promised(words, report)),
        *(
            (words.text(warning), None)
            for warning in (report["warnings"] if report["satisfied"] or not attacked else ())
        ),
    ]
