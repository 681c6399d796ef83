"""Models by their names: each has its own, and others stay unloaded."""

import subprocess
import sys

import pytest

from sfumato.microdata.models.registry import SHAPES


@pytest.mark.parametrize("name", SHAPES)
def test_a_model_stands_under_its_own_name(name) -> None:
    assert SHAPES[name].make.name == name


def test_a_plan_loads_the_models_and_hierarchies_that_it_names() -> None:
    script = (
        "import sys\nfrom sfumato.microdata.plan.read import read_plan\n"
        "column = {'role': 'quasi-identifier', 'hierarchy': {'type': 'any'}}\n"
        "read_plan({'version': 1, 'columns': {'a': column}, 'privacy': [{'model': 'k-anonymity', 'k': 5}]})\n"
        "unasked = ['microdata.models.t_closeness', 'microdata.models.population_lists', 'hierarchies.dates']\n"
        "print([name for name in unasked if 'sfumato.' + name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
