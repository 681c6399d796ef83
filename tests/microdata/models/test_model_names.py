"""Models by their names: each stands under its own, kinds are told as by their classes, and others stay unloaded."""

import subprocess
import sys

import pytest

from sfumato.microdata.models import registry as model_names
from sfumato.microdata.models.differential_privacy import DifferentialPrivacy
from sfumato.microdata.models.k_anonymity import AlphaKAnonymity
from sfumato.microdata.models.population_lists import DeltaPresence, KMap
from sfumato.microdata.models.re_identification_risk import GlobalRisk, IndividualRisk
from sfumato.microdata.models.registry import SHAPES
from sfumato.microdata.models.t_closeness import TCloseness
from sfumato.microdata.models.uniqueness import PopulationUniqueness

KINDS = {
    model_names.is_alpha_k_anonymity: {AlphaKAnonymity},
    model_names.is_delta_presence: {DeltaPresence},
    model_names.is_differential_privacy: {DifferentialPrivacy},
    model_names.is_k_map: {KMap},
    model_names.is_t_closeness: {TCloseness},
    model_names.is_estimated: {IndividualRisk, GlobalRisk, PopulationUniqueness},
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_model_stands_under_its_own_name(name) -> None:
    assert SHAPES[name].make.name == name


@pytest.mark.parametrize("tells", KINDS)
def test_a_kind_is_told_by_the_name_of_its_class(tells) -> None:
    assert {shape.make for shape in SHAPES.values() if tells(shape.make)} == KINDS[tells]


def test_a_plan_loads_the_models_and_hierarchies_that_it_names() -> None:
    script = (
        "import sys\nfrom sfumato.microdata.plan.read import read_plan\n"
        "column = {'role': 'quasi-identifier', 'hierarchy': {'type': 'any'}}\n"
        "read_plan({'version': 1, 'columns': {'a': column}, 'privacy': [{'model': 'k-anonymity', 'k': 5}]})\n"
        "unasked = ['microdata.models.t_closeness', 'microdata.models.k_map', 'hierarchies.tree', 'hierarchies.file']\n"
        "print([name for name in unasked if 'sfumato.' + name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
