"""How the tests walk through the pages: by what a person sees, waiting for what each click does."""

import re
import time

import yaml
from playwright.sync_api import TimeoutError

from sfumato.localization.messages import words_in

# What pages say, by the keys of their texts.
WORDS, GERMAN = words_in("en"), words_in("de")


def until(holds, seconds=60):
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def load_example(page, name="patients", rows="300"):
    button(page, name).click()
    page.get_by_text(f"{rows} rows,").wait_for()


def send(page, path, place=0):
    """Upload a file; the last place is that of a project or a plan, which comes after the data."""
    if place == -1:
        page.locator(".sf-halves input[type=file]").last.wait_for(state="attached")
    page.locator("input[type=file]").nth(place).set_input_files(path)


def step(page, name):
    """Enter a step; on a phone the steps are behind a button."""
    if page.viewport_size["width"] < 900:
        page.locator(".sf-topbar button").click()
    page.locator(".sf-step", has_text=name).click()
    page.locator(".sf-step[aria-current=step]", has_text=name).wait_for(state="attached")


def view(page, name):
    """Look at one of the views of a result."""
    page.get_by_role("tab", name=name, exact=True).click()
    page.get_by_role("tab", name=name, exact=True, selected=True).wait_for()


def column(page, name):
    """Open the panel of a column."""
    page.locator(".sf-columns .open", has_text=re.compile(f"^{name}$")).click()
    page.locator(".sf-panel h3", has_text=re.compile(f"^{name}$")).wait_for()


def give_role(page, name, role, label="role"):
    """Another role for a column; the row offers roles to who comes near."""
    select = page.get_by_label(f"{label}: {name}", exact=True)
    select.focus()
    select.select_option(role)
    page.locator(f"tr[data-column={name}][data-role={role}]").wait_for()


def choose(page, label, option):
    """Choose from a list; one that closed because its place was drawn anew is opened again."""
    wanted = page.get_by_role("option", name=re.compile(rf"^{re.escape(option)}(?!\w)"))
    for _ in range(20):
        page.get_by_label(label).first.click()
        try:
            wanted.click(timeout=8000)
            break
        except TimeoutError:
            continue
    page.get_by_role("option").first.wait_for(state="hidden")


def k_field(page):
    return page.get_by_label(WORDS["k-anonymity.k"]).first


def ask_for(page, k):
    """Another k, until the page has judged it."""
    step(page, "Goal")
    k_field(page).fill(str(k))
    page.get_by_text(f"in an equivalence class smaller than {k}.").wait_for()


def anonymize(page):
    """Run the plan; the next number is waited for."""
    step(page, "Result")
    earlier = page.get_by_text(re.compile(r"^Run \d+$"))
    number = int(earlier.inner_text().split()[1]) if earlier.count() else 0
    page.get_by_role("button", name=re.compile("^Anonymize( again)?$")).click()
    page.get_by_text(f"Run {number + 1}", exact=True).wait_for()
    page.get_by_text(WORDS["report.holds"]).wait_for()


def downloaded(page, name, target):
    with page.expect_download() as waiting:
        button(page, name).click()
    waiting.value.save_as(target)
    return target


def plan_of(page, folder):
    """The plan that made the result at hand."""
    step(page, "Release")
    return yaml.safe_load(downloaded(page, "Plan", folder / "plan.yaml").read_text(encoding="utf-8"))


def plan_now(page, folder):
    """The plan that stands, as it is saved with the project."""
    import json
    import zipfile

    step(page, "Data")
    with zipfile.ZipFile(downloaded(page, "Save project", folder / "project.zip")) as archive:
        return json.loads(archive.read("project.json"))["plan"]


def answer_late(page, seconds):
    """From now on, what the server says reaches the page so much later, as over a slow line."""
    page.evaluate(
        """(late) => {
          const socket = window.socket.io.engine.transport.ws, heard = socket.onmessage;
          socket.onmessage = (event) => setTimeout(() => heard.call(socket, event), late);
        }""",
        1000 * seconds,
    )
