"""MkDocs hooks that add generated content: pages, tables of keys, llms.txt."""

from typing import Any

from mkdocs.structure.files import File, Files

from sfumato.cli.documents import page_text
from sfumato.docs_reference.pages import MADE, overview, titles
from sfumato.docs_reference.plan_keys import fill


def on_config(config: Any) -> Any:
    """Add pages that the navigation does not name at its end, so that every page can be found."""
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
