# %% [markdown]
# # Why k-anonymity alone is not enough
# Four people aged 20 to 39 have the same illness: anyone who knows that a person is one of them knows the illness.

# %%
import polars as pl

import sfumato as sf

rows = pl.DataFrame(
    {
        "age": ["21", "25", "33", "38", "41", "47", "52", "58", "61", "66", "72", "79"],
        "illness": [
            "cancer",
            "cancer",
            "cancer",
            "cancer",
            "flu",
            "asthma",
            "flu",
            "cancer",
            "flu",
            "asthma",
            "flu",
            "asthma",
        ],
    }
)
alone = sf.Plan(sf.KAnonymity(4), method=sf.Optimal(), other="sensitive").quasi(age=sf.intervals(20, 60, 120))
release = sf.anonymize(rows, alone)
release.data.sort("age")

# %% [markdown]
# The report shows this attribute disclosure without being asked:

# %%
release.report.disclosure

# %%
diverse = alone.require(sf.KAnonymity(4), sf.LDiversity(2, "illness"))
safer = sf.anonymize(rows, diverse)
safer.data.sort("age")

# %%
assert release.report.levels["age"] < safer.report.levels["age"]
