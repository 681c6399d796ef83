"""Crosstabs and batch files hand out what was attacked: an outsider who reads nothing else computes no unsafe cell."""

import csv
from itertools import product

import numpy as np
import pandas
import pytest

import sfumato as sf
from sfumato.errors import InternalError
from sfumato.pipelines.tables.batch.run import run_batch
from sfumato.policies.policy import CellRule
from sfumato.tables.crosstabs.crosstabs import Crosstab
from sfumato.tables.crosstabs.policies import _check_shown, apply, relations_of

PLAN = {"version": 1, "table": {"value": "n"}, "dimensions": {name: {"column": name} for name in ("x", "y")}}


def counts_of(seed):
    """Counts with all totals, some of them small, in some tables none of them 0."""
    rng = np.random.default_rng(seed)
    inner = rng.choice([1, 2, 3, 8, 20, 41] if seed % 2 else [0, 1, 3, 8, 20, 41], (4, 4))
    whole = np.vstack([inner, inner.sum(axis=0)])
    return np.column_stack([whole, whole.sum(axis=1)])


def audited(shown, least):
    """The audit of texts of cells by their codes, as anyone reads them."""
    rows = [(*code, text) for code, text in shown.items()]
    frame = pandas.DataFrame(rows, columns=["x", "y", "n"])
    return sf.audit(frame, PLAN | {"primary": [{"rule": "frequency", "min": least}]})


@pytest.mark.parametrize("seed", range(6))
def test_a_crosstab_as_it_is_returned(seed):
    counts, codes = counts_of(seed), [*"abcd", "Total"]
    shown = sf.suppress(pandas.DataFrame(counts, index=codes, columns=codes), "cms-11")
    cells = {(row, column): str(shown.loc[row, column]) for row, column in product(codes, codes)}
    assert "*" in cells.values()
    assert audited(cells, 11).passed


def test_a_crosstab_with_a_number_that_is_not_its_own_is_not_handed_out():
    counts = counts_of(1).astype(float)
    rule = CellRule(1, 3, "*")
    shown = apply(Crosstab((*"abcd", "Total"), (*"abcd", "Total"), counts), rule)
    relations = relations_of(counts, (*"abcd", "Total"), (*"abcd", "Total"), None, None)
    small = (counts >= 1) & (counts <= 3)
    _check_shown(counts, small, relations, shown, rule)
    shown[-1][-1] += 1
    with pytest.raises(InternalError):
        _check_shown(counts, small, relations, shown, rule)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("way", ["MOD(1)", "GH(1)"])
def test_a_table_as_a_batch_file_writes_it(tmp_path, seed, way):
    counts = counts_of(seed)[:4, :4]
    cells = zip(product("abcd", "abcd"), counts.ravel().tolist(), strict=True)
    lines = [f"{x};{y}" for (x, y), count in cells for _ in range(count)]
    (tmp_path / "micro.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "micro.rda").write_text(
        '<SEPARATOR> ";"\n' + "".join(f'{name} 1\n<RECODEABLE>\n<TOTCODE> "Total"\n' for name in "xy")
    )
    (tmp_path / "one.arb").write_text(
        '<OPENMICRODATA> "micro.csv"\n<OPENMETADATA> "micro.rda"\n<SPECIFYTABLE> "x""y"|<freq>||\n'
        "<SAFETYRULE> FREQ(4,30)\n<READMICRODATA>\n"
        f'<SUPPRESS> {way}\n<WRITETABLE> (1, 3, QU-, "shown.txt")\n'
    )
    assert run_batch(tmp_path / "one.arb", tmp_path / "out").passed
    with (tmp_path / "out" / "shown.txt").open() as file:
        shown = {(x, y): text for x, y, text in csv.reader(file)}
    assert "x" in shown.values()
    assert audited(shown, 4).passed
