# %% [markdown]
# # Perturbation
# Columns that are no quasi-identifiers can be rounded, swapped, microaggregated or get noise. This alone guarantees
# nothing; the report measures what can still be learned.

# %%
import polars as pl

import sfumato as sf

rows = pl.DataFrame(
    {
        "sex": ["f", "m"] * 60,
        "income": [float(1200 + row * 37 % 4100) for row in range(120)],
        "savings": [float(row * row % 9000) for row in range(120)],
    }
)
money = sf.PublishPlan(microaggregate=sf.Microaggregate(5, "money"))
plan = sf.Plan(sf.KAnonymity(5)).quasi("sex")
for name in ("income", "savings"):
    plan = plan.column(name, "insensitive", type="decimal", publish=money)
release = sf.anonymize(rows, plan)
release.data.head()

# %% [markdown]
# Means are preserved; each pair of means occurs at least five times.

# %%
published = release.data.select(pl.col("income").cast(float), pl.col("savings").cast(float))
assert abs(published["income"].mean() - rows["income"].mean()) < 1
assert published.group_by("income", "savings").len()["len"].min() >= 5
published.describe()
