"""Map privacy models and utility measures of ARX projects to those of Sfumato."""

import re
from collections.abc import Callable, Mapping
from typing import Any

NUMBER = r"([0-9.]+(?:E-?[0-9]+)?)"
OF = r" for attribute '(?P<column>.*)'"
Model = dict[str, Any]


def _plain(name: str, key: str, whole: bool = False, **more: Any) -> Callable[[re.Match[str]], Model]:
    """Return a function that makes a model with one number."""
    return lambda match: {"model": name, key: int(float(match[1])) if whole else float(match[1]), **more}


def _recursive(match: re.Match[str]) -> Model:
    return {"model": "l-diversity", "l": int(float(match[2])), "variant": "recursive", "c": float(match[1])}


# Patterns of ARX texts and the corresponding models; a column is added if the text has one.
MODELS: dict[str, Callable[[re.Match[str]], Model]] = {
    rf"\(?{NUMBER}\)?-anonymity": _plain("k-anonymity", "k", whole=True),
    rf"distinct-{NUMBER}-diversity{OF}": _plain("l-diversity", "l", whole=True, variant="distinct"),
    rf"(?:shannon-)?entropy-{NUMBER}-diversity{OF}": _plain("l-diversity", "l", variant="entropy"),
    rf"recursive-\({NUMBER},\s*{NUMBER}\)-diversity{OF}": _recursive,
    rf"{NUMBER}-closeness with equal (?:ground-)?distance{OF}": _plain("t-closeness", "t", distance="equal"),
    rf"{NUMBER}-closeness with ordered (?:ground-)?distance{OF}": _plain("t-closeness", "t", distance="ordered"),
    rf"{NUMBER}-closeness with hierarchical (?:ground-)?distance{OF}": _plain(
        "t-closeness", "t", distance="hierarchical"
    ),
    rf"{NUMBER}-disclosure privacy{OF}": _plain("delta-disclosure", "delta"),
    rf"basic-{NUMBER}-likeness{OF}": _plain("beta-likeness", "beta", variant="basic"),
    rf"enhanced-{NUMBER}-likeness{OF}": _plain("beta-likeness", "beta", variant="enhanced"),
    rf"\(<\s*{NUMBER}\)?-sample-uniques.*": _plain("sample-uniqueness", "threshold"),
    rf"\(<\s*{NUMBER}\)?-(?:avg|average)-reidentification-risk.*": _plain("average-risk", "threshold"),
}
# Words in names of utility measures and the corresponding losses; the first match is used.
LOSSES = {
    "non-uniform entropy": "non-uniform-entropy",
    "discernib": "discernibility",
    "discernab": "discernibility",
    "precision": "precision",
    "height": "height",
    "average equivalence class": "average-class-size",
    "aecs": "average-class-size",
    "loss": "loss-metric",
}
AGGREGATES = {"geometric": "geometric", "arithmetic": "mean", "mean": "mean", "sum": "sum"}


def model_of(text: str, hierarchies: Mapping[str, str]) -> Model | None:
    """Return the model for a text of ARX, or None if Sfumato has none.

    Args:
        hierarchies: Hierarchy files by column; some distances are measured along one.

    >>> model_of("distinct-3-diversity for attribute 'illness'", {})
    {'model': 'l-diversity', 'l': 3, 'variant': 'distinct', 'column': 'illness'}
    """
    for pattern, make in MODELS.items():
        found = re.fullmatch(pattern, text, re.IGNORECASE)
        if found:
            column = found.groupdict().get("column")
            model = make(found) | ({"column": column} if column is not None else {})
            return _with_hierarchy(model, hierarchies)
    return None


def _with_hierarchy(model: Model, hierarchies: Mapping[str, str]) -> Model | None:
    if model.get("distance") != "hierarchical":
        return model
    path = hierarchies.get(model["column"])
    return None if path is None else model | {"hierarchy": {"type": "file", "path": path}}


def losses_of(metric: str) -> tuple[str | None, str | None]:
    """Return the loss and the aggregate for a utility measure of ARX.

    >>> losses_of("Loss (Geometric Mean)")
    ('loss-metric', 'geometric')
    """
    name = metric.casefold()
    loss = next((loss for word, loss in LOSSES.items() if word in name), None)
    aggregate = next((one for word, one in AGGREGATES.items() if word in name), None)
    return loss, aggregate if loss in ("loss-metric", "precision", "non-uniform-entropy") else None
