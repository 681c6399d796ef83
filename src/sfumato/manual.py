"""The documentation that comes with the package: its pages by name, wherever the package lies."""

from pathlib import Path

# Inside the package where it is installed, beside the source where it is developed.
PLACES = (Path(__file__).parent / "docs", Path(__file__).parents[2] / "docs")


def pages() -> dict[str, Path]:
    """The pages by their names, as `methods`; none where they were left out of an installation."""
    folder = next((place for place in PLACES if place.is_dir()), None)
    return {path.stem: path for path in sorted(folder.glob("*.md"))} if folder else {}


def title(path: Path) -> str:
    """What a page is called."""
    with path.open(encoding="utf-8") as lines:
        return lines.readline().lstrip("# ").strip() or path.stem
