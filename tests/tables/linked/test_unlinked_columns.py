"""Tables without records whose columns have other names and the same records: nobody tells but their cells."""

import numpy as np
import pytest

from sfumato.pipelines.tables.audit import audit
from sfumato.pipelines.tables.protect import protect
from sfumato.tables.plan.table_plan import read_table_plan

RNG = np.random.default_rng(7)
GEMEINDEN, SIZES = 24, ("s", "t", "u")
COUNTS = RNG.integers(3, 90, (GEMEINDEN, len(SIZES)))
COUNTS[5, 0] = 2
SHUFFLED = RNG.permutation(12) % 4
CODES = {
    "runs": ([f"g{place:02}" for place in range(GEMEINDEN)], [f"K{place // 4}" for place in range(GEMEINDEN)]),
    "beginnings": (
        [f"0{place % 6}1{place:03}" for place in range(GEMEINDEN)],
        [f"0{place % 6}" for place in range(GEMEINDEN)],
    ),
    "any": ([f"g{place:02}" for place in range(12)], [f"K{place}" for place in SHUFFLED.tolist()]),
}


def cells(codes, counts, name, masks=()):
    """A table of codes by size with totals, as it is published."""
    sums: dict[tuple[str, str], int] = {}
    for code, own in zip(codes, counts.tolist(), strict=True):
        for size, count in zip(SIZES, own, strict=True):
            for key in ((code, size), (code, "Total"), ("Total", size), ("Total", "Total")):
                sums[key] = sums.get(key, 0) + count
    lines = [f"{code},{size},{'x' if (code, size) in masks else count}" for (code, size), count in sums.items()]
    return f"{name},size,count\n" + "\n".join(lines) + "\n"


def plan(*names):
    tables = [{"name": name, "dimensions": {name: {"column": name}, "size": {"column": "size"}}} for name in names]
    return {"version": 1, "table": {"value": "count"}, "primary": [{"rule": "frequency", "min": 3}], "tables": tables}


def review(folder, texts):
    files = []
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
        files.append(folder / f"{name}.csv")
    return audit(files, plan(*texts))


def masks(codes):
    return [(codes[place], size) for place in (5, 6) for size in ("s", "t")]


@pytest.mark.parametrize("way", CODES)
def test_units_that_look_like_sums_of_others_are_told(tmp_path, way):
    gem, kreis = CODES[way]
    counts = COUNTS[: len(gem)]
    done = review(tmp_path, {"Gem": cells(gem, counts, "Gem", masks(gem)), "Kreis": cells(kreis, counts, "Kreis")})
    assert not done.passed
    assert "codes of Kreis look like sums of those of Gem" in done.not_audited[0]


def test_the_same_codes_by_other_names_are_told(tmp_path):
    gem = CODES["runs"][0]
    others = [f"x{code}" for code in gem]
    done = review(tmp_path, {"Gem": cells(gem, COUNTS, "Gem", masks(gem)), "place": cells(others, COUNTS, "place")})
    assert len(done.not_audited) == 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("codes", [2, 6])
def test_columns_that_have_nothing_in_common_are_not(tmp_path, seed, codes):
    rng = np.random.default_rng(seed)
    gem = CODES["runs"][0]
    shares = rng.dirichlet(np.ones(codes) * 5)
    other = np.stack([rng.multinomial(int(total), shares) for total in COUNTS.sum(axis=0)], axis=1)
    names = [f"g{place}" for place in range(codes)]
    done = review(tmp_path, {"Gem": cells(gem, COUNTS, "Gem", masks(gem)), "sex": cells(names, other, "sex")})
    assert not done.not_audited


def test_nothing_is_told_of_tables_that_mask_nothing(tmp_path):
    gem, kreis = CODES["runs"]
    counts = COUNTS + 3
    done = review(tmp_path, {"Gem": cells(gem, counts, "Gem"), "Kreis": cells(kreis, counts, "Kreis")})
    assert done.passed


def test_records_of_the_plan_tell_which_columns_are_linked(tmp_path):
    gem, kreis = CODES["any"]
    own_counts = COUNTS[: len(gem)]
    own = [
        f"{gem[place]},{kreis[place]},{size}"
        for place, counts in enumerate(own_counts.tolist())
        for size, count in zip(SIZES, counts, strict=True)
        for _ in range(count)
    ]
    (tmp_path / "records.csv").write_text("Gem,Kreis,size\n" + "\n".join(own) + "\n")
    # Of the masked cells of g05 those of its Kreis are not: nobody needs to guess what is in which.
    texts = {"Gem": cells(gem, own_counts, "Gem", masks(gem)), "Kreis": cells(kreis, own_counts, "Kreis")}
    files = []
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text)
        files.append(tmp_path / f"{name}.csv")
    wanted = read_table_plan(plan(*texts) | {"table": {"value": "count", "microdata": "records.csv"}}, tmp_path)
    done = audit(files, wanted)
    assert not done.not_audited
    assert any("g05" in finding.name for finding in done.leaks)
    protected = protect(None, wanted)
    assert audit(protected).passed
