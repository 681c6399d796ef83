# %% [markdown]
# # How far can rows be told apart?
# Before anything is released: who is unique, by which columns, and in the population?

# %%
import sfumato as sf

patients = sf.datasets.patients().to_polars()
risk = sf.risk(patients, ["date_of_birth", "sex", "zip"], population_size=83_000_000)
risk

# %% [markdown]
# Three attackers: one who knows that somebody is in the data, one who knows the population alone, one who wants many.

# %%
risk.prosecutor.highest, risk.journalist.highest, risk.marketer.average

# %% [markdown]
# Which column tells most? Unique rows without each of them:

# %%
risk.figures.uniques
