# %% [markdown]
# # Records, attribute by attribute
# For a service that publishes single records: each attribute is masked, generalized or randomized by itself.

# %%
import sfumato as sf

records = [
    {"name": "Ada", "pay": 18000, "born": "1985-12-10"},
    {"name": "Bob", "pay": 22000, "born": "1990-01-02"},
    {"name": "Cy", "pay": 30000, "born": "1971-06-30"},
    {"name": "Di", "pay": 42000, "born": "1968-03-15"},
]
configuration = {
    "name": {"anonymisationType": "Masking", "dataType": "String"},
    "pay": {"anonymisationType": "Generalization", "dataType": "Numeric"},
    "born": {"anonymisationType": "Generalization", "dataType": "Date"},
}
answer = sf.anonymize_attributes(records, configuration)
answer.data

# %% [markdown]
# Several attributes together can still single a record out; `kAnonymity` measures this.

# %%
answer.kpis
