"""What a reader of several tables of counts computes of a cell, by linear programs written apart from the audit."""

import itertools
from collections import Counter

import numpy as np
from scipy.optimize import linprog

TOTAL = "Total"


class Reader:
    """One who reads tables of counts that show their empty cells, or leave them out.

    Args:
        codes: The codes of each variable.
        groups: For each code that is a total of others in a variable, those.
    """

    def __init__(self, codes, groups=None):
        self.names, self.codes, self.groups = list(codes), codes, groups or {}
        self.full = list(itertools.product(*codes.values()))
        self.rows, self.low, self.high = [], [], []

    def where(self, cell):
        """Which combinations of all variables are in a cell, by the code of each of its variables."""
        inside = []
        for name in self.names:
            code = cell.get(name, TOTAL)
            whole = self.codes[name] if code == TOTAL else self.groups.get(code, [code])
            inside.append(set(whole))
        return np.array([all(own in one for own, one in zip(f, inside, strict=True)) for f in self.full], float)

    def read(self, names, published):
        """Take note of a table: texts by the codes of its variables; whatever is no number is at least 1."""
        for key, text in published.items():
            shown = text.lstrip("-").replace(".", "").isdigit() if text != "-" else False
            value = 0.0 if text == "-" else float(text) if shown else None
            self._note(dict(zip(names, key, strict=True)), *((1.0, np.inf) if value is None else (value, value)))
        for key in itertools.product(*(self.codes[name] for name in names)):
            if key not in published:
                self._note(dict(zip(names, key, strict=True)), 0.0, 0.0)

    def read_near(self, names, published, most):
        """Take note of a table whose numbers are less than `most` off; a cell that is left out is empty."""
        for key in {*published, *itertools.product(*(self.codes[name] for name in names))}:
            value = float(published[key]) if key in published else None
            ends = (0.0, 0.0) if value is None else (max(0.0, value - most + 1), value + most - 1)
            self._note(dict(zip(names, key, strict=True)), *ends)

    def _note(self, cell, low, high):
        self.rows.append(self.where(cell))
        self.low.append(low)
        self.high.append(high)

    def range_of(self, cell, known=()):
        """The least and the greatest value of a cell; `known` are further combinations with their values."""
        rows, low, high = np.array(self.rows), np.array(self.low), np.array(self.high)
        fixed = dict(known)
        bounds = [(fixed[f], fixed[f]) if f in fixed else (0, None) for f in self.full]
        same = low == high
        finite = ~same & np.isfinite(high)
        ends = []
        for sign in (1, -1):
            answer = linprog(
                sign * self.where(cell),
                A_ub=np.vstack([-rows[~same], rows[finite]]),
                b_ub=np.concatenate([-low[~same], high[finite]]),
                A_eq=rows[same],
                b_eq=low[same],
                bounds=bounds,
            )
            assert answer.status in (0, 3), answer.message
            ends.append(sign * answer.fun if answer.status == 0 else np.inf)
        return ends[0], ends[1]


def counted(records, names, table, groups=None):
    """The counts of a table of records, by the codes of its variables, totals and groups as well."""
    counts = Counter()
    above = {code: group for group, codes in (groups or {}).items() for code in codes}
    for record in records:
        own = [record[names.index(name)] for name in table]
        chains = [[code, *([above[code]] if code in above else []), TOTAL] for code in own]
        counts.update(itertools.product(*chains))
    return counts
