"""Locate the documentation that comes with the package: its pages by name."""

from pathlib import Path

# Pages for newcomers, first in the list.
FIRST = ("index", "tutorials", "how-to")
# Inside an installed package, next to the source in development.
PLACES = (Path(__file__).parent, Path(__file__).parents[2])
# Files needed only for the website.
_OF_THE_SITE = "assets"


def pages() -> dict[str, Path]:
    """Return the pages by name, such as `methods` or `methods/mondrian`; empty if the installation lacks them."""
    folder = _folder("docs")
    if folder is None:
        return {}
    paths = {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.md")}
    return {name: paths[name] for name in sorted(paths, key=_place)}


def companions() -> dict[str, Path]:
    """Return the other files of the documentation, by path: pictures, schemas, and notebooks."""
    docs, notebooks = _folder("docs"), _folder("examples")
    found = {} if docs is None else {path.relative_to(docs).as_posix(): path for path in docs.rglob("*.*")}
    shown = {name: path for name, path in found.items() if not name.startswith(_OF_THE_SITE) and path.suffix != ".md"}
    scripts = () if notebooks is None else sorted(notebooks.glob("*.py"))
    return shown | {f"examples/{path.name}": path for path in scripts}


def _folder(name: str) -> Path | None:
    return next((place / name for place in PLACES if (place / name).is_dir()), None)


def _place(name: str) -> tuple[int, bool, str]:
    """Return the sort key of a page: introductions first, then single pages, then those of folders."""
    group = name.partition("/")[0]
    return (FIRST.index(group) if group in FIRST else len(FIRST), "/" in name, name)


def title(path: Path) -> str:
    """Return the title of a page."""
    with path.open(encoding="utf-8") as lines:
        return title_of(lines.readline()) or path.stem


def title_of(text: str) -> str:
    """Return the title in the text of a page: its first line."""
    return text.partition("\n")[0].lstrip("# ").strip()
