"""MkDocs hooks that add generated content: pages, tables of keys, llms.txt."""

from typing import Any

from mkdocs.structure.files import File, Files

from sfumato.cli.documents import page_text
from sfumato.docs_reference.pages import MADE, overview, titles
from sfumato.docs_reference.plan_keys import fill
from sfumato.microdata.models.registry import SHAPES
from sfumato.microdata.plan.methods import METHOD


def on_config(config: Any) -> Any:
    """Add a page for each model and method, and at the end those that the navigation does not name."""
    for section in (part for entry in config["nav"] for part in entry.get("Microdata", ())):
        for title, kind, names in (("Models", "models", SHAPES), ("Methods", "methods", METHOD.variants)):
            section.get(title, []).extend(f"{kind}/{name}.md" for name in names)
    named = repr(config["nav"])
    others = [f"{name}.md" for name in titles() if f"{name}.md'" not in named]
    config["nav"] = [*config["nav"], *([{"More": others}] if others else [])]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are generated from the code, and the list of all pages for language models."""
    for name in MADE:
        files.append(File.generated(config, f"{name}.md", content=page_text(name)))
    listing = overview({name: page_text(name) for name in titles()}, ".html")
    files.append(File.generated(config, "llms.txt", content=listing))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in the tables of keys that the markers of a page request."""
    return fill(markdown)
