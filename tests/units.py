"""Who runs which tests: a file is run by one worker, and so is all that needs Spark, and all that needs a browser.

What files set up is then set up once, and so are the two dearest things to start.
"""

import re
from collections import Counter

from xdist.scheduler import LoadScopeScheduling

# By what the names of tests say, the longest first.
UNITS = {
    "browser": re.compile(r"^tests/web/"),
    "spark": re.compile(r"spark|test_same_release"),
    "faults": re.compile(r"^tests/service/jobs/test_fault"),
    "loops": re.compile(r"/test_kernels\.py"),
}
# Seconds of processors that files take which take many for their tests; others count by these.
SECONDS = {
    "tests/pipelines/test_release_folder.py": 28,
    "tests/pipelines/test_suggest.py": 22,
    "tests/test_documentation.py": 22,
    "tests/service/jobs/test_routes.py": 22,
    "tests/attacks/test_attack_sample.py": 20,
    "tests/pipelines/test_persons.py": 18,
    "tests/pipelines/persons/test_earlier_releases.py": 18,
    "tests/frozen/test_frozen.py": 18,
    "tests/tables/linked/test_linked_tables.py": 16,
    "tests/attacks/test_sequences_of_releases.py": 15,
    "tests/pipelines/test_attack.py": 15,
    "tests/service/test_service.py": 13,
    "tests/microdata/models/test_brute_force.py": 13,
    "tests/microdata/methods/local_recoding/test_search.py": 13,
    "tests/test_definitions.py": 12,
    "tests/cli/test_serve.py": 12,
    "tests/microdata/methods/mondrian/test_search.py": 11,
    "tests/engines/test_one_text.py": 10,
    "tests/test_library.py": 10,
    "tests/pipelines/persons/test_linked_release.py": 10,
    "tests/tables/noise/test_public_classes.py": 10,
    "tests/engines/test_join.py": 9,
    "tests/pipelines/release_stages/test_perturb.py": 9,
    "tests/attacks/test_read_back.py": 9,
    "tests/tables/suppression/test_optimal.py": 8,
    "tests/report/release/test_sign_off.py": 8,
    "tests/test_formats.py": 8,
    "tests/pipelines/test_compare.py": 8,
    "tests/attacks/test_plans.py": 7,
    "tests/engines/test_agreement.py": 7,
    "tests/tables/cells/test_coordinates.py": 7,
    "tests/engines/test_beyond_memory.py": 7,
    "tests/test_package.py": 6,
    "tests/cli/test_anonymize.py": 6,
    "tests/cli/test_suggest.py": 6,
    "tests/tables/test_time_limit.py": 5,
    "tests/tables/test_random_hierarchies.py": 5,
    "tests/cli/test_bad_input.py": 5,
    "tests/cli/test_protect.py": 5,
}
SECONDS_OF_A_TEST = 0.1


def unit_of(name: str) -> str:
    """The unit of a test: one of those above, or its file."""
    return next((unit for unit, pattern in UNITS.items() if pattern.search(name)), name.split("::", 1)[0])


def places(names: list[str]) -> list[int]:
    """The order in which tests are handed out: the units above, then what takes long; the last ones are short."""
    units = [unit_of(name) for name in names]
    seconds = {unit: SECONDS.get(unit, SECONDS_OF_A_TEST * tests) for unit, tests in Counter(units).items()}
    ranks = {unit: place - len(UNITS) for place, unit in enumerate(UNITS)}
    return sorted(range(len(names)), key=lambda at: (ranks.get(units[at], 0), -seconds[units[at]], units[at]))


class Units(LoadScopeScheduling):
    """Gives workers one unit after the other, in the order of their first tests."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)
