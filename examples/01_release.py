# %% [markdown]
# # A release
# 300 made-up patients become a file with equivalence classes of at least five rows.

# %%
import sfumato as sf

patients = sf.datasets.patients().to_polars()
patients.head()

# %% [markdown]
# `suggest` proposes a plan with a reason for each column. It runs unchanged; correct what you know better.

# %%
plan = sf.suggest(patients)
print(plan)

# %%
plan = plan.require(sf.KAnonymity(5), sf.LDiversity(2, "illness")).by(sf.Local())
release = sf.anonymize(patients, plan)
release.data.head()

# %%
print(release.explain("zip"))

# %% [markdown]
# The requested and the achieved parameters, and the risk before and after:

# %%
assert release.report.classes.smallest >= 5
[(promise.model, promise.requested, promise.achieved) for promise in release.report.models]

# %%
release.report.risk.before.highest, release.report.risk.after.highest
