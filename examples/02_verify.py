# %% [markdown]
# # Trust, but verify
# `verify` checks a release folder independently of the search. Every recipient can do the same.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

import sfumato as sf

patients = sf.datasets.patients(200).to_polars()
plan = (
    sf.Plan(sf.KAnonymity(4), method=sf.Optimal(suppression=sf.Suppression(0.05)), other="sensitive")
    .identifiers("name")
    .quasi("sex", date_of_birth=sf.dates("%Y%m%d", "year", "decade"), zip=sf.digits(5))
)
home = TemporaryDirectory()
folder = sf.anonymize(patients, plan).save(Path(home.name) / "release")
sorted(path.name for path in folder.iterdir())

# %%
verdict = sf.verify(folder)
assert verdict.satisfied
verdict

# %% [markdown]
# After one value is changed by hand, the verification fails.

# %%
data = folder / "data.csv"
data.write_text(data.read_text().replace("female", "male", 1))
changed = sf.verify(folder)
assert not changed.satisfied
changed

# %%
home.cleanup()
