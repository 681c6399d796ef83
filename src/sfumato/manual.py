"""Locate the documentation that comes with the package: its pages by name."""

from pathlib import Path

# What a newcomer reads first.
FIRST = ("index", "tutorials", "how-to")
# Inside the package where it is installed, beside the source where it is developed.
PLACES = (Path(__file__).parent, Path(__file__).parents[2])
# What only the site needs.
_OF_THE_SITE = "assets"


def pages() -> dict[str, Path]:
    """The pages by their names, as `methods` or `methods/mondrian`; none where an installation left them out."""
    folder = _folder("docs")
    if folder is None:
        return {}
    paths = {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.md")}
    return {name: paths[name] for name in sorted(paths, key=_place)}


def companions() -> dict[str, Path]:
    """What pages show or lead to besides pages, by its place: pictures, schemas, and the notebooks."""
    docs, notebooks = _folder("docs"), _folder("examples")
    found = {} if docs is None else {path.relative_to(docs).as_posix(): path for path in docs.rglob("*.*")}
    shown = {name: path for name, path in found.items() if not name.startswith(_OF_THE_SITE) and path.suffix != ".md"}
    scripts = () if notebooks is None else sorted(notebooks.glob("*.py"))
    return shown | {f"examples/{path.name}": path for path in scripts}


def _folder(name: str) -> Path | None:
    return next((place / name for place in PLACES if (place / name).is_dir()), None)


def _place(name: str) -> tuple[int, bool, str]:
    """Where a page stands among the others: what is read first, then single pages, then those of folders."""
    group = name.partition("/")[0]
    return (FIRST.index(group) if group in FIRST else len(FIRST), "/" in name, name)


def title(path: Path) -> str:
    """What a page is called."""
    with path.open(encoding="utf-8") as lines:
        return title_of(lines.readline()) or path.stem


def title_of(text: str) -> str:
    """What the text of a page is called: its first line."""
    return text.partition("\n")[0].lstrip("# ").strip()
