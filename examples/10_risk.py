# %% [markdown]
# # Re-identification risk
# Before a release: which rows are unique, by which columns, and in the population?

# %%
import sfumato as sf

patients = sf.datasets.patients().to_polars()
risk = sf.risk(patients, ["date_of_birth", "sex", "zip"], population_size=83_000_000)
risk

# %% [markdown]
# Three attackers: the prosecutor knows that a person is in the data, the journalist knows only the population, and
# the marketer wants to re-identify as many rows as possible.

# %%
risk.prosecutor.highest, risk.journalist.highest, risk.marketer.average

# %% [markdown]
# Which column contributes most? Unique rows without each of them:

# %%
risk.figures.uniques
