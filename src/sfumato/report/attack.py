"""What an attacker reached: as text, and as a section of a page."""

from collections.abc import Mapping
from html import escape
from typing import Any

from sfumato.texts.words import Words, words_in


def text(figures: Mapping[str, Any]) -> str:
    """One line an attack: what it reached against its control and its baseline, and the verdict."""
    rows = figures["rows"]
    lines = [
        f"{rows['published']:,} published rows attacked, {rows['raw']:,} raw and {rows['control']:,} control rows; "
        "a measured attack is evidence, not a proof",
        *(_line(attack) for attack in figures["attacks"]),
        *(f"not run    {absence['attack']}: {absence['why']}" for absence in figures["not_run"]),
        *(f"note: {remark}" for remark in figures["remarks"]),
    ]
    found = figures["found"]
    said = (
        f"{found} attacks succeeded, the highest risk is {figures['highest_risk']:.1%}"
        if found
        else "no attack succeeded"
    )
    return (
        "\n".join([*lines, f"{said} (all together wrong once in {round(1 / figures['familywise_error'])} times)"])
        + "\n"
    )


def _line(attack: Mapping[str, Any]) -> str:
    mark = (
        "REACHED  " if attack["evidence"] and attack["counted"] else "reached  " if attack["evidence"] else "failed   "
    )
    control = "" if attack["control"] is None else f", control {attack['control']['rate']:.1%}"
    certain = f", {attack['certain']} persons for certain" if attack["certain"] else ""
    low, high = attack["risk_interval"]
    return (
        f"{mark}  {attack['attack']} ({attack['variant']}): {attack['rate']:.1%} of {attack['attempts']:,}{control}, "
        f"baseline {attack['baseline']['rate']:.1%}; risk {attack['risk']:.1%} [{low:.1%}, {high:.1%}]{certain}"
        + ("" if attack["evidence"] else ": attack failed, no evidence")
    )


def section(figures: Mapping[str, Any], words: Words | None = None) -> str:
    """What an attacker reached, as a section of a report."""
    words = words or words_in()
    keys = ("attack", "reached", "control", "baseline", "risk", "verdict")
    head = "".join(f"<th>{escape(words[f'attack.{key}'])}</th>" for key in keys)
    rows = "".join(_row(attack, words) for attack in figures["attacks"])
    others = "".join(
        f"<li>{escape(absence['attack'])}: {escape(words.sentence(absence['why']))}</li>"
        for absence in figures["not_run"]
    )
    notes = "".join(f"<p>{escape(words.sentence(remark))}</p>" for remark in figures["remarks"])
    return (
        f"<h2>{escape(words['attack.title'])}</h2><p>{escape(words['attack.evidence'])}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f"<p>{escape(words['attack.not_run'])}</p><ul>{others}</ul>{notes}"
    )


def _row(attack: Mapping[str, Any], words: Words) -> str:
    low, high = attack["risk_interval"]
    control = "" if attack["control"] is None else words.percent(attack["control"]["rate"])
    cells = (
        f"{attack['attack']}: {attack['variant']}",
        words.percent(attack["rate"]),
        control,
        words.percent(attack["baseline"]["rate"]),
        f"{words.percent(attack['risk'])} ({words.percent(low)} – {words.percent(high)})",
        words["attack.succeeded" if attack["evidence"] else "attack.failed"],
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def page_of(figures: Mapping[str, Any], language: str = "en") -> str:
    """What an attacker reached, as a page of its own."""
    from sfumato.report.page.html_parts import page

    words = words_in(language)
    return page(f"Sfumato: {words['attack.title']}", [section(figures, words)], language)
