"""Measured attacks is told so that figures and verdict of a row do not contradict each other."""

from types import SimpleNamespace

import polars as pl
import pytest

from sfumato.localization.messages import words_in
from sfumato.microdata.attacks.result import AttackResult, Rate, judged_together
from sfumato.pipelines.release import anonymize
from sfumato.report.checks import (
    attack_section,
    attack_text,
    attack_words,
    outside,
    placed,
    reached,
    summary,
    verdict,
    verdict_head,
)

# Looks like a success alone, yet is none among many attacks.
BY_CHANCE = AttackResult("inference", "nearest rows", Rate(39, 64), Rate(16, 64), Rate(0, 16))
BY_OWN_ROW = AttackResult(
    "inference", "nearest rows", Rate(60, 64), Rate(16, 64), Rate(0, 16), without_own_row=Rate(15, 64)
)
FEW = AttackResult("singling-out", "one column", Rate(0, 3), Rate(0, 3), Rate(0, 3))
NEVER = AttackResult("singling-out", "one column", Rate(0, 1000), Rate(0, 1000), Rate(0, 1000))
NOTHING = AttackResult("linking", "with a register", Rate(0, 0), Rate(0, 0))
PLAIN = AttackResult("linking", "two groups of columns", Rate(1, 64), Rate(1, 64), Rate(0, 64))


@pytest.mark.parametrize(
    ("attack", "english", "german"),
    [
        (BY_CHANCE, "with 64 attempts and this many attacks, it may be chance", "kann es Zufall sein"),
        (BY_OWN_ROW, "without the row of the person it succeeds for 23.4 %", "Ohne die Zeile der Person"),
        (FEW, "too few attempts: 3", "zu wenige Versuche: 3"),
        (NEVER, "failed, no evidence of risk", "gescheitert, kein Anhaltspunkt für ein Risiko"),
        (PLAIN, "failed, no evidence of risk", "gescheitert, kein Anhaltspunkt für ein Risiko"),
    ],
)
def test_a_row_that_looks_like_a_success_says_why_it_is_none(attack, english, german) -> None:
    judged = judged_together((attack,) * 10)[0].to_dict()
    assert not judged["evidence"]
    assert english in attack_words(judged, words_in())[-1]
    assert german in attack_words(judged, words_in("de"))[-1]
    figures = {"rows": {"published": 64, "raw": 64, "control": 16}, "attacks": [judged], "not_run": [], "remarks": []}
    assert english in attack_text(figures | {"found": 0, "familywise_error": 0.01})


def test_what_had_nothing_to_try_is_no_attack() -> None:
    judged = [attack.to_dict() for attack in judged_together((PLAIN, NOTHING))]
    figures = {"attacks": judged, "not_run": [], "found": 0, "highest_risk": 0.0, "familywise_error": 0.01}
    assert summary(figures)["attempts"] == 1
    assert "1 attack was" in outside(figures, words_in())


BESIDE = AttackResult("inference", "nearest rows", Rate(60, 64), Rate(4, 64), Rate(0, 16), counted=False)


@pytest.mark.parametrize(
    ("language", "none", "some"),
    [
        ("en", "No attack succeeded", "succeeded outside the guarantees"),
        ("de", "Kein Angriff war erfolgreich", "außerhalb"),
    ],
)
def test_a_verdict_does_not_contradict_a_row_that_succeeded_beside_the_promises(language, none, some) -> None:
    words = words_in(language)
    judged = judged_together((BESIDE, PLAIN))
    figures = {"rows": {"published": 64, "raw": 64, "control": 16}, "found": 0, "highest_risk": 0.0}
    figures |= {"not_run": [], "remarks": [], "familywise_error": 0.05}
    whole = figures | {"attacks": [attack.to_dict() for attack in judged]}
    failed = figures | {"attacks": [judged[1].to_dict()]}
    for tell in (verdict, attack_section, outside):
        assert none not in tell(whole, words) and some in tell(whole, words)
        assert some not in tell(failed, words)
    assert none in verdict(failed, words) and summary(whole)["not_counted"] == 1
    assert none not in attack_text(whole) and verdict(whole, words_in()) in attack_text(whole)


def test_a_person_is_said_to_be_a_star_on_the_page() -> None:
    """A random key is published where the plan asks for one alone."""
    for language in ("en", "de"):
        words = words_in(language)
        assert words["columns.fate.person"] == words["columns.fate.identifier"]


@pytest.mark.parametrize("attacks", [(PLAIN,), (BESIDE, PLAIN)], ids=["nothing", "beside"])
def test_what_was_reached_stands_where_risks_are_told(tmp_path, attacks) -> None:
    """Once in the section of attacks, and once beside each of the places that tell of risks: as often as they are."""
    from sfumato.pipelines.report_folder import REPORTS, add_to_folder, read_dossier
    from sfumato.report.release.sections import limits

    rows = pl.DataFrame([{"sex": "mf"[place % 2], "ill": "abc"[place % 3]} for place in range(40)])
    columns = {"sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "ill": {"role": "insensitive"}}
    release = anonymize(rows, {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]})
    release.save(tmp_path / "out")
    release.close()
    figures = {"rows": {"published": 40, "raw": 40, "control": 16}, "found": 0, "highest_risk": 0.0, "not_run": []}
    figures |= {"remarks": [], "familywise_error": 0.05}
    figures["attacks"] = [attack.to_dict() for attack in judged_together(attacks)]
    for _ in range(2):  # What was told before is replaced.
        add_to_folder(tmp_path / "out", SimpleNamespace(to_dict=lambda: figures))
    reached = "succeeded outside the guarantees"
    pages = {name: (tmp_path / "out" / name).read_text(encoding="utf-8") for name in REPORTS if name.endswith("html")}
    told = {name: page.count(f"attack {reached}") for name, page in pages.items()}
    assert told == ({"report.html": 3, "report-external.html": 2} if len(attacks) > 1 else dict.fromkeys(pages, 0))
    assert (reached in limits(read_dossier(tmp_path / "out"))) == (len(attacks) > 1)


BY_INSENSITIVE = AttackResult(
    "singling-out",
    "several columns",
    Rate(60, 64),
    Rate(4, 64),
    Rate(0, 64),
    details={"columns": ["age", "diary"], "beyond": ["diary"]},
)


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_house_is_told_by_which_columns_and_others_no_advice(language) -> None:
    words = words_in(language)
    judged = [attack.to_dict() for attack in judged_together((BY_INSENSITIVE, PLAIN))]
    figures = {"attacks": judged, "found": 1, "highest_risk": 0.9, "familywise_error": 0.01}
    figures |= {"not_run": [], "remarks": [], "rows": {"published": 64, "raw": 64, "control": 64}}
    assert "diary" in verdict(figures, words)
    assert "age" not in verdict(figures, words).split()
    assert "diary" in attack_words(judged[0], words)[0]
    held = verdict_head(words, False, outside=True) + reached(None, words, to_hand_out=True)
    handed_out = placed(held, figures, words, to_hand_out=True)
    assert words["report.attacked_outside"] in handed_out
    assert words["report.attacked"] not in handed_out
    assert "diary" not in handed_out
    assert "diary" in placed(verdict_head(words, False) + reached(None, words), figures, words)
