"""A small release stays small: how many files and functions it runs through, and what other plans load does not."""

import json
import subprocess
import sys

MOST_FILES, MOST_FUNCTIONS = 134, 1_150
PROGRAM = """
import json, random, sys, threading
from pathlib import Path
draw, names, folder = random.Random(1), ("age", "sex", "region", "job", "illness"), Path(sys.argv[1])
values = ([str(age) for age in range(18, 81)], "mf", ("north", "south", "east"), ("clerk", "nurse", "baker"), "abcde")
rows = [",".join(names), *(",".join(draw.choice(texts) for texts in values) for _ in range(3_000))]
(folder / "rows.csv").write_text("\\n".join(rows))
columns = {name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}} for name in names[1:4]}
columns["age"] = {"role": "quasi-identifier", "hierarchy": {"type": "intervals", "widths": [5, 10, 20]}}
columns["illness"] = {"role": "sensitive"}
models = [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "column": "illness"}]
ran = set()
def count(frame, event, _):
    code = frame.f_code  # the first flag tells functions from bodies of classes
    if event == "call" and "/sfumato/" in code.co_filename and code.co_flags & 1 and not code.co_name.startswith("<"):
        ran.add((code.co_filename.partition("/sfumato/")[2], code.co_qualname))
threading.setprofile(count)
sys.setprofile(count)
import sfumato
sfumato.anonymize(folder / "rows.csv", {"version": 1, "columns": columns, "privacy": models}).save(folder / "out")
sys.setprofile(None)
loaded = [name.removeprefix("sfumato.") for name in sys.modules if name.startswith("sfumato.")]
print(json.dumps({"files": len({file for file, _ in ran}), "functions": len(ran), "loaded": loaded}))
"""
OTHERS = ("pipelines.persons", "pipelines.policy", "pipelines.suggest", "pipelines.release_stages.perturb", "web",
          "service", "attributes", "tables", "engines.dataframes", "hierarchies.role_detection.roles")  # fmt: skip


def test_a_small_release_runs_through_few_files_and_loads_what_its_plan_needs(tmp_path) -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path], capture_output=True, text=True, check=True)
    counted = json.loads(ran.stdout)
    assert (counted["files"] <= MOST_FILES, counted["functions"] <= MOST_FUNCTIONS) == (True, True), counted
    assert [name for name in counted["loaded"] if name.startswith(OTHERS)] == []
