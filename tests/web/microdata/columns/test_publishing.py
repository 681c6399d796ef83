"""What columns without a ladder are published as, and what a missing cell costs: fields for all that a plan may say."""

from walking import button, choose, column, give_role, plan_now, send, step

ROWS = "person;zip;pay;region;smoker\n" + "".join(
    f"{n // 2};{10000 + n % 4};{1000 + 37 * n};{'ns'[n % 2]};{'yes' if n % 3 else 'no'}\n" for n in range(40)
)


def publish(page, name, how):
    column(page, name)
    choose(page, "transform", how)


def test_every_way_to_publish_a_column_has_fields(base, open_page, tmp_path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")
    page = open_page(f"{base}/app", width=1600)
    send(page, tmp_path / "rows.csv")
    page.get_by_text("40 rows,").wait_for()
    step(page, "Columns")
    for name, role in (("person", "person"), ("zip", "quasi-identifier"), ("region", "quasi-identifier")):
        give_role(page, name, role)
    for name in ("pay", "smoker"):
        give_role(page, name, "insensitive")
    publish(page, "person", "random key")
    publish(page, "pay", "coded or rounded")
    page.locator(".sf-panel").get_by_text("It is published as chosen below.").wait_for()
    assert page.get_by_text("It is published unchanged").count() == 0
    page.get_by_label("rounded to a multiple of").fill("500")
    publish(page, "smoker", "PRAM")
    page.get_by_label("minimum probability of retaining a value").fill("0.8")
    page.get_by_label("expected counts preserved within (strata)").click()
    page.get_by_role("option", name="region", exact=True).click()
    page.keyboard.press("Escape")
    page.locator("tr[data-column=smoker]", has_text="PRAM").wait_for()
    columns = plan_now(page, tmp_path)["columns"]
    assert columns["person"]["publish"] == "key"
    assert columns["pay"]["publish"] == {"top": {"share": 0.99}, "round": 500}
    assert columns["smoker"]["publish"] == {"pram": {"retention": 0.8, "strata": ["region"]}}
    step(page, "Columns")
    publish(page, "pay", "microaggregated")
    page.get_by_label("minimum group size in rows").fill("1")
    page.get_by_text("must be at least 2").wait_for()
    give_role(page, "person", "identifier")
    step(page, "Goal")
    choose(page, "Method", "local suppression")
    page.get_by_label("zip", exact=True).fill("4")
    page.get_by_label("region: never suppress").click()
    page.get_by_label("region", exact=True).and_(page.locator("[disabled]")).wait_for()
    plan = plan_now(page, tmp_path)
    assert plan["columns"]["zip"]["importance"] == 4 and plan["columns"]["region"]["importance"] == "never"
    assert button(page, "Save project").is_visible()
