"""All pages of the documentation: the written ones with their tables, and the generated ones."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from sfumato.bundled_docs import pages, title, title_of
from sfumato.dataclass import dataclass
from sfumato.docs_reference import command_line, plan_keys, python_names, rest
from sfumato.localization.messages import words_in
from sfumato.report.html_page import all_entries

# Public names by their folder or module; the first match applies.
GROUPS = {
    "errors": "Errors",
    "hierarchies": "Hierarchies",
    "microdata.models": "Privacy models",
    "microdata.plan.methods": "Methods",
    "microdata.plan": "Plans",
    "microdata.data_plan": "Plans",
    "microdata.column_transforms": "Transformations of columns",
    "tables.plan": "Plans",
    "schema": "Plans",
    "pipelines": "Functions and their results",
    "": "Functions and their results",
}
_ABOUT = (
    "Publish data about people without betraying anyone: microdata, tables, attributes; verified on what was written."
)


# The pages that are made from the code, with their titles.
MADE = {
    "glossary": "Glossary",
    "reference/plan": "The plan of a release",
    "reference/table-plan": "The plan of a table",
    "reference/command-line": "The command line",
    "reference/python": "Python",
    "reference/rest": "REST",
}


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of generated pages, each loaded when its page is requested.

    Attributes:
        package: The public package.
        commands: The group of all commands.
        document: The OpenAPI document of the REST service.
    """

    package: Callable[[], ModuleType]
    commands: Callable[[], Any]
    document: Callable[[], Mapping[str, Any]]


def titles() -> dict[str, str]:
    """Return all pages by name, with their titles."""
    return {name: title(path) for name, path in pages().items()} | MADE


def written(name: str) -> str:
    """Return a written page, with its tables of keys filled in."""
    return plan_keys.fill(pages()[name].read_text(encoding="utf-8"))


def text_of(name: str, sources: Sources) -> str:
    """Return the text of a page, written or generated."""
    match name:
        case "glossary":
            return glossary()
        case "reference/plan":
            return plan_keys.plan_page()
        case "reference/table-plan":
            return plan_keys.table_plan_page()
        case "reference/command-line":
            return command_line.page(sources.commands())
        case "reference/python":
            return python_names.page(sources.package(), groups(sources.package()))
        case "reference/rest":
            return rest.page(sources.document())
        case _:
            return written(name)


def groups(package: ModuleType) -> dict[str, tuple[str, ...]]:
    """Return the public names of the package, by purpose."""
    by_group: dict[str, list[str]] = {group: [] for group in dict.fromkeys(reversed(GROUPS.values()))}
    for name in package.__all__:
        if not name.startswith("__"):
            by_group[_group(getattr(package, name))].append(name)
    return {group: tuple(sorted(names, key=str.lower)) for group, names in by_group.items()}


def _group(thing: Any) -> str:
    home = str(getattr(thing, "__module__", "")).removeprefix("sfumato.")
    return next(group for start, group in GROUPS.items() if home.startswith(start))


def glossary() -> str:
    """Return the terms of the field, as explained on pages and in reports."""
    entries = sorted(all_entries(words_in()))
    return "\n\n".join(["# Glossary", *(f"**{word}**: {says}" for word, says in entries)])


def overview(shelf: Mapping[str, str], suffix: str = ".md") -> str:
    """Return the list of pages for programs (llms.txt): each page with its title and first sentence."""
    lines = [f"- [{title_of(text)}]({name}{suffix}){_first_sentence(text)}" for name, text in shelf.items()]
    return "\n".join(["# Sfumato", "", f"> {_ABOUT}", "", "## Pages", "", *lines, ""])


def _first_sentence(text: str) -> str:
    """Return the first sentence of a page, to follow its name; empty if the page begins with a table."""
    paragraphs = (part for part in text.split("\n\n")[1:] if part[:1] not in ("#", "|", "`", "!", "<", ">"))
    sentence = next(paragraphs, "").replace("\n", " ").partition(". ")[0].rstrip(".:")
    return f": {sentence}." if sentence else ""
