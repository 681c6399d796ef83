# %% [markdown]
# # Generalization hierarchies
# A hierarchy has levels: level 0 is the original value, the last level is `*`.

# %%
import polars as pl

import sfumato as sf

rows = pl.DataFrame(
    {
        "age": ["17", "23", "24", "31", "38", "45", "52", "67"] * 3,
        "zip": ["10115", "10117", "10247", "10249", "20095", "20097", "20099", "22041"] * 3,
        "born": [
            "2007-03-01",
            "2001-11-12",
            "2000-01-30",
            "1993-05-05",
            "1986-07-07",
            "1979-02-02",
            "1972-09-09",
            "1957-12-24",
        ]
        * 3,
        "town": ["Bonn", "Köln", "Bonn", "Ulm", "Ulm", "Köln", "Bonn", "Ulm"] * 3,
    }
)

# %%
plan = sf.Plan(sf.KAnonymity(6), method=sf.Optimal()).quasi(
    age=sf.intervals(10, 20, 40),
    zip=sf.digits(5),
    born=sf.dates("%Y-%m-%d", "year", "decade", "century"),
    town=sf.tree({"Rhineland": ["Bonn", "Köln"], "Swabia": ["Ulm"]}),
)
release = sf.anonymize(rows, plan)
release.data.unique().sort("age")

# %%
release.report.levels

# %% [markdown]
# An important column gets a higher weight in the loss; `min_level` and `max_level` limit the published levels:

# %%
weighted = plan.column("age", "quasi-identifier", hierarchy=sf.intervals(10, 20, 40), weight=5, min_level=1)
levels = sf.anonymize(rows, weighted).report.levels
assert levels["age"] >= 1
levels
