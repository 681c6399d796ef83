# %% [markdown]
# # Trust, but verify
# A release folder is judged by code that shares nothing with the search. Whoever receives it can do the same.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

import sfumato as sf

patients = sf.datasets.patients(200).to_polars()
plan = (
    sf.Plan(sf.KAnonymity(4), method=sf.Optimal(suppression=sf.Suppression(0.05)), other="sensitive")
    .identify("name")
    .quasi("sex", date_of_birth=sf.dates("%Y%m%d", "year", "decade"), zip=sf.digits(5))
)
home = TemporaryDirectory()
folder = sf.anonymize(patients, plan).save(Path(home.name) / "release")
sorted(path.name for path in folder.iterdir())

# %%
verdict = sf.verify(folder)
assert verdict.holds
verdict

# %% [markdown]
# One value changed by hand, and the verdict says no.

# %%
data = folder / "data.csv"
data.write_text(data.read_text().replace("female", "male", 1))
changed = sf.verify(folder)
assert not changed.holds
changed

# %%
home.cleanup()
