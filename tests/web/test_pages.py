"""The pages from end to end in a real browser: the whole path, refusals, cancelling, visitors apart, keys, phone."""

import re
import shutil
import zipfile
from itertools import pairwise
from pathlib import Path

import httpx
import openpyxl
import pytest
import yaml
from walking import (
    GERMAN,
    WORDS,
    anonymize,
    button,
    choose,
    column,
    downloaded,
    k_field,
    load_example,
    plan_now,
    plan_of,
    send,
    step,
    until,
    view,
)

from sfumato.cli.main import run
from sfumato.datasets import census, patients
from sizes import size

EARLIER = WORDS["earlier"]


def settings_of(page):
    """The settings of the ladder at hand, in the plan's own notation."""
    page.locator(".sf-panel").get_by_text(WORDS["hierarchy.more"]).click()
    return page.get_by_label("settings", exact=True)


def add(page, kind, name):
    choose(page, f"Add a {kind}", name)


def test_the_whole_path_gives_the_release_of_the_command_line(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app")
    name, rows = size(("patients", "300"), ("census", "30,000"))
    load_example(page, name, rows)
    button(page, "Next").click()
    page.locator(".why", has_text="which relatives, colleagues and registers know").first.wait_for(state="attached")
    button(page, "Next").click()
    page.get_by_text("in an equivalence class smaller than 5.").wait_for()
    k_field(page).fill("4")
    page.get_by_text("can be run").wait_for()
    button(page, "Next").click()
    anonymize(page)
    view(page, "Rows")
    page.get_by_text("changed cells are marked").wait_for()
    assert page.locator("td.changed").count() > 0
    button(page, "Next").click()
    page.get_by_text("sfumato anonymize plan.yaml --out release").wait_for()
    data = downloaded(page, "Data", tmp_path / "page.csv")
    plan = downloaded(page, "Plan", tmp_path / "plan.yaml")
    report = downloaded(page, "Internal report", tmp_path / "report.html")
    assert WORDS["report.holds"] in report.read_text(encoding="utf-8")
    content = yaml.safe_load(plan.read_text(encoding="utf-8"))
    assert content["privacy"][0] == {"model": "k-anonymity", "k": 4}
    size(patients(), census()).write(tmp_path / content["data"]["source"])
    assert run(["anonymize", str(plan), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    # Each run draws an order of its own.
    assert sorted(data.read_bytes().split(b"\n")) == sorted((tmp_path / "out" / "data.csv").read_bytes().split(b"\n"))


def test_with_a_named_seed_every_byte_is_that_of_the_command_line(base, open_page, tmp_path) -> None:
    patients().write(tmp_path / "patients.csv")
    plan = {**patients().plan("patients.csv", 5), "method": {"name": "auto", "suppression": 0.02}, "seed": 20260101}
    (tmp_path / "seeded.yaml").write_text(yaml.safe_dump(plan))
    page = open_page(f"{base}/app")
    send(page, tmp_path / "patients.csv")
    page.get_by_text("300 rows,").wait_for()
    send(page, tmp_path / "seeded.yaml", -1)
    page.locator(".sf-columns").wait_for()
    anonymize(page)
    assert plan_of(page, tmp_path)["seed"] == 20260101
    assert run(["anonymize", str(tmp_path / "plan.yaml"), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    with zipfile.ZipFile(downloaded(page, "Everything (ZIP)", tmp_path / "all.zip")) as archive:
        for name in ("data.csv", "recoding.json"):
            assert archive.read(name) == (tmp_path / "out" / name).read_bytes(), name
        assert archive.read("annex.md").startswith(b"# Annex to the data protection impact assessment")
        assert archive.testzip() is None


def test_another_node_is_looked_at_and_released_from_frontier_and_lattice(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app")
    load_example(page, "eight-rows", "8")
    anonymize(page)
    view(page, "Alternatives")
    button(page, WORDS["explore"]).click()
    page.get_by_text("down and to the left are better").wait_for()
    assert WORDS["node_best"] in page.locator(".legend").inner_text()  # beside the chart, where it lies on nothing
    button(page, "Lattice").click()
    node = page.locator(".sf-lattice circle.best").first
    # Where the lattice is drawn anew, its nodes are entered again.
    tip = page.get_by_role("tooltip").get_by_text("suppressed")
    for _ in range(40):
        node.focus()
        page.wait_for_timeout(100)
        if tip.count():
            break
        node.blur()
    tip.first.wait_for()
    node.press("Enter")
    button(page, WORDS["release_point"]).wait_for()
    page.locator(".sf-labeled .q-field", has_text="mean loss").wait_for()  # the list names the one that is looked at
    page.locator(".sf-lattice circle.fails").last.press("Enter")  # it breaks the promises as they stand
    page.get_by_text("more than the limit of 0").wait_for()
    button(page, WORDS["release_beyond"]).wait_for()
    page.get_by_label(WORDS["node_best"]).click()
    option = page.get_by_role("option").last
    levels = dict(re.findall(r"([a-z_]+) (\d+)", option.inner_text().partition(": ")[2]))
    assert 0 < float(re.search(r"mean loss ([\d.]+) %", option.inner_text())[1]) <= 100  # as the release tells it
    option.click()
    page.locator("tr", has_text="zip").filter(has_text="→").wait_for()
    button(page, WORDS["release_point"]).click()
    page.get_by_text("Run 2", exact=True).wait_for()
    view(page, "Alternatives")
    page.get_by_text("Selected and released: ").wait_for()  # and nothing is left to be run
    assert page.get_by_text("Run again to release it").count() == 0
    button(page, "Compare methods").click()
    button(page, "mondrian").wait_for()  # the choice of levels does not bind other methods, which know none
    plan = plan_of(page, tmp_path)
    chosen = {name: str(plan["columns"][name]["max_level"]) for name in levels}
    assert chosen == levels
    step(page, "Goal")
    page.get_by_text("Levels were selected and apply to every method").wait_for()
    button(page, WORDS["free_levels"]).click()
    page.get_by_text("Levels were selected and apply to every method").wait_for(state="detached")


def test_an_uploaded_file_with_a_ladder_edited_by_hand(base, open_page, tmp_path) -> None:
    source = tmp_path / "my people.csv"
    source.write_text("id,town,illness\n" + "".join(f"{n},{'ABCD'[n % 4]}-town,flu\n" for n in range(40)))
    page = open_page(f"{base}/app")
    page.locator("input[type=file]").first.set_input_files(source)
    page.get_by_text("40 rows, 3 columns").wait_for()
    step(page, "Columns")
    column(page, "town")
    badge = page.locator(".sf-panel [role=status]")
    settings = settings_of(page)
    settings.fill("{type: digits, length: 4}")
    badge.get_by_text(re.compile("✓ valid: .*not recognized")).wait_for()
    settings.fill("{type: nonsense}")
    badge.get_by_text("not valid").wait_for()
    for odd in ("{type: [digits]}", "&a [*a]", "{type: digits, length: 1" + "0" * 400 + "}", "[" * 3000):
        settings.fill("{type: digits, length: 6}")
        badge.get_by_text(re.compile("✓ valid")).wait_for()
        settings.fill(odd)
        badge.get_by_text(re.compile("✗ not valid: .")).wait_for()
    settings.fill("{type: file, path: /etc/passwd}")
    badge.get_by_text("did not come with it").wait_for()
    settings.fill("{type: any}")
    badge.get_by_text(re.compile("✓ valid")).wait_for()
    button(page, WORDS["edit_table"]).click()
    hierarchy = "A-town;AB;*\nB-town;AB;*\nC-town;CD;*\nD-town;CD;*"
    page.get_by_role("dialog").get_by_role("textbox").fill(hierarchy)
    button(page, WORDS["use"]).click()
    page.get_by_role("dialog").wait_for(state="hidden")
    step(page, "Goal")
    k_field(page).fill("15")
    anonymize(page)
    view(page, "Rows")
    page.locator("td.changed", has_text="AB").first.wait_for()


def test_a_goal_is_judged_as_it_is_entered(base, open_page, tmp_path) -> None:
    """Too large a k, a fraction, a promise out of reach; several promises, and a method that cannot keep one."""
    page = open_page(f"{base}/app")
    load_example(page, "patients", "300")
    step(page, "Goal")
    page.get_by_text(WORDS["can_run"]).wait_for()
    page.get_by_label(WORDS["k-anonymity.k"]).fill("301")
    page.get_by_text("300 rows are too few for equivalence classes of 301 rows.").wait_for()
    assert page.get_by_text(WORDS["can_run"]).count() == 0
    page.get_by_label(WORDS["k-anonymity.k"]).fill("300")
    page.get_by_text(WORDS["can_run"]).wait_for()
    page.get_by_label(WORDS["k-anonymity.k"]).fill("2.5")
    page.get_by_text("This field requires an integer; the plan has 2.").wait_for()
    page.get_by_label(WORDS["k-anonymity.k"]).fill("5")
    page.get_by_label(WORDS["l-diversity.l"]).fill("99")
    page.get_by_label(WORDS["k-anonymity.k"]).click()
    step(page, "Result")
    button(page, "Anonymize").click()
    page.get_by_role("alert").filter(has_text="needs 99 distinct values").wait_for()
    step(page, "Goal")
    page.get_by_label(WORDS["l-diversity.l"]).fill("2")
    page.get_by_text(WORDS["can_run"]).wait_for()
    choose(page, "Variant", "recursive")
    page.get_by_label(WORDS["key.c"]).fill("2.5")
    add(page, "privacy model", "average risk")
    page.get_by_label(WORDS["average-risk.threshold"]).fill("")
    page.get_by_text("Required: Maximum average risk.").wait_for()
    page.get_by_label(WORDS["average-risk.threshold"]).fill("0.15")
    choose(page, "Method", "k-optimize")
    page.get_by_text("Remove l-diversity, average risk, or choose another method").wait_for()
    page.get_by_text("Suppression limit: 100 % of the rows").wait_for()
    choose(page, "Method", "optimal")
    page.get_by_text("Suppression limit: 2 % of the rows").wait_for()
    choose(page, "Method", "mondrian")
    page.get_by_text("mondrian evaluates each class separately").wait_for()
    button(page, "Remove: average risk: bounded over all rows").click()
    page.get_by_text("mondrian evaluates each class separately").wait_for(state="detached")
    page.get_by_text("More settings").click()
    choose(page, WORDS["key.mode"], "relaxed")
    page.get_by_text(WORDS["can_run"]).wait_for()
    anonymize(page)
    plan = plan_of(page, tmp_path)
    diverse = {"model": "l-diversity", "l": 2, "variant": "recursive", "column": "illness", "c": 2.5}
    assert plan["privacy"] == [{"model": "k-anonymity", "k": 5}, diverse]
    assert plan["method"] == {"name": "mondrian", "suppression": 0.02, "mode": "relaxed"}


def test_a_promise_about_a_population_takes_its_table(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app")
    load_example(page, "patients", "300")
    step(page, "Goal")
    add(page, "privacy model", "k-map")
    page.get_by_text(WORDS["population_missing"]).wait_for()
    population = tmp_path / "register.csv"
    patients(1000, seed=3).write(population)
    page.locator(".q-uploader input[type=file]").last.set_input_files(population)
    page.get_by_text(WORDS["can_run"]).wait_for()
    button(page, "Remove: k-anonymity: classes of at least k members").click()
    button(page, "Remove: l-diversity: several sensitive values per class").click()
    anonymize(page)
    plan = plan_of(page, tmp_path)
    assert plan["privacy"] == [{"model": "k-map", "k": 5, "population": "population-register.csv"}]
    assert downloaded(page, "population-register.csv", tmp_path / "again").read_bytes() == population.read_bytes()


AREAS = {
    "en-US": {
        "Rows": WORDS["example"],
        "Tables": WORDS["tables_intro"],
        "Attributes": WORDS["attribute_choices"],
        "Help": WORDS["help_about"],
    },
    "de-DE": {
        "Zeilen": GERMAN["example"],
        "Tabellen": GERMAN["tables_intro"],
        "Attribute": GERMAN["attribute_choices"],
        "Hilfe": GERMAN["help_about"],
    },
}


@pytest.mark.parametrize("locale", AREAS)
def test_every_link_of_every_page_leads_to_its_area(base, open_page, artifacts, locale) -> None:
    page = open_page(f"{base}/app", locale=locale)
    answers = []
    page.on("response", lambda answer: answers.append((answer.status, answer.url)))
    areas = AREAS[locale]
    for name in (*areas, *reversed(areas)) if locale == "en-US" else areas:
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        page.locator("[aria-current=page]", has_text=re.compile(f"^{name}$")).wait_for()
        page.get_by_text(areas[name]).first.wait_for()
    page.screenshot(path=artifacts / f"after-clicks-{locale}.png")
    assert page.get_by_role("navigation").get_by_role("link").count() == len(areas)
    assert [answer for answer in answers if answer[0] >= 400] == []


def test_browsers_are_led_to_the_pages_and_programs_are_not(base, open_page) -> None:
    page = open_page(base)
    button(page, "patients").wait_for()
    assert page.url.partition("#")[0].rstrip("/") == f"{base}/app"
    with httpx.Client(base_url=base, trust_env=False) as program:
        for accept in ("*/*", "application/json", "application/json, text/html;q=0.9"):
            answer = program.get("/", headers={"accept": accept})
            assert answer.json()["version"] == "1.0.0"
            assert answer.headers["vary"] == "accept"


def test_a_job_can_be_cancelled(base, open_page, folder) -> None:
    page = open_page(f"{base}/app")
    load_example(page, "census", "30,000")
    before = {path.name for path in folder.iterdir()}
    step(page, "Result")
    button(page, "Anonymize").click()
    button(page, "Cancel").click()
    page.get_by_text(WORDS["cancelled"]).wait_for()
    until(lambda: not [path for path in folder.iterdir() if path.is_dir() and path.name not in before])


def test_two_visitors_never_see_each_others_data(base, open_page, folder, tmp_path) -> None:
    pages = []
    for letter in "XY":
        source = tmp_path / f"{letter}.csv"
        source.write_text("zip,illness\n" + f"secret-{letter},flu\n" * 12)
        page = open_page(f"{base}/app")
        page.locator("input[type=file]").first.set_input_files(source)
        page.get_by_text("12 rows,").wait_for()
        pages.append(page)
    own = {letter: next(folder.glob(f"session-*/{letter}.csv")).parent for letter in "XY"}
    assert own["X"] != own["Y"]
    assert all(path.stat().st_mode & 0o777 == 0o700 for path in own.values())
    for page in pages:
        anonymize(page)
        step(page, "Data")
    assert "secret-X" in pages[0].content()
    assert "secret-Y" not in pages[0].content()
    assert "secret-Y" in pages[1].content()
    assert "secret-X" not in pages[1].content()
    with httpx.Client(base_url=base, trust_env=False) as stranger:
        for job in [path.name for path in folder.iterdir() if re.fullmatch(r"[0-9a-f]{32}", path.name)]:
            assert stranger.get(f"/api/jobs/{job}").status_code == 404


def test_the_tables_area_masks_the_known_example(base, open_page) -> None:
    page = open_page(f"{base}/app/tables")
    page.get_by_label(WORDS["paste"]).fill("area;n\nTotal;24\na;2\nb;9\nc;13")
    page.get_by_text("area", exact=True).wait_for()
    button(page, "Protect").click()
    page.get_by_text("2 of 4 cells suppressed: 1 primary, 1 secondary.").wait_for()
    page.get_by_text("0 exactly disclosed, 0 below the protection level").wait_for()
    rows = [row.split("\t")[:2] for row in page.locator("tbody tr").all_inner_texts()]
    assert rows == [["Total", "24"], ["a", "*"], ["b", "*"], ["c", "13"]]
    earlier = page.get_by_text(WORDS["earlier_table"])
    assert earlier.count() == 0
    page.reload()  # the result stays
    page.get_by_text("2 of 4 cells suppressed: 1 primary, 1 secondary.").wait_for()
    assert earlier.count() == 0
    page.get_by_label("To", exact=True).first.fill("5")
    page.locator(".sf-entry summary", has_text="≤ 5").wait_for()
    earlier.wait_for()
    page.get_by_label("To", exact=True).first.fill("3")
    earlier.wait_for(state="hidden")
    page.get_by_label(WORDS["paste"]).fill("area;n\nTotal;25\na;2\nb;9\nc;13")
    button(page, "Protect").click()
    page.get_by_role("alert").filter(has_text=WORDS["failed"]).wait_for()
    page.get_by_label(WORDS["paste"]).fill(PASTED)
    button(page, WORDS["crosstab_unfold"]).click()
    page.wait_for_function("document.querySelector('textarea').value.startsWith('area;sex;count\\nTotal;m;50,5')")
    assert page.get_by_role("combobox", name="Decimal mark").input_value() == "comma 1,5"
    page.get_by_text("Required: Largest contributions, in descending order.").wait_for()  # sums are no counts
    page.get_by_label(WORDS["paste"]).fill(PASTED.replace(",5", ""))
    button(page, WORDS["crosstab_unfold"]).click()
    page.wait_for_function("document.querySelector('textarea').value.startsWith('area;sex;count\\nTotal;m;50\\n')")
    button(page, "Protect").click()
    page.get_by_text(WORDS["table_holds"]).wait_for()
    assert page.locator(".sf-crosstab tbody tr").count() == 3


def test_a_table_is_signed_for(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app/tables?language=de")
    for name, text in (("Veröffentlicht von", "Amt für Statistik"), ("Zweck", "Jahrbuch")):
        page.get_by_label(name, exact=True).fill(text)
    page.wait_for_timeout(900)
    page.reload()
    page.wait_for_function("document.querySelector('[aria-label=Zweck]')?.value === 'Jahrbuch'")
    button(page, "Schützen").click()
    page.get_by_text("Zur Veröffentlichung", exact=True).wait_for()
    house = downloaded(page, GERMAN["download_table_house"], tmp_path / "house.html").read_text(encoding="utf-8")
    outside = downloaded(page, GERMAN["report.title"], tmp_path / "outside.html").read_text(encoding="utf-8")
    assert all(text in report for text in ("Amt für Statistik", "Jahrbuch") for report in (house, outside))
    assert ("Unterschriften" in house, "Unterschriften" in outside) == (True, False)
    assert "source: cells.csv" in house
    annex = downloaded(page, GERMAN["download_annex"], tmp_path / "annex.md").read_text(encoding="utf-8")
    assert annex.startswith("# Anhang zur Datenschutz-Folgenabschätzung") and "Amt für Statistik" in annex


# As a spreadsheet puts it on the clipboard.
PASTED = """area \\ sex\tm\tf\tTotal
Total\t50,5\t54\t104,5
north\t2,5\t24\t26,5
south\t48\t30\t78
"""

TURNOVER = """region,firms,largest,second,turnover
Total,14,90,70,500
a,5,90,4,100
b,4,40,30,200
c,5,70,60,200
"""


def test_a_table_of_sums_with_dominance_and_ranges(base, open_page) -> None:
    page = open_page(f"{base}/app/tables")
    page.get_by_label(WORDS["paste"]).fill(TURNOVER)
    page.get_by_text("region", exact=True).wait_for()
    page.locator("label", has_text=WORDS["value_column"]).filter(has_text="turnover").wait_for()
    add(page, "rule", "dominance")
    for rule in (WORDS["rule.frequency"], "p percent"):
        button(page, f"Remove: {rule}").click()
    page.get_by_label(WORDS["rule.dominance.n"]).fill("1")
    page.get_by_label(WORDS["rule.dominance.k"]).fill("80")
    choose(page, "Method", "ranges")
    button(page, "Protect").click()
    page.get_by_text("2 of 4 cells suppressed: 1 primary, 1 secondary.").wait_for()
    page.get_by_text(WORDS["table_holds"]).wait_for()
    cells = [row.split("\t") for row in page.locator("tbody tr").all_inner_texts()]
    assert [cell[0] for cell in cells] == ["Total", "a", "b", "c"]
    assert cells[0][1] == "500"
    low, high = (float(cells[1][place]) for place in (2, 3))
    assert low <= 100 - 12.5
    assert high >= 100 + 12.5
    assert "dominant" in cells[1][5]


def test_the_attributes_area(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app/attributes")
    button(page, "Anonymize").click()
    page.get_by_text("kAnonymity").wait_for()
    assert "Ada" not in page.get_by_role("status").inner_text()
    preview = page.get_by_role("region", name="Preview")
    preview.get_by_text("→ *****").first.wait_for()
    choose(page, "Operation: pay", "masking")
    page.wait_for_function("document.querySelectorAll('td.changed').length === 12")
    preview.locator("td.changed", has_text="→ *****").nth(7).wait_for()
    page.get_by_text(WORDS["as_json"]).click()
    assert '"anonymisationType": "Masking"' in page.get_by_label("Configuration (JSON)").input_value()
    for wrong in ("[{", "[" * 3000):
        page.get_by_label("Records (JSON)").fill(wrong)
        button(page, "Anonymize").click()
        page.get_by_text(WORDS["not_json"]).wait_for()
        page.reload()
        page.get_by_text(WORDS["as_json"]).click()
    (tmp_path / "people.csv").write_text("town,pay\nUlm,100\nBonn,200\nKiel,300\nJena,400\n")
    send(page, tmp_path / "people.csv")
    page.get_by_label("Operation: town").wait_for()
    preview.get_by_text("Ulm").wait_for()
    preview.get_by_text("→ *****").first.wait_for()


LINKED = {
    "sex.csv": "area,sex,n\nTotal,Total,30\nTotal,f,14\nTotal,m,16\na,Total,12\n"
    "a,f,2\na,m,10\nb,Total,18\nb,f,12\nb,m,6\n",
    "age.csv": "area,age,n\nTotal,Total,30\nTotal,y,13\nTotal,o,17\na,Total,12\n"
    "a,y,5\na,o,7\nb,Total,18\nb,y,8\nb,o,10\n",
}


def test_tables_that_belong_together_are_masked_together_and_after_one_another(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app/tables")
    page.get_by_text("Linked tables").click()
    for name, text in LINKED.items():
        (tmp_path / name).write_text(text)
        page.locator("input[type=file]").nth(1).set_input_files(tmp_path / name)
        page.get_by_text(f"{name}: area, ").wait_for()
    button(page, "Protect").click()
    page.get_by_text(WORDS["table_holds"]).wait_for()
    assert page.locator(".sf-crosstab").count() == 2
    button(page, WORDS["release_keep"]).click()
    page.get_by_text("release-1.zip").wait_for()
    button(page, "Protect").click()
    page.get_by_text(WORDS["table_holds"]).wait_for()
    assert page.get_by_text(WORDS["failed"]).count() == 0


def choose_value(page, name: str) -> None:
    """Choose what is added up in the tables that belong together."""
    page.locator(".q-expansion-item").get_by_label(WORDS["value_column"]).click()
    page.get_by_role("option", name=name, exact=True).click()


def test_rows_are_crossed_into_several_tables(base, open_page, tmp_path) -> None:
    rows = [f"{'abc'[place % 3]},{'mf'[place % 7 % 2]},{'yo'[place % 5 % 2]},{80337 + place}" for place in range(24)]
    (tmp_path / "people.csv").write_text("\n".join(["area,sex,age,zip", *rows]))
    page = open_page(f"{base}/app/tables")
    page.get_by_text("Linked tables").click()
    page.locator("input[type=file]").nth(1).set_input_files(tmp_path / "people.csv")
    page.get_by_text("people.csv: area, sex, age, zip").wait_for()
    page.get_by_label(WORDS["linked_kind"]).click()
    page.get_by_role("option", name=WORDS["linked_rows"]).click()
    page.locator(".sf-entry", has_text="small counts").wait_for()
    choose_value(page, "zip")
    for rule in (WORDS["rule.frequency"], "p percent"):
        page.locator(".sf-entry", has_text=rule).wait_for()
    assert page.get_by_label("column with the number of respondents").count() == 0
    choose_value(page, "count")
    page.locator(".sf-entry", has_text="small counts").wait_for()
    button(page, "Protect").click()
    page.get_by_text(WORDS["table_holds"]).wait_for()
    for name in ("area-sex", "area-age", "sex-age"):
        assert page.get_by_text(name, exact=True).count() == 1
    assert not re.search(r"\d{5}", page.locator("main, .sf-crosstab").first.inner_text())  # zips are not added up


def test_rows_of_the_project_become_a_table(base, open_page) -> None:
    page = open_page(f"{base}/app")
    load_example(page, "patients", "300")
    page.goto(f"{base}/app/tables")
    page.get_by_label(WORDS["crosstab_columns"]).click()
    for name in ("sex", "illness"):
        page.get_by_role("option", name=name, exact=True).click()
    page.keyboard.press("Escape")
    button(page, "Tabulate").click()
    page.wait_for_function("document.querySelector('textarea').value.startsWith('sex,illness,count\\nTotal,Total,300')")
    button(page, "Protect").click()
    page.get_by_text(WORDS["table_holds"]).wait_for()
    assert page.locator(".sf-crosstab tbody tr").count() == 3


def alert(page, text):
    page.get_by_role("alert").filter(has_text=text).first.wait_for()


ROWS = "town;illness\n" + "Köln;Grippe\nFürth;Rötung\nKöln;Rötung\nFürth;Grippe\n" * 3


def renamed(route):
    """What a client sends that does not ask whether a file is of the right kind."""
    route.continue_(post_data=route.request.post_data_buffer.replace(b"rows.csv", b"rows.duckdb"))


def test_a_refused_upload_says_why(base, open_page, folder, most_bytes, tmp_path) -> None:
    (tmp_path / "holiday.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 50)
    files = {"picture.png": 10, "rows.duckdb": 10, "large.csv": most_bytes + 1}
    for name, count in files.items():
        (tmp_path / name).write_bytes(b"x" * count)
    before = sorted(folder.glob("session-*"))
    page = open_page(f"{base}/app")
    for name in ("picture.png", "rows.duckdb"):
        send(page, tmp_path / name)
        alert(page, "Files of this type are not supported. Choose one of: .csv, .tsv")
        assert page.get_by_role("alert").filter(has_text="too large").count() == 0
        page.reload()
    send(page, tmp_path / "large.csv")
    alert(page, WORDS["too_large"])
    page.reload()
    page.route("**/upload/*", renamed)
    (tmp_path / "rows.csv").write_text(ROWS)
    send(page, tmp_path / "rows.csv")
    alert(page, "Files of this type are not supported.")
    assert sorted(folder.glob("session-*")) == before
    page.unroute_all()
    send(page, tmp_path / "holiday.csv")
    failed = page.get_by_role("alert").filter(has_text=WORDS["failed"])
    failed.wait_for()
    assert "PNG" not in failed.inner_text()
    assert list(folder.glob("session-*/holiday.csv")) == []
    step(page, "Columns")
    page.get_by_text(WORDS["no_data"]).wait_for()
    step(page, "Data")
    send(page, tmp_path / "rows.csv")
    page.get_by_text("12 rows, 2 columns").wait_for()


WINDOWS, LATIN, CENTRAL = WORDS["encoding.cp1252"], "Western Europe (Latin-1", WORDS["encoding.cp1250"]


@pytest.mark.parametrize(("encoding", "tried"), [("latin-1", [LATIN]), ("cp1250", [WINDOWS, CENTRAL]), ("utf-16", [])])
def test_a_file_that_is_not_utf_8_can_be_read(base, open_page, tmp_path, encoding, tried) -> None:
    source = tmp_path / "rows.csv"
    text = ROWS.replace("Grippe", "Chuť") if encoding == "cp1250" else ROWS  # a letter that Windows-1252 does not have
    source.write_bytes(text.encode(encoding))
    page = open_page(f"{base}/app")
    send(page, source)
    for before, choice in pairwise(["UTF-8", *tried]):
        page.get_by_text(f"The file is not encoded as {before}. Select its encoding").wait_for()
        choose(page, WORDS["encoding"], choice)
    page.get_by_text("12 rows, 2 columns").wait_for()
    page.get_by_role("cell", name="Köln").first.wait_for()
    assert plan_now(page, tmp_path)["data"]["encoding"] == encoding


def test_a_page_proposes_how_a_file_is_written(base, open_page, tmp_path) -> None:
    """Pages had no name for what `suggest` finds out: a file in Cyrillic letters could be read wrongly alone."""
    rows = "".join(f"{20 + place},{('Київ', 'Москва', 'Одеса')[place % 3]}\n" for place in range(12))
    (tmp_path / "rows.csv").write_bytes(f"Возраст,Город\n{rows}".encode("cp1251"))
    page = open_page(f"{base}/app")
    send(page, tmp_path / "rows.csv")
    page.get_by_text("The encoding is probably Cyrillic (Windows-1251).").wait_for()
    page.get_by_label(WORDS["encoding"]).first.click()
    first = page.get_by_role("option").first
    assert first.inner_text() == "Cyrillic (Windows-1251)"
    first.click()
    page.get_by_role("cell", name="Москва").first.wait_for()


def test_what_there_is_to_know_of_a_file_stands_above_its_rows(base, open_page, tmp_path) -> None:
    book = openpyxl.Workbook()
    for row in (("plz", "age"), *((1067 + place % 4, 20 + place) for place in range(60))):
        book.active.append(row)
    for cell in book.active["A"]:
        cell.number_format = "00000"
    book.create_sheet("others")
    book.save(tmp_path / "rows.xlsx")
    page = open_page(f"{base}/app")
    send(page, tmp_path / "rows.xlsx")
    page.get_by_text("The workbook has 2 sheets").wait_for()
    page.get_by_role("cell", name="01067").first.wait_for()
    book.active["B2"] = "=1+1"
    book.save(tmp_path / "formulas.xlsx")
    send(page, tmp_path / "formulas.xlsx")
    page.get_by_text("have no value yet (B2)").wait_for()


def test_a_file_without_a_header_is_asked_about_and_switched(base, open_page, tmp_path) -> None:
    source = tmp_path / "rows.csv"
    source.write_text("".join(f"{20 + place % 30},{'mf'[place % 2]},{72070 + place % 4}\n" for place in range(60)))
    page = open_page(f"{base}/app")
    send(page, source)
    page.get_by_text(WORDS["header.asked"]).wait_for()
    page.get_by_role("button", name=WORDS["header.data"]).click()
    page.get_by_text("60 rows, 3 columns").wait_for()
    page.get_by_role("columnheader", name="c1").wait_for()
    assert plan_now(page, tmp_path)["data"]["header"] is False
    page = open_page(f"{base}/app")
    named = tmp_path / "named.csv"
    named.write_text("alter,geschlecht,plz\n" + source.read_text())
    send(page, named)
    page.get_by_text("60 rows, 3 columns").wait_for()
    page.get_by_role("switch", name=WORDS["header.data"]).click()
    page.get_by_text("61 rows, 3 columns").wait_for()
    page.get_by_role("switch", name=WORDS["header.data"]).click()
    page.get_by_text("60 rows, 3 columns").wait_for()


def test_a_result_says_that_it_is_of_an_earlier_goal(base, open_page) -> None:
    page = open_page(f"{base}/app")
    load_example(page, "patients", "300")
    anonymize(page)
    assert page.get_by_text(EARLIER).count() == 0
    step(page, "Goal")
    page.get_by_label(WORDS["k-anonymity.k"]).fill("20")
    page.get_by_text("in an equivalence class smaller than 20.").wait_for()
    for name in ("Release", "Result"):
        step(page, name)
        page.get_by_text(EARLIER).wait_for()
    anonymize(page)
    assert page.get_by_text(EARLIER).count() == 0
    step(page, "Release")
    page.get_by_label("Purpose").fill("care")  # who signs for what decides no row
    page.wait_for_timeout(600)
    for name in ("Result", "Release"):
        step(page, name)
        assert page.get_by_text(EARLIER).count() == 0
    assert page.get_by_label("Purpose").input_value() == "care"
    step(page, "Columns")
    for hierarchy in ("female;x;*\nmale;x;*", "female;y;*\nmale;y;*"):  # the second one changes the file alone
        column(page, "sex")
        button(page, WORDS["edit_table"]).click()
        page.get_by_role("dialog").get_by_role("textbox").fill(hierarchy)
        button(page, WORDS["use"]).click()
        page.get_by_role("dialog").wait_for(state="hidden")
        step(page, "Result")
        page.get_by_text(EARLIER).wait_for()
        if "x" in hierarchy:
            anonymize(page)
            assert page.get_by_text(EARLIER).count() == 0
            step(page, "Columns")


def test_names_and_figures_are_german_on_german_pages(base, open_page) -> None:
    page = open_page(f"{base}/app", locale="de-DE")
    button(page, "patients").click()
    page.get_by_text("300 Zeilen,").wait_for()
    assert page.evaluate("document.documentElement.lang") == "de"
    uploads = page.locator("input[type=file]").evaluate_all("all => all.map((one) => one.ariaLabel)")
    assert uploads[0] == GERMAN["drop"]
    assert all(re.search("öffnen|auswählen", name) for name in uploads)
    step(page, "Spalten")
    page.get_by_role("button", name=re.compile("Erweitern")).first.wait_for()
    assert page.get_by_role("button", name=re.compile("Expand|Collapse")).count() == 0
    step(page, "Ziel")
    page.get_by_text(re.compile(r"300 von 300 Zeilen \(100 %\)")).wait_for()
    assert not re.search(r"\d%", page.locator("body").inner_text())
    step(page, "Ergebnis")
    button(page, "Anonymisieren").click()
    page.get_by_text("Alle Garantien sind in der geschriebenen Datei erfüllt").wait_for()
    step(page, "Veröffentlichung")
    page.locator("pre", has_text="language: de").wait_for()  # who reads German signs a German report
    page = open_page(f"{base}/app/tables", locale="de-DE")
    button(page, "Schützen").click()
    page.get_by_text(GERMAN["cells_list"]).click()
    page.get_by_text("primär", exact=True).first.wait_for()
    page.get_by_text("sekundär", exact=True).first.wait_for()
    send(page, __file__)
    alert(page, "Dateien dieses Typs werden nicht unterstützt.")
    button(page, "Schließen").wait_for()
    assert page.get_by_text(re.compile("^(primary|secondary)$")).count() == 0
    english = open_page(f"{base}/app")
    assert english.evaluate("document.documentElement.lang") == "en-US"


SECRET = "Zaphod-7c1f"


def test_the_log_holds_no_address_and_no_text_of_an_error(base, open_page, folder, log_file) -> None:
    """Whatever a visitor sends or runs into: the log tells kinds and places, the visitor that it did not work."""
    page = open_page(f"{base}/app/{SECRET}?name={SECRET}")
    assert page.get_by_text(WORDS["refusal.404"]).count()
    before = {*folder.glob("session-*")}
    page.goto(f"{base}/app?name={SECRET}")
    told = {"level": "error", "message": SECRET}
    page.evaluate("told => window.socket.emit('log', {...told, client_id: window.clientId})", told)
    page.evaluate(f"() => {{ new WebSocket('ws' + location.origin.slice(4) + '/{SECRET}?name={SECRET}'); }}")
    page.evaluate(f"() => window.socket.emit('event', {{client_id: '{SECRET}'}}, '{SECRET}')")
    load_example(page, "eight-rows", "8")
    step(page, "Columns")
    button(page, WORDS["edit_table"]).click()
    [own] = {*folder.glob("session-*")} - before
    shutil.rmtree(own)  # what nobody foresees
    button(page, WORDS["use"]).click()
    page.get_by_role("alert").filter(has_text="Internal error").wait_for()
    until(lambda: '"error": "FileNotFoundError"' in log_file.read_text(encoding="utf-8"))
    lines = log_file.read_text(encoding="utf-8")
    assert '"route"' in lines
    for hidden in (SECRET, "session-", "WebSocket", "socket.io", "Traceback", "client_id", "connection open"):
        assert hidden not in lines


NAMED = """() => { const e = document.activeElement;
  return [e.ariaLabel, e.innerText, e.labels?.[0]?.innerText].filter(Boolean).join('|') }"""


def tab_to(page, name):
    """Press Tab until something is reached that is called so."""
    for _ in range(200):
        page.keyboard.press("Tab")
        if any(part.strip().startswith(name) for part in page.evaluate(NAMED).split("|")):
            return
    raise AssertionError(f"{name} is not reached by the keyboard")


def at_head(page, name):
    """Wait until the head of a step has the focus, so that a screen reader says where one is."""
    page.wait_for_function(
        "name => document.activeElement.matches('h2') && document.activeElement.innerText === name", arg=name
    )


def pressed(page, name):
    tab_to(page, name)
    page.keyboard.press("Enter")


def test_the_whole_job_is_done_by_keyboard_alone_at_the_width_of_a_phone(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app", width=390)
    button(page, "eight-rows").wait_for()
    pressed(page, "eight-rows")
    page.get_by_text("8 rows,").wait_for()
    at_head(page, "Data")
    pressed(page, "Next")
    at_head(page, "Columns")
    page.locator(".sf-columns").wait_for()
    tab_to(page, "role: sex")
    page.keyboard.press("s")  # the next role that begins so
    page.locator("tr[data-column=sex][data-role=sensitive]").wait_for()
    pressed(page, "zip")
    page.locator(".sf-panel h3", has_text="zip").wait_for()
    button(page, "Next").focus()  # back at the top, as Ctrl+Home and Tab do
    page.keyboard.press("Enter")
    page.get_by_text("can be run").wait_for()
    at_head(page, "Goal")
    tab_to(page, WORDS["k-anonymity.k"])
    page.keyboard.press("Control+a")
    page.keyboard.type("3")
    page.get_by_text("in an equivalence class smaller than 3.").wait_for()
    button(page, "Next").focus()
    page.keyboard.press("Enter")
    at_head(page, "Result")
    pressed(page, "Anonymize")
    page.get_by_text(WORDS["report.holds"]).wait_for()
    at_head(page, "Result")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 391
    assert page.get_by_role("tab").first.bounding_box()["y"] < 1.5 * 844  # within a screen and a half of a phone
    told = page.locator("details.verdict.not")
    assert not told.locator("li").first.is_visible()
    pressed(page, told.locator("summary").inner_text())
    told.locator("li").first.wait_for()
    tab_to(page, "Columns")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_text(WORDS["risk.attackers"]).wait_for()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 391
    button(page, "Next").focus()
    page.keyboard.press("Enter")
    page.get_by_text("For publication", exact=True).wait_for()
    at_head(page, "Release")
    tab_to(page, "Data")
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    assert waiting.value.path().read_text(encoding="utf-8").count("\n") == 9
    seen = "e.checkVisibility({visibilityProperty: true})"
    name = "e.innerText || e.getAttribute('aria-label') || (e.labels && e.labels.length) || e.title"
    fields = "[...document.querySelectorAll('input,textarea,select,button')]"
    assert page.evaluate(f"{fields}.filter(e => {seen} && !({name})).length") == 0
    page.go_back()
    page.locator(".sf-step[aria-current=step]", has_text="Result").wait_for(state="attached")
    at_head(page, "Result")


def test_a_report_from_disk_shows_everything_with_the_network_off(open_page, tmp_path) -> None:
    source = tmp_path / "patients.csv"
    patients().write(source)
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(patients().plan("patients.csv", 5)))
    assert run(["anonymize", str(tmp_path / "plan.yaml"), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    for name in ("report.html", "report-external.html"):
        page = open_page(Path(tmp_path / "out" / name).as_uri(), offline=True, java_script_enabled=False)
        page.get_by_text(WORDS["report.holds"]).wait_for()
        assert page.locator("svg rect").count() > 0 or "external" in name
    dark = open_page((tmp_path / "out" / "report.html").as_uri(), width=390, color_scheme="dark", offline=True)
    assert dark.evaluate("document.scrollingElement.scrollWidth") <= 391
    assert dark.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"
