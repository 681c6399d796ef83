"""Answers to analysts' questions from raw and from released rows, and whether they agree.

A question: kind (ols, logit, poisson, table); formula (`a ~ b + C(c)` or `mean of a == "x" by b, cut(c, [0, 10, 20])`);
where needed weights, offset, within (fixed effects), groups (clusters), filter, numeric, derive; of models key_terms.
"""

import ast
import json
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import statsmodels.api as sm
from formulaic import model_matrix

from bench.published_labels import NUMBER, Categories, ImpossibleError, number, spelled

LEVEL = re.compile(r"(.*)\[T\.(.*)\]")
GROUP, SURE = 30, 1.96
Answer = tuple[str, list[str]]


class Files:
    """The raw and the released rows of one file, columns read as numbers, categories or indicators."""

    def __init__(self, raw: pd.DataFrame, released: pd.DataFrame, question: Mapping[str, Any]) -> None:
        self.same = raw is released
        self.question = question
        self.raw = derived(raw, question)
        self.released = self.raw if self.same else derived(released, question)
        self._categories: dict[str, Categories] = {}

    @cached_property
    def _released_names(self) -> dict[str, str]:
        return {re.sub(r"\s+", " ", name).strip().casefold(): name for name in self.released.columns}

    def released_column(self, name: str) -> pd.Series:
        """A released column, by a name whose case and spaces may differ."""
        found = self._released_names.get(re.sub(r"\s+", " ", name).strip().casefold())
        if found is None:
            raise ImpossibleError(f"{name} is absent")
        return self.released[found]

    def is_numeric(self, name: str) -> bool:
        """Whether all raw values are numbers, or the question says that they are to be read so."""
        plain = all(re.fullmatch(NUMBER, cell, re.I) for cell in self.raw[name].dropna().unique())
        return name in (self.question.get("numeric") or ()) or plain

    def numbers(self, name: str) -> pd.Series:
        """A released column as numbers."""
        cells = self.released_column(name)
        found = cells.map({cell: number(cell) for cell in cells.dropna().unique()}).astype(float)
        forced = name in (self.question.get("numeric") or ())
        if not found.notna().any() or (not forced and found.notna().sum() < 0.5 * cells.notna().sum()):
            raise ImpossibleError(f"{name} has no numbers")
        return found

    def categories(self, name: str) -> Categories:
        """A released column as categories of the raw one."""
        if name not in self._categories:
            self._categories[name] = Categories(self.raw[name], self.released_column(name))
        return self._categories[name]

    def indicator(self, name: str, values: Iterable[Any]) -> pd.Series:
        """1 where a label stands for these values only, 0 where for none of them, else missing."""
        found = self.categories(name)
        wanted = {found.known.get(text.casefold(), text) for value in values if (text := spelled(value))}
        means = {
            label: np.nan if not members else 1.0 if members <= wanted else np.nan if members & wanted else 0.0
            for label, members in found.members.items()
        }
        return self.released_column(name).map(means).astype(float)

    def merged(self, names: Iterable[str]) -> "Files":
        """The raw rows with categories merged as in the released ones."""
        columns = {name: self.raw[name].map(self.categories(name).of).astype(object) for name in names}
        frame = self.raw.assign(**columns)
        return Files(frame, frame, {**self.question, "derive": None})


def derived(frame: pd.DataFrame, question: Mapping[str, Any]) -> pd.DataFrame:
    """The rows with the columns that a question derives: the year of a text, or what a pattern finds in it."""
    for new, how in (question.get("derive") or {}).items():
        if how["col"] in frame:
            pattern = r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)" if how["how"] == "year" else how["regex"]
            cells = frame[how["col"]]
            found = {cell: parts for cell in cells.dropna().unique() if (parts := re.findall(pattern, cell))}
            if how["how"] == "year":
                texts = {cell: spelled(np.mean([*map(float, years)])) for cell, years in found.items()}
            else:
                texts = {cell: parts[0] for cell, parts in found.items()}
            frame = frame.assign(**{new: cells.map(texts).astype(object)})
    return frame


class Design(ast.NodeTransformer):
    """Rewrites expressions of a question so that they name columns of a frame, which it fills."""

    def __init__(self, files: Files) -> None:
        self.files, self.frame = files, pd.DataFrame(index=files.released.index)
        self.names: dict[tuple[str, ...], str] = {}
        self.factors: dict[str, str] = {}  # columns read as categories
        self.references: dict[str, str] = {}  # the reference category that a formula names

    def read(self, expression: str) -> str:
        """An expression in names of the frame."""
        return ast.unparse(self.visit(ast.parse(expression.strip(), mode="eval")))

    def column(self, node: ast.AST) -> str | None:
        """The column that an expression names."""
        quoted = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Q"
        name = node.args[0].value if quoted else node.id if isinstance(node, ast.Name) else None
        return name if quoted or name in self.files.raw else None

    def _named(self, kind: str, column: str, values: tuple[str, ...] = ()) -> ast.Name:
        key = (kind, column, *values)
        if key not in self.names:
            self.names[key] = name = f"v{len(self.names)}_"
            if column not in self.files.raw:
                raise ImpossibleError(f"{column} is absent")
            if kind == "category":
                self.factors[name] = column
                self.frame[name] = self.files.categories(column).rows
            else:
                numbers = self.files.indicator(column, values) if values else self.files.numbers(column)
                self.frame[name] = numbers
        return ast.Name(self.names[key], ast.Load())

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`column == value` is an indicator."""
        column, value = self.column(node.left), node.comparators[0]
        if column is None or not isinstance(node.ops[0], ast.Eq) or not isinstance(value, ast.Constant):
            return self.generic_visit(node)
        return self._named("indicator", column, (str(value.value),))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`C(column)` is a category, with or without a reference; `Q("column")` is a column."""
        if self.column(node) is not None:
            return self.visit_Name(node)
        if not (isinstance(node.func, ast.Name) and node.func.id == "C"):
            return self.generic_visit(node)
        column = self.column(node.args[0])
        treatments = [argument for argument in node.args[1:] if isinstance(argument, ast.Call)]
        for value in (constant for call in treatments for constant in (*call.args, *(k.value for k in call.keywords))):
            self.references[column] = spelled(value.value)
        return self._named("category", column)

    def visit_Name(self, node: Any) -> ast.AST:
        """A column is a number where its raw values are."""
        column = self.column(node)
        if column is None:
            return node
        return self._named("number" if self.files.is_numeric(column) else "category", column)

    def kept(self) -> pd.DataFrame:
        """The complete rows that the filter lets pass."""
        keep = self.frame.replace([np.inf, -np.inf], np.nan).notna().all(axis=1)
        for rule in self.files.question.get("filter") or ():
            if "in" in rule:
                keep &= self.files.indicator(rule["col"], rule["in"]) == 1
            else:
                keep &= self.files.numbers(rule["col"]).between(rule.get("min", -np.inf), rule.get("max", np.inf))
        return self.frame[keep].copy()

    def term(self, text: str) -> tuple[str, str | None]:
        """A term of a model in names of the frame, and its level."""
        found = LEVEL.fullmatch(text)
        if found is None:
            return self.read(text), None
        name = self.read(found[1])
        return name, self.files.categories(self.factors[name]).known.get(found[2].casefold(), found[2])


class Fit(NamedTuple):
    """Estimates and standard errors of terms; reference categories by column."""

    terms: dict[str, tuple[float, float]]
    references: dict[str, str]
    design: Design


def fit(files: Files, references: Mapping[str, str] | None = None) -> Fit:
    """The model of a question on the released rows, relative to the reference categories of the raw ones."""
    question, design = files.question, Design(files)
    outcome, predictors = map(design.read, question["formula"].split("~"))
    offset = design.read(question["offset"]) if question.get("offset") else None
    _groups(question, files, design.frame)
    data = design.kept()
    if len(data) < GROUP:
        raise ImpossibleError(f"{len(data)} rows")
    references = _categorized(data, design, references or {})
    for name in data:
        if name[0] == "v" and data[name].nunique() < 2:
            raise ImpossibleError(f"{next(key[1] for key, value in design.names.items() if value == name)} is constant")
    y, x = map(pd.DataFrame, model_matrix(f"{outcome} ~ {predictors}", data, na_action="ignore"))
    y, x, weights = y.iloc[:, 0].astype(float), x.astype(float), data.get("weights_")
    keep = np.isfinite(y) & np.isfinite(x).all(axis=1) & (True if weights is None else weights > 0)
    y, x, data = y[keep], x[keep], data[keep]
    shift = None if offset is None else _computed(offset, data)
    estimates = _estimated(question, y, x, data, shift)
    return Fit(estimates, references, design)


def _computed(expression: str, data: pd.DataFrame) -> pd.Series:
    """An expression's value in each row."""
    return pd.DataFrame(model_matrix(f"0 + {expression}", data, na_action="ignore")).iloc[:, 0].astype(float)


def _groups(question: Mapping[str, Any], files: Files, frame: pd.DataFrame) -> None:
    """Add weights, clusters and fixed effects to a frame."""
    if question.get("weights"):
        frame["weights_"] = files.numbers(question["weights"])
    if question.get("within"):
        frame["within_"] = files.released_column(question["within"])
    try:
        groups = files.released_column(question["groups"]) if question.get("groups") else None
    except ImpossibleError:
        return
    if groups is not None and groups.notna().mean() > 0.9:
        frame["groups_"] = groups


def _categorized(data: pd.DataFrame, design: Design, wanted: Mapping[str, str]) -> dict[str, str]:
    """Give categories their order, the reference first; returns the references by column."""
    references = {}
    for name, column in design.factors.items():
        found, present = design.files.categories(column), {*data[name].unique()}
        order = [*(level for level in found.levels if level in present), *sorted(present - {*found.levels})]
        if len(order) < 2:
            raise ImpossibleError(f"{column} is constant")
        references[column] = wanted.get(column) or design.references.get(column) or order[0]
        first = found.of.get(references[column])
        if first not in present:
            raise ImpossibleError(f"the reference category of {column} is gone")
        data[name] = pd.Categorical(data[name], [first, *(level for level in order if level != first)])
    return references


def _estimated(
    question: Mapping[str, Any], y: pd.Series, x: pd.DataFrame, data: pd.DataFrame, offset: pd.Series | None
) -> dict[str, tuple[float, float]]:
    """Estimates and standard errors by term."""
    if len(y) < GROUP or y.std() == 0:
        raise ImpossibleError("the outcome is constant")
    options: dict[str, Any] = {}
    weights = data["weights_"] / data["weights_"].mean() if "weights_" in data else None
    if "groups_" in data and data["groups_"].nunique() < len(data):
        options = {"cov_type": "cluster", "cov_kwds": {"groups": pd.factorize(data["groups_"])[0]}}
    elif weights is not None:
        options = {"cov_type": "HC1"}
    if question.get("within"):
        groups = pd.factorize(data["within_"])[0]
        if len({*groups}) > 0.9 * len(groups):
            raise ImpossibleError("no rows of the same person")
        x = x.drop(columns="Intercept", errors="ignore")
        x, y = x - x.groupby(groups).transform("mean"), y - y.groupby(groups).transform("mean")
        x = x.loc[:, x.std() > 1e-10]
        if x.empty:
            raise ImpossibleError("nothing varies within a person")
        options = {"cov_type": "cluster", "cov_kwds": {"groups": groups}}
    try:
        if question["kind"] == "ols":
            model = sm.OLS(y, x) if weights is None else sm.WLS(y, x, weights=weights)
        else:
            family = sm.families.Binomial() if question["kind"] == "logit" else sm.families.Poisson()
            more = {"var_weights": weights, "offset": offset}
            model = sm.GLM(y, x, family=family, **{key: value for key, value in more.items() if value is not None})
        result = model.fit(**options)
    except Exception as error:
        raise ImpossibleError(f"no fit: {error}") from error
    return {name: (float(result.params[name]), float(result.bse[name])) for name in x.columns}


def compare_terms(raw: pd.DataFrame, files: Files) -> Answer:
    """Every significant key term keeps its sign (partial) and lies within two standard errors or 25 % (same)."""
    before = fit(Files(raw, raw, files.question))
    after = fit(files, before.references)
    verdict, notes, lost, merged = "same", [], 0, None
    keys = files.question["key_terms"]
    for key in keys:
        name, level = before.design.term(key)
        value, error = before.terms[name if level is None else f"{name}[T.{level}]"]
        name, published, clustered = *_published_term(key, after), False
        if level is not None and published in after.terms:
            clustered = _is_merged(after, after.design.factors[name], level, before.references)
        if clustered:
            merged = merged or _fit_merged(after)
            value, error = merged.terms.get(published, (value, error))
            verdict = "partial" if verdict == "same" else verdict
        if published not in after.terms:
            lost += 1
            notes.append(f"{key} is lost")
            continue
        now, spread = after.terms[published]
        sure = abs(value) > SURE * error
        if np.sign(now) != np.sign(value) and (sure or abs(now) > SURE * spread):
            verdict = "wrong"
        elif sure and abs(now - value) > max(2 * error, 0.25 * abs(value)):
            verdict = "partial" if verdict == "same" else verdict
        notes.append(f"{key}: {value:.4g} ({error:.2g}), released {now:.4g} ({spread:.2g})")
    if lost == len(keys):
        raise ImpossibleError("; ".join(notes))
    return ("partial" if lost and verdict == "same" else verdict), notes


def _published_term(key: str, after: Fit) -> tuple[str, str | None]:
    """A key term's expression and its name in the released model, its level the one that it fell in."""
    name, level = after.design.term(key)
    if level is None:
        return name, name
    found = after.design.files.categories(after.design.factors[name]).of.get(level)
    return name, f"{name}[T.{found}]" if found is not None else None


def _is_merged(after: Fit, column: str, level: str, references: Mapping[str, str]) -> bool:
    """Whether further levels fell in the category of a level or in that of its reference."""
    of = after.design.files.categories(column).of
    return sum(name is not None and name in (of[level], of[references[column]]) for name in of.values()) > 2


def _fit_merged(after: Fit) -> Fit:
    """The model on the raw rows with categories merged as in the released ones."""
    files, columns = after.design.files, {*after.design.factors.values()}
    references = {column: files.categories(column).of[after.references[column]] for column in columns}
    return fit(files.merged(columns), references)


class Table(NamedTuple):
    """Means, standard errors and counts by group; what each raw category became, per grouping column."""

    groups: dict[tuple[str, ...], tuple[float, float, int]]
    of: dict[str, dict[str, str | None] | None]


def table(files: Files) -> Table:
    """The means of a question by groups of the released rows."""
    parts = re.fullmatch(r"mean of (.*?) by (.*)", files.question["formula"])
    design, of, keys = Design(files), {}, []
    outcome = design.read(parts[1])
    _groups(files.question, files, design.frame)
    for node in ast.parse(f"({parts[2]},)", mode="eval").body.elts:
        cut = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cut"
        column = design.column(node.args[0] if cut else node)
        keys.append(key := f"g{len(keys)}_")
        if cut:
            edges = json.loads(ast.unparse(node.args[1]))
            labels = [f"{low}-{high}" for low, high in pairwise(edges)]
            design.frame[key] = pd.cut(files.numbers(column), edges, right=False, labels=labels).astype(object)
        else:
            design.frame[key] = files.categories(column).rows
        of[column] = None if cut else files.categories(column).of
    data = design.kept()
    y = _computed(outcome, data) if len(data) else None
    if len(data) < 10 or y.std() == 0 or any(data[key].nunique() < 2 for key in keys):
        raise ImpossibleError("too few rows, or one value")
    weights, groups = data.get("weights_", pd.Series(1.0, data.index)), {}
    for name, rows in data.groupby(keys, observed=True):
        w, values = weights[rows.index], y[rows.index]
        mean = (values * w).sum() / w.sum() if w.sum() > 0 else np.nan
        error = np.sqrt((w**2 * (values - mean) ** 2).sum()) / w.sum() if len(rows) > 1 else np.nan
        groups[tuple(map(str, name))] = (float(mean), float(error), len(rows))
    return Table(groups, of)


def compare_tables(raw: pd.DataFrame, files: Files) -> Answer:
    """Groups of 30 rows lie within two standard errors or 25 %, and clear differences between two remain (same)."""
    before, after = table(Files(raw, raw, files.question)).groups, table(files)
    large = [group for group, (_, _, count) in before.items() if count >= GROUP]
    became = {
        group: tuple(level if of is None else of.get(level) for level, of in zip(group, after.of.values(), strict=True))
        for group in large
    }
    became = {group: name for group, name in became.items() if name in after.groups}
    names = [*dict.fromkeys(became.values())]
    if len(names) < 2 <= len(large):
        raise ImpossibleError("groups are gone or one")
    gone = len(large) - len(names)
    if len(names) < len(became):
        before = table(files.merged(column for column, of in after.of.items() if of is not None)).groups
    names = [name for name in names if name in before]
    off = [name for name in names if not _near(after.groups[name][0], *before[name][:2])]
    clear = kept = reversed_ = 0
    for one, other in combinations(names, 2):
        value, error = _difference(before, one, other)
        if not abs(value) > 2 * error:
            continue
        clear += 1
        now, spread = _difference(after.groups, one, other)
        turned = np.sign(now) != np.sign(value)
        reversed_ += bool(turned and abs(now) > 2 * np.nan_to_num(spread, nan=np.inf))
        kept += bool(not turned and _near(now, value, error))
    notes = [f"{gone} groups gone, {len(off)} off; {kept} of {clear} differences kept, {reversed_} reversed"]
    if reversed_ > 0.02 * clear:
        return "wrong", notes
    return ("partial" if gone > 0.1 * len(large) or off or kept < 0.9 * clear else "same"), notes


def _near(now: float, value: float, error: float) -> bool:
    return bool(abs(now - value) <= max(2 * error, 0.25 * abs(value)))


def _difference(groups: Mapping[Any, tuple[float, float, int]], one: Any, other: Any) -> tuple[float, float]:
    return groups[one][0] - groups[other][0], float(np.hypot(groups[one][1], groups[other][1]))


def judged(question: Mapping[str, Any], raw: pd.DataFrame, released: pd.DataFrame | None) -> Answer:
    """Whether released rows give the answer of the raw ones: same, partial, wrong or impossible, and why."""
    if released is None:
        return "impossible", ["no released file"]
    files = Files(raw, released, question)
    try:
        return (compare_tables if question["kind"] == "table" else compare_terms)(raw, files)
    except ImpossibleError as error:
        return "impossible", [str(error)]
