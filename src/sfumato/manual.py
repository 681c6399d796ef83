"""The documentation that comes with the package: its pages by name, wherever the package lies."""

from pathlib import Path

# Inside the package where it is installed, beside the source where it is developed.
PLACES = (Path(__file__).parent / "docs", Path(__file__).parents[2] / "docs")


def pages() -> dict[str, Path]:
    """The pages by their names, as `methods` or `methods/mondrian`; none where an installation left them out."""
    folder = next((place for place in PLACES if place.is_dir()), None)
    if folder is None:
        return {}
    paths = sorted(folder.rglob("*.md"), key=lambda path: (path.parent != folder, path.with_suffix("").as_posix()))
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in paths}


def title(path: Path) -> str:
    """What a page is called."""
    with path.open(encoding="utf-8") as lines:
        return title_of(lines.readline()) or path.stem


def title_of(text: str) -> str:
    """What the text of a page is called: its first line."""
    return text.partition("\n")[0].lstrip("# ").strip()
