# %% [markdown]
# # Several rows of one person
# In a file of visits, five equal rows may be one patient. Name the person column, and privacy models count persons.

# %%
import sfumato as sf

visits = sf.datasets.visits(1500).to_polars()
visits.head()

# %%
by_rows = (
    sf.Plan(sf.KAnonymity(5), method=sf.Local(), other="insensitive")
    .identifiers("person")
    .quasi("sex", "marital", age=sf.intervals(5, 10, 20, 40), region=sf.digits(2))
)
by_persons = by_rows.persons("person")
rows, persons = sf.anonymize(visits, by_rows), sf.anonymize(visits, by_persons)
rows.report.loss.value, persons.report.loss.value

# %% [markdown]
# Counting persons costs a little more detail, and guarantees k persons instead of k rows.
