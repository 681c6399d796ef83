# make demo | test | test-quick | check | docs | bench | prove | attack | fuzz | matrix | coverage | mutants | screenshots:
# each sets up what it needs in .venv.
PYTHON ?= python3
WORKERS ?= 3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CORE := $(VENV)/.core
KERNELS := $(VENV)/.kernels
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Workers and tests start hundreds of programs: what they import is compiled once.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test unsteady test-quick check docs bench bench-scale analysts peers peers-attacks prove attack fuzz matrix coverage mutants format schema pictures screenshots clean

demo: $(CORE)
	@rm -rf demo-release
	$(BIN)/sfumato demo --out demo-release

# Whole files go to workers, all of Spark and all of the browser to one each: tests/units.py. One more than the cores of
# a small machine: workers wait for servers, Spark and the browser.
test: $(READY) $(KERNELS)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --doctest-modules --durations=25 --durations-min=3 \
		$(or $(TESTS),src tests)

# At most three tests that failed on a loaded machine run once more, alone; what passes now is printed as unsteady, to be mended.
unsteady: $(READY) $(KERNELS)
	@$(BIN)/python -c "import json; failed = json.load(open('.pytest_cache/v/cache/lastfailed')); print('unsteady?', *failed, sep='\n  '); exit(len(failed) > 3)"
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none --doctest-modules src tests

# What changes most, without servers, browsers, Spark and whole releases.
QUICK := tests/microdata/plan tests/microdata/counts tests/microdata/losses tests/microdata/measures tests/hierarchies \
	tests/schema tests/localization tests/tables/linked tests/tables/test_build.py tests/tables/test_groups.py tests/tables/cells tests/tables/plan tests/tables/protection_levels \
	tests/attributes tests/test_delimited.py tests/microdata/test_verdict.py
# Of these, what takes seconds: many releases, long tables, everything that chance draws.
LONG := --ignore=tests/microdata/measures/test_label_coverage.py --ignore=tests/microdata/measures/uniques/test_special_uniques.py \
	--ignore=tests/tables/linked/test_linked_table.py --ignore=tests/tables/linked/test_unlinked_columns.py \
	--deselect=tests/hierarchies/role_detection/test_roles.py::test_whatever_is_suggested_accepts_the_values
test-quick: $(READY) $(KERNELS)
	$(BIN)/python -m pytest -n 2 --dist worksteal -q $(QUICK) $(LONG)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_imports.py
	$(BIN)/deptry src

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY) $(KERNELS)
	$(BIN)/python -m bench

bench-scale: $(READY) $(KERNELS)
	$(BIN)/python -m bench scale

# Every bar at full size; what is done for this commit is not done again.
prove: $(READY) $(KERNELS)
	$(BIN)/python tools/prove.py $(PROOFS)

# Releases and tables drawn at random, judged by their published files with a program written apart.
attack: $(READY) $(KERNELS)
	$(BIN)/python tools/attack/run.py --releases $(or $(RELEASES),1000) --tables $(or $(TABLES),500) --seed $(or $(SEED),0)

# Damaged files against every reader, for so many seconds.
fuzz: $(READY)
	$(BIN)/python tools/fuzz.py $(or $(SECONDS),300)

# Other packages of the field on the same file, in an environment of their own: DATA=folder of adult.csv, RELEASE=data.csv.
peers:
	test -x .peers/bin/python || $(PYTHON) -m venv .peers
	.peers/bin/pip install --quiet anjana pycanon
	.peers/bin/python bench/peers.py $(DATA) $(RELEASE) $(or $(ROWS),3000)

# What proposed plans keep of the answers of analysts' questions: DATA=folder of CSV files and known.json, FOR=--for.
analysts: $(READY) $(KERNELS)
	$(BIN)/python -m bench.analysts $(DATA) $(FOR)

# Attacks side by side with anonymeter, which pins an old NumPy: in an environment of its own.
peers-attacks: $(READY) $(KERNELS)
	test -x .peers-attacks/bin/python || $(PYTHON) -m venv .peers-attacks
	.peers-attacks/bin/pip install --quiet anonymeter
	@mkdir -p .peers-attacks/data
	$(BIN)/python bench/peer_attacks.py write .peers-attacks/data $(or $(ROWS),5000)
	cd .peers-attacks/data && ../bin/python ../../bench/peer_attacks.py peer published.csv raw.csv control.csv 1000
	cd .peers-attacks/data && ../../$(BIN)/python ../../bench/peer_attacks.py own published.csv raw.csv control.csv 1000

# The documentation as a site, in site/; a warning is an error.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "site/index.html"

pictures: $(READY)
	$(BIN)/python tools/draw_methods.py docs/images/methods

# The quick tests on every Python that is here, with the oldest and the newest dependencies.
matrix:
	$(PYTHON) tools/matrix.py $(VERSIONS)

# Branches of microdata, tables and attributes that the tests run; compiled loops are run as Python, too.
coverage: $(READY)
	$(BIN)/python tools/coverage_of.py $(TESTS)

# Planted faults in verification, recoding, prediction and audit: a test must notice each.
mutants: $(READY)
	$(BIN)/python tools/mutants.py $(or $(MUTANTS),10) $(FILES)

screenshots: $(READY)
	$(BIN)/python tools/screenshots.py docs/images

schema: $(CORE)
	$(BIN)/sfumato schema --out docs

# The development environment holds every extra; the demo needs the core alone.
$(READY): pyproject.toml constraints.txt | $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $(READY) $(CORE)

# What the loops are built with comes first, once: then they are built, and the package linked, while the rest is
# installed. Of installed files only those that are imported are compiled, when they are.
PIP_CORE := $(BIN)/pip install --quiet --no-compile --constraint constraints.txt
$(CORE): pyproject.toml constraints.txt | $(VENV)
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' > $(VENV)/core.txt
	$(PIP_CORE) hatchling editables numpy msgspec pyyaml
	$(PIP_CORE) --no-build-isolation --no-deps --editable . & \
	$(PIP_CORE) --requirement $(VENV)/core.txt && wait $$!
	@touch $(CORE)

# Loops are built again when one of their sources changes.
$(KERNELS): $(shell find src -name '*kernels.py') $(shell find src/sfumato/native -name '*.py' -o -name '*.h') | $(VENV)
	@$(BIN)/python -m sfumato.native.build || true
	@touch $(KERNELS)

$(VENV):
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) .peers .peers-attacks build dist site demo-release
