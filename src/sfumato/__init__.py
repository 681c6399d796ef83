"""Sfumato: publish data about people without betraying anyone.

The names below are loaded on first use, so that importing the package is fast.
"""

from typing import TYPE_CHECKING

from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato import datasets as datasets
    from sfumato.errors import DataError as DataError
    from sfumato.errors import EngineError as EngineError
    from sfumato.errors import InternalError as InternalError
    from sfumato.errors import PlanError as PlanError
    from sfumato.errors import SfumatoError as SfumatoError
    from sfumato.errors import UnattainableError as UnattainableError
    from sfumato.errors import ViolationError as ViolationError
    from sfumato.hierarchies.builders import dates as dates
    from sfumato.hierarchies.builders import digits as digits
    from sfumato.hierarchies.builders import hierarchy_file as hierarchy_file
    from sfumato.hierarchies.builders import intervals as intervals
    from sfumato.hierarchies.builders import order as order
    from sfumato.hierarchies.builders import suppress_all as suppress_all
    from sfumato.hierarchies.builders import tree as tree
    from sfumato.microdata.data_plan import DataPlan as DataPlan
    from sfumato.microdata.models.differential_privacy import DifferentialPrivacy as DifferentialPrivacy
    from sfumato.microdata.models.k_anonymity import AlphaKAnonymity as AlphaKAnonymity
    from sfumato.microdata.models.k_anonymity import KAnonymity as KAnonymity
    from sfumato.microdata.models.k_e_anonymity import KEAnonymity as KEAnonymity
    from sfumato.microdata.models.l_diversity import LDiversity as LDiversity
    from sfumato.microdata.models.likeness import BetaLikeness as BetaLikeness
    from sfumato.microdata.models.likeness import DeltaDisclosure as DeltaDisclosure
    from sfumato.microdata.models.population_lists import DeltaPresence as DeltaPresence
    from sfumato.microdata.models.population_lists import KMap as KMap
    from sfumato.microdata.models.population_lists import Subset as Subset
    from sfumato.microdata.models.re_identification_risk import AverageRisk as AverageRisk
    from sfumato.microdata.models.re_identification_risk import GlobalRisk as GlobalRisk
    from sfumato.microdata.models.re_identification_risk import IndividualRisk as IndividualRisk
    from sfumato.microdata.models.t_closeness import TCloseness as TCloseness
    from sfumato.microdata.models.uniqueness import PopulationUniqueness as PopulationUniqueness
    from sfumato.microdata.models.uniqueness import SampleUniqueness as SampleUniqueness
    from sfumato.microdata.perturbation.plan import Microaggregate as Microaggregate
    from sfumato.microdata.perturbation.plan import Noise as Noise
    from sfumato.microdata.perturbation.plan import Pram as Pram
    from sfumato.microdata.perturbation.plan import RankSwap as RankSwap
    from sfumato.microdata.perturbation.plan import SwapHouseholds as SwapHouseholds
    from sfumato.microdata.plan.builder import Plan as Plan
    from sfumato.microdata.plan.methods import Auto as Auto
    from sfumato.microdata.plan.methods import Exhaustive as Exhaustive
    from sfumato.microdata.plan.methods import Greedy as Greedy
    from sfumato.microdata.plan.methods import KOptimize as KOptimize
    from sfumato.microdata.plan.methods import Local as Local
    from sfumato.microdata.plan.methods import LocalSuppression as LocalSuppression
    from sfumato.microdata.plan.methods import Microaggregation as Microaggregation
    from sfumato.microdata.plan.methods import Mondrian as Mondrian
    from sfumato.microdata.plan.methods import Optimal as Optimal
    from sfumato.microdata.plan.methods import SafePub as SafePub
    from sfumato.microdata.plan.methods import Samarati as Samarati
    from sfumato.microdata.plan.methods import Suppression as Suppression
    from sfumato.microdata.plan.model import ColumnPlan as ColumnPlan
    from sfumato.microdata.plan.parts import FilePlan as FilePlan
    from sfumato.microdata.plan.parts import OutputPlan as OutputPlan
    from sfumato.microdata.plan.parts import UtilityPlan as UtilityPlan
    from sfumato.microdata.plan.read import read_plan as read_plan
    from sfumato.microdata.publish_plan import PublishPlan as PublishPlan
    from sfumato.microdata.release_report import Report as Report
    from sfumato.microdata.verdict import Guarantee as Guarantee
    from sfumato.microdata.verdict import Verdict as Verdict
    from sfumato.pipelines.attack import AttackReport as AttackReport
    from sfumato.pipelines.attack import attack as attack
    from sfumato.pipelines.attributes import anonymize_attributes as anonymize_attributes
    from sfumato.pipelines.compare import Comparison as Comparison
    from sfumato.pipelines.compare import compare as compare
    from sfumato.pipelines.migration.project import export as export
    from sfumato.pipelines.persons.linked_files import FilesRelease as FilesRelease
    from sfumato.pipelines.persons.linked_release import anonymize_files as anonymize_files
    from sfumato.pipelines.persons.match_persons import verify_together as verify_together
    from sfumato.pipelines.persons.pseudonyms import erase as erase
    from sfumato.pipelines.persons.pseudonyms import reveal as reveal
    from sfumato.pipelines.policy_check import check as check
    from sfumato.pipelines.release import anonymize as anonymize
    from sfumato.pipelines.release_folder import Release as Release
    from sfumato.pipelines.risk import RiskReport as RiskReport
    from sfumato.pipelines.risk import risk as risk
    from sfumato.pipelines.sklearn_transformer import Anonymizer as Anonymizer
    from sfumato.pipelines.suggest import suggest as suggest
    from sfumato.pipelines.tables.audit import audit as audit
    from sfumato.pipelines.tables.compare_tables import TableComparison as TableComparison
    from sfumato.pipelines.tables.compare_tables import compare_tables as compare_tables
    from sfumato.pipelines.tables.protect import protect as protect
    from sfumato.pipelines.tables.protect import suppress as suppress
    from sfumato.pipelines.tables.table_release import PerturbedTable as PerturbedTable
    from sfumato.pipelines.tables.table_release import PerturbedTables as PerturbedTables
    from sfumato.pipelines.tables.table_release import ProtectedTable as ProtectedTable
    from sfumato.pipelines.tables.table_release import ProtectedTables as ProtectedTables
    from sfumato.pipelines.tables.table_source import tabulate as tabulate
    from sfumato.pipelines.verify import verify as verify
    from sfumato.policies.policy import PolicyVerdict as PolicyVerdict
    from sfumato.schema.release_plan import ReleasePlan as ReleasePlan
    from sfumato.service.client import Client as Client
    from sfumato.tables.attack.findings import Audit as Audit
    from sfumato.tables.plan.table_plan import TablePlan as TablePlan

# Module -> the public names that live there.
_HOMES = {
    "errors": (
        "DataError",
        "EngineError",
        "InternalError",
        "PlanError",
        "ViolationError",
        "SfumatoError",
        "UnattainableError",
    ),
    "hierarchies.builders": (
        "suppress_all",
        "dates",
        "digits",
        "hierarchy_file",
        "intervals",
        "order",
        "tree",
    ),
    "microdata.data_plan": ("DataPlan",),
    "microdata.models.differential_privacy": ("DifferentialPrivacy",),
    "microdata.models.k_anonymity": ("AlphaKAnonymity", "KAnonymity"),
    "microdata.models.k_e_anonymity": ("KEAnonymity",),
    "microdata.models.l_diversity": ("LDiversity",),
    "microdata.models.likeness": ("BetaLikeness", "DeltaDisclosure"),
    "microdata.models.population_lists": ("DeltaPresence", "KMap", "Subset"),
    "microdata.models.re_identification_risk": ("AverageRisk", "GlobalRisk", "IndividualRisk"),
    "microdata.models.t_closeness": ("TCloseness",),
    "microdata.models.uniqueness": ("PopulationUniqueness", "SampleUniqueness"),
    "microdata.release_report": ("Report",),
    "microdata.plan.builder": ("Plan",),
    "microdata.plan.parts": ("FilePlan", "OutputPlan", "UtilityPlan"),
    "microdata.plan.methods": (
        "Auto",
        "LocalSuppression",
        "Exhaustive",
        "Greedy",
        "KOptimize",
        "Local",
        "Microaggregation",
        "Mondrian",
        "Optimal",
        "SafePub",
        "Samarati",
        "Suppression",
    ),
    "microdata.plan.model": ("ColumnPlan",),
    "schema.release_plan": ("ReleasePlan",),
    "microdata.plan.read": ("read_plan",),
    "microdata.perturbation.plan": ("Microaggregate", "Noise", "Pram", "RankSwap", "SwapHouseholds"),
    "microdata.publish_plan": ("PublishPlan",),
    "microdata.verdict": (
        "Guarantee",
        "Verdict",
    ),
    "pipelines.attack": ("AttackReport", "attack"),
    "pipelines.attributes": ("anonymize_attributes",),
    "pipelines.migration.project": ("export",),
    "pipelines.compare": (
        "Comparison",
        "compare",
    ),
    "pipelines.policy_check": ("check",),
    "pipelines.persons.match_persons": ("verify_together",),
    "pipelines.persons.linked_files": ("FilesRelease",),
    "pipelines.persons.linked_release": ("anonymize_files",),
    "pipelines.release": ("anonymize",),
    "pipelines.release_folder": ("Release",),
    "pipelines.persons.pseudonyms": ("erase", "reveal"),
    "pipelines.risk": (
        "RiskReport",
        "risk",
    ),
    "pipelines.suggest": ("suggest",),
    "pipelines.tables.audit": ("audit",),
    "pipelines.tables.compare_tables": ("TableComparison", "compare_tables"),
    "pipelines.tables.protect": ("protect", "suppress"),
    "pipelines.tables.table_release": ("PerturbedTable", "PerturbedTables", "ProtectedTable", "ProtectedTables"),
    "pipelines.tables.table_source": ("tabulate",),
    "pipelines.sklearn_transformer": ("Anonymizer",),
    "pipelines.verify": ("verify",),
    "policies.policy": ("PolicyVerdict",),
    "service.client": ("Client",),
    "tables.attack.findings": ("Audit",),
    "tables.plan.table_plan": ("TablePlan",),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}
__all__ = ["__version__", "datasets", *_MODULES]  # noqa: PLE0604  (the names are texts)

if not TYPE_CHECKING:  # type checkers know the names above, and no others

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "datasets":
            return import_module("sfumato.datasets")
        if name not in _MODULES:
            raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
        return getattr(import_module(f"sfumato.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
