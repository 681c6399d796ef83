# %% [markdown]
# # Cell suppression
# Small counts are suppressed, and as few other cells as needed; then the table is audited.

# %%
import polars as pl

import sfumato as sf

counts = pl.DataFrame(
    {
        "district": ["Total", "North", "North", "North", "South", "South", "South", "South"],
        "quarter": ["Total", "Total", "Harbor", "Mills", "Total", "Abbey", "Fields", "Gardens"],
        "n": [69, 19, 2, 17, 50, 16, 3, 31],
    }
)

# %%
done = sf.protect(
    counts,
    value="n",
    dimensions={"area": {"levels": ["district", "quarter"]}},
    primary=[{"rule": "range", "min": 1, "max": 3}],
)
assert done.passed
done.data

# %% [markdown]
# If only the small counts are suppressed, the audit computes both.

# %%
naive = counts.with_columns(pl.when(pl.col("n") <= 3).then(pl.lit("*")).otherwise(pl.col("n").cast(str)).alias("n"))
plan = {
    "version": 1,
    "table": {"value": "n"},
    "dimensions": {"area": {"levels": ["district", "quarter"]}},
    "primary": [{"rule": "range", "min": 1, "max": 3}],
}
audit = sf.audit(naive, plan)
assert not audit.passed
audit.counts()
