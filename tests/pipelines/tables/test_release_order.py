"""The order of what is handed out: by codes alone, whatever order the cells came in."""

import io
import itertools

import openpyxl
import pytest

import sfumato as sf
from sfumato.pipelines.tables.batch.run import run_batch
from sfumato.tables.plan.table_plan import read_table_plan

REGIONS = {"S": ["s2", "s1", "s10"], "N": ["n1", "n2"]}
SIZES = ["small", "large", "middle"]
FILES = ["px", "sdmx", "xlsx", "pivot", "code-value", "tab", "hst", "jj"]
METHODS = {
    "masks": {"name": "fast"},
    "rounding": {"name": "rounding", "base": 500},
    "adjustment": {"name": "adjustment"},
}
METADATA = (
    '<SEPARATOR> ";"\nregion\n <RECODEABLE>\n <TOTCODE> "T"\n <HIERARCHICAL>\n <HIERCODELIST> "region.hrc"\n'
    ' <HIERLEADSTRING> "@"\nsize\n <RECODEABLE>\n <TOTCODE> "T"\nvalue\n <NUMERIC>\nfreq\n <FREQUENCY>\n'
)
BATCH = (
    '<OPENTABLEDATA> "cells.tab"\n<OPENMETADATA> "cells.rda"\n<SPECIFYTABLE> "region""size"|"value"||\n'
    "<SAFETYRULE> FREQ(3,10)\n<READTABLE> 0\n<SUPPRESS> GH(1)\n"
    + "".join(f'<WRITETABLE> (1, {kind}, , "{kind}.txt")\n' for kind in (1, 2, 3))
)


def cells():
    """Cells with their totals, in an order that follows the values."""
    sums = {}
    finest = [(top, code, size) for top, codes in REGIONS.items() for code in codes for size in SIZES]
    for place, (top, code, size) in enumerate(finest):
        number = 2 if place in (1, 8) else 5 + place % 7
        for key in itertools.product((code, top, "T"), (size, "T")):
            value, count = sums.get(key, (0, 0))
            sums[key] = (value + 100 + 37 * (place * 5 % 11), count + number)
    return sorted(((*key, *numbers) for key, numbers in sums.items()), key=lambda row: -row[2])


def written(folder, rows):
    folder.mkdir()
    (folder / "cells.tab").write_text("".join(";".join(map(str, row)) + "\n" for row in rows))
    (folder / "cells.rda").write_text(METADATA)
    (folder / "region.hrc").write_text("".join(f"{top}\n@" + "\n@".join(own) + "\n" for top, own in REGIONS.items()))
    return folder


def codes_in(name, data):
    """What a file says but for its numbers, in its order."""
    if name.endswith("xlsx"):
        return [tuple(cell.value for cell in row[:2]) for row in openpyxl.load_workbook(io.BytesIO(data)).active]
    lines = data.decode().splitlines()
    if name.endswith("px"):
        return [line for line in lines if line.startswith(("VALUES", "CODES", "HIERARCHIES"))]
    start = 1 if name.endswith("sdmx.csv") else 0
    return [line.split(";" if ";" in line else ",")[start : start + 2] for line in lines]


@pytest.mark.parametrize("method", METHODS)
def test_files_of_a_release_do_not_follow_the_order_of_the_cells(tmp_path, method):
    seen = []
    for place, rows in enumerate((cells(), sorted(cells()), cells()[::-1])):
        folder = written(tmp_path / str(place), rows)
        kinds = FILES if method == "masks" else FILES[:5]
        plan = {
            "version": 1,
            "table": {"source": "cells.tab", "metadata": "cells.rda", "value": "value", "frequency": "freq"},
            "dimensions": {
                "region": {"column": "region", "hierarchy": "region.hrc", "total": "T"},
                "size": {"column": "size", "total": "T"},
            },
            "primary": [{"rule": "frequency", "min": 3}],
            "method": METHODS[method],
            "output": {"files": kinds},
        }
        done = sf.protect(plan=read_table_plan(plan, folder))
        files = {name: data for name, data in done.further_files().items() if not name.startswith("internal/")}
        assert set(files) == {"table.px", "table-sdmx.csv", "table.xlsx", "table-pivot.csv"}
        seen.append({name: codes_in(name, data) for name, data in files.items()})
        external = list(zip(*(done.external.text(name) for name in ("region", "size")), strict=True))
        assert seen[-1]["table.xlsx"][1:] == external
    assert seen[0] == seen[1] == seen[2]
    assert [row[1] for row in seen[0]["table.xlsx"][1:5]] == ["T", "large", "middle", "small"]


def test_files_of_a_batch_do_not_follow_the_order_of_the_cells(tmp_path):
    seen = []
    for place, rows in enumerate((cells(), cells()[::-1])):
        folder = written(tmp_path / str(place), rows)
        (folder / "one.arb").write_text(BATCH)
        run_batch(folder / "one.arb", folder / "out")
        crosstab = (folder / "out" / "1.txt").read_text().splitlines()
        own = [crosstab[0], *(line.split(",")[0] for line in crosstab)]
        seen.append([own, *(codes_in(f"{kind}.txt", (folder / "out" / f"{kind}.txt").read_bytes()) for kind in (2, 3))])
    assert seen[0] == seen[1]
    assert seen[0][0][0] == '"region size","T","large","middle","small"'
