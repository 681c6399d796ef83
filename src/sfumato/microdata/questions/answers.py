"""Answer questions from rows: regressions by statsmodels, tables of means and counts by NumPy."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import extra_part
from sfumato.microdata.questions.formula import (
    column_of,
    columns_in,
    function_of,
    number_of_terms,
    parse_expression,
    reference_of,
    shown,
)
from sfumato.microdata.questions.question import Question
from sfumato.microdata.questions.rows import Floats, Rows, Texts, Unanswerable, Values, evaluate, numeric
from sfumato.values import Value, field

# Fewer rows do not answer a regression, or a table.
FEWEST_OF_MODEL, FEWEST_OF_TABLE = 30, 10
MOST_LEVELS, MOST_TERMS, MOST_GROUPS = 500, 1_000, 2_000
# A coefficient beyond this, or with such an error, is one of a fit that did not converge.
_LARGEST = 1e8
_NAMED = re.compile(r"part_(\d+)(?:\[(?:T\.)?c(\d+)\])?")


class Estimate(Value):
    """A coefficient of a model, or the mean or count of a group.

    Attributes:
        error: The standard error.
        columns: The columns that it is about.
        rows: The rows of the group; 0 for coefficients.
    """

    value: float
    error: float
    columns: tuple[str, ...] = ()
    rows: int = 0

    @property
    def is_significant(self) -> bool:
        return abs(self.value) > 1.96 * self.error

    def to_dict(self) -> dict[str, float]:
        low, high = self.value - 1.96 * self.error, self.value + 1.96 * self.error
        return {"estimate": self.value, "low": low, "high": high} | ({"rows": self.rows} if self.rows else {})


class Answer(Value):
    """The answer to a question: its estimates by term or group.

    Attributes:
        references: For each categorical part of a model, its reference category.
        categorical: The columns of predictors and groups whose values are categories.
    """

    rows: int
    family: str
    estimates: Mapping[str, Estimate]
    references: Mapping[int, str] = field(default_factory=dict)
    categorical: frozenset[str] = frozenset()


def answer(question: Question, rows: Rows, references: Mapping[int, str] | None = None) -> Answer:
    """Return the answer to a question.

    Args:
        references: Reference categories of another answer; by default those of the formula, or the first ones.

    Raises:
        Unanswerable: These rows do not answer it.
        EngineError: It is a model, and the libraries for models are not installed.
    """
    used = Used(question, rows)
    if question.parsed.kind in ("means", "counts"):
        return _table(used)
    return _model(used, references)


class Used:
    """The rows and columns of a question, without rows that its filter or a missing value excludes."""

    def __init__(self, question: Question, rows: Rows) -> None:
        formula = question.parsed
        self.question = question
        self.rows = rows
        of_table = formula.kind in ("means", "counts")
        self.parts = [_part(node, rows, of_table) for node in formula.parts]
        used_as_texts = [
            columns_in(node)
            for node, part in zip(formula.parts, self.parts, strict=True)
            if part.dtype == object and function_of(node) != "cut"
        ]
        self.categorical = frozenset(name for names in used_as_texts for name in names)
        self.outcome = None if formula.outcome is None else self._outcome()
        self.event = None if formula.event is None else _two_valued(evaluate(formula.event, rows), formula.event)
        self.weights = None if question.weights is None else rows.numbers(question.weights)
        self.offset = None if question.offset is None else numeric(parse_expression(question.offset), rows)
        self.within = None if question.within is None else rows.categories(question.within)
        self.groups = None if question.groups is None else _clusters(rows, question.groups)
        kept = np.ones(len(self.parts[0]), bool)
        named = [*self.parts, self.outcome, self.event, self.weights, self.offset, self.within, self.groups]
        for values in named:
            if values is not None:
                kept &= _present(values)
        if question.filter is not None:
            kept &= numeric(parse_expression(question.filter), rows) == 1
        if self.weights is not None:
            kept &= np.nan_to_num(self.weights) > 0
        self._keep(kept)

    def _outcome(self) -> Floats:
        """Return the outcome as numbers; of two categories, the second is 1."""
        formula = self.question.parsed
        assert formula.outcome is not None
        values = evaluate(formula.outcome, self.rows)
        return _two_valued(values, formula.outcome) if values.dtype == object else values

    def _keep(self, kept: npt.NDArray[np.bool_]) -> None:
        self.parts = [part[kept] for part in self.parts]
        for name in ("outcome", "event", "weights", "offset", "within", "groups"):
            values = getattr(self, name)
            setattr(self, name, None if values is None else values[kept])

    @property
    def size(self) -> int:
        return len(self.parts[0])


def _part(node: Any, rows: Rows, of_table: bool) -> Values:
    """Return a predictor or group; a column that divides a table is one of categories."""
    name = column_of(node)
    return rows.categories(name) if of_table and name is not None else evaluate(node, rows)


def _two_valued(values: Values, node: Any) -> Floats:
    """Return an outcome of two categories as 0 and 1."""
    if values.dtype != object:
        return values
    levels = sorted({value for value in values if value is not None})
    if len(levels) != 2:
        raise Unanswerable("not_two", column=shown(node))
    return np.array([np.nan if value is None else float(value == levels[1]) for value in values])


def _clusters(rows: Rows, name: str) -> Texts | None:
    """Return the column that rows are clustered by; None if it is not published."""
    values = rows.categories(name)
    return values if np.mean(_present(values)) > 0.9 else None


def _present(values: Values) -> npt.NDArray[np.bool_]:
    if values.dtype == object:
        return np.array([value is not None for value in values], bool)
    present: npt.NDArray[np.bool_] = np.isfinite(values.astype(float))
    return present


def _levels(used: Used, place: int, limit: int) -> list[str]:
    """Return the categories of a part in order."""
    node, present = used.question.parsed.parts[place], {*used.parts[place].tolist()}
    known = [name for column in columns_in(node) for name in used.rows.columns[column].values]
    ordered = [name for name in known if name in present]
    levels = list(dict.fromkeys([*ordered, *sorted(present - {*ordered}, key=_first_number)]))
    if len(levels) > limit:
        raise Unanswerable("many_levels", column=shown(node))
    if len(levels) < 2:
        raise Unanswerable("constant", column=shown(node))
    return levels


def _first_number(text: str) -> tuple[float, str]:
    found = re.match(r"-?\d+(?:\.\d+)?", text)
    return (float(found[0]) if found else np.inf), text


def _table(used: Used) -> Answer:
    """Return means or counts by group, with standard errors."""
    if used.size < FEWEST_OF_TABLE:
        raise Unanswerable("few_rows", rows=used.size)
    _check_outcome(used)
    codes = np.zeros(used.size, np.int64)
    names: list[tuple[str, ...]] = [()]
    for place, part in enumerate(used.parts):
        texts = part if part.dtype == object else np.array([f"{number:g}" for number in part], object)
        used.parts[place] = texts
        levels = _levels(used, place, MOST_GROUPS)
        places = {level: code for code, level in enumerate(levels)}
        codes = codes * len(levels) + np.array([places[text] for text in texts], np.int64)
        names = [(*name, level) for name in names for level in levels]
        if len(names) > MOST_GROUPS:
            raise Unanswerable("many_levels", column=shown(used.question.parsed.parts[place]))
    columns = tuple(columns_in(*used.question.parsed.parts))
    found = zip(names, *_sums(used, codes, len(names)), strict=True)
    estimates = {
        " / ".join(name): Estimate(float(value), float(error), columns, int(rows))
        for name, value, error, rows in found
        if rows
    }
    return Answer(used.size, used.question.parsed.kind, estimates, categorical=used.categorical)


def _sums(used: Used, codes: npt.NDArray[np.int64], groups: int) -> tuple[Values, Values, Values]:
    """Return the mean or count of each group, its standard error, and its rows."""
    weights = np.ones(used.size) if used.weights is None else used.weights
    rows, total = np.bincount(codes, minlength=groups), np.bincount(codes, weights, groups)
    with np.errstate(all="ignore"):
        if used.outcome is None:
            return total, np.sqrt(np.bincount(codes, weights**2, groups)), rows
        mean = np.bincount(codes, weights * used.outcome, groups) / total
        squares = np.bincount(codes, weights**2 * (used.outcome - mean[codes]) ** 2, groups)
        return mean, np.where(rows > 1, np.sqrt(squares) / total, np.inf), rows


def _model(used: Used, references: Mapping[int, str] | None) -> Answer:
    """Return the coefficients of a regression."""
    if used.size < FEWEST_OF_MODEL:
        raise Unanswerable("few_rows", rows=used.size)
    _check_outcome(used)
    named, chosen, data = {}, dict[int, str](), dict[str, Any]()
    for place, part in enumerate(used.parts):
        data[f"part_{place}"] = part
        if part.dtype == object:
            levels = _with_reference(used, place, references)
            named[place], chosen[place] = levels, levels[0]
            codes = {level: f"c{code:04}" for code, level in enumerate(levels)}
            data[f"part_{place}"] = np.array([codes[text] for text in part], object)
        elif np.ptp(part) == 0:
            raise Unanswerable("constant", column=shown(used.question.parsed.parts[place]))
    sizes = {f"part_{place}": len(levels) for place, levels in named.items()}
    if number_of_terms(used.question.parsed.terms, sizes) > MOST_TERMS:
        raise Unanswerable("many_terms", most=MOST_TERMS)
    with extra_part("formulaic", "questions"):
        from formulaic.materializers import PandasMaterializer
    matrix = PandasMaterializer(data).get_model_matrix(used.question.parsed.terms, output="numpy")
    terms, design = [*matrix.model_spec.column_names], np.asarray(matrix, float)
    family = _family(used)
    design, terms = _within(used, design, terms, family)
    values, errors = _fitted(used, design, family)
    if not (np.isfinite(values).all() and np.isfinite(errors).all() and np.abs(values).max(initial=0) < _LARGEST):
        raise Unanswerable("no_fit")
    estimates = {
        name: Estimate(float(value), float(error), columns)
        for (name, columns), value, error in zip(_readable(used, terms, named), values, errors, strict=True)
    }
    return Answer(used.size, family, estimates, chosen, used.categorical)


def _check_outcome(used: Used) -> None:
    if used.outcome is not None and used.question.parsed.outcome is not None and np.std(used.outcome) == 0:
        raise Unanswerable("constant", column=shown(used.question.parsed.outcome))


def _with_reference(used: Used, place: int, references: Mapping[int, str] | None) -> list[str]:
    """Return the categories of a part, the reference category first."""
    node, levels = used.question.parsed.parts[place], _levels(used, place, MOST_LEVELS)
    wanted = reference_of(node) or levels[0] if references is None else references[place]
    columns = [*columns_in(node)]
    if references is not None and len(columns) == 1 and wanted in used.rows.columns[columns[0]].merged:
        wanted = used.rows.columns[columns[0]].merged[wanted] or wanted
    if wanted not in levels:
        raise Unanswerable("reference", column=shown(node))
    return [wanted, *(level for level in levels if level != wanted)]


def _family(used: Used) -> str:
    if used.event is not None:
        return "cox"
    given = used.question.family
    assert used.outcome is not None
    two = used.question.within is None and {*np.unique(used.outcome[:1000]).tolist()} <= {0.0, 1.0}
    family = given or ("binomial" if two and {*np.unique(used.outcome).tolist()} <= {0.0, 1.0} else "gaussian")
    outside = (family == "binomial" and (used.outcome.min() < 0 or used.outcome.max() > 1)) or (
        family == "poisson" and used.outcome.min() < 0
    )
    if outside:
        raise Unanswerable("outcome_family", family=family)
    return family


def _within(used: Used, design: Floats, terms: list[str], family: str) -> tuple[Floats, list[str]]:
    """Return the design without what it cannot have: differences within groups only, or no intercept for times."""
    kept = np.array([term != "Intercept" for term in terms], bool)
    if family == "cox":
        return design[:, kept], [term for term, keep in zip(terms, kept, strict=True) if keep]
    if used.within is None:
        return design, terms
    _, codes = np.unique(used.within.astype(str), return_inverse=True)
    sizes = np.bincount(codes)
    if len(sizes) > 0.9 * used.size:
        raise Unanswerable("not_linked", column=used.question.within)

    def demeaned(values: Floats) -> Floats:
        return np.asarray(values - (np.bincount(codes, values) / sizes)[codes], float)

    assert used.outcome is not None
    used.outcome, used.groups = demeaned(used.outcome), used.within
    design = np.column_stack([demeaned(column) for column in design.T])
    kept &= design.std(0) > 1e-10
    if not kept.any():
        raise Unanswerable("not_linked", column=used.question.within)
    return design[:, kept], [term for term, keep in zip(terms, kept, strict=True) if keep]


def _fitted(used: Used, design: Floats, family: str) -> tuple[Floats, Floats]:
    """Return the coefficients and their standard errors: clustered by groups, robust with weights."""
    import warnings

    with extra_part("statsmodels", "questions"):
        from statsmodels.duration.hazard_regression import PHReg
        from statsmodels.genmod import families
        from statsmodels.genmod.generalized_linear_model import GLM
    groups = None if used.groups is None else np.unique(used.groups.astype(str), return_inverse=True)[1]
    groups = None if groups is None or groups.max() + 1 == len(groups) else groups
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if family == "cox":
                result = PHReg(used.outcome, design, status=used.event, ties="efron").fit(groups=groups)
                return np.asarray(result.params, float), np.asarray(result.bse, float)
            cov: dict[str, Any] = {} if used.weights is None else {"cov_type": "HC1"}
            if groups is not None:
                cov = {"cov_type": "cluster", "cov_kwds": {"groups": groups}}
            weighed = {} if used.weights is None else {"var_weights": used.weights / used.weights.mean()}
            shifted = {} if used.offset is None else {"offset": used.offset}
            kind = {"gaussian": families.Gaussian, "binomial": families.Binomial, "poisson": families.Poisson}[family]
            result = GLM(used.outcome, design, family=kind(), **weighed, **shifted).fit(**cov)
        except (ValueError, np.linalg.LinAlgError, ArithmeticError):
            raise Unanswerable("no_fit") from None
    return np.asarray(result.params, float), np.asarray(result.bse, float)


def _readable(
    used: Used, terms: Sequence[str], levels: Mapping[int, Sequence[str]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the name of each term with its parts as the formula has them, and the columns that it is about."""
    parts = used.question.parsed.parts

    def named(found: re.Match[str]) -> str:
        place = int(found[1])
        return shown(parts[place]) if found[2] is None else f"{_plain(parts[place])}[{levels[place][int(found[2])]}]"

    for term in terms:
        places = [int(found[1]) for found in _NAMED.finditer(term)]
        yield _NAMED.sub(named, term), tuple(columns_in(*(parts[place] for place in places)))


def _plain(node: Any) -> str:
    """Return a categorical part without C( ) around its column."""
    inner = node.args[0] if getattr(node, "args", None) else node
    return column_of(inner) or shown(node)
