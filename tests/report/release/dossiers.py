"""What the reports of a release are made of, as its folder has it."""

from sfumato.microdata.methods.full_domain.search import alternatives
from sfumato.report.release.column_evidence import ReportData, gather
from sfumato.report.release.report import files as report_files


def dossier_of(release, **more):
    """What the reports of a release are made of."""
    evidence = gather(release.plan, release.table, release.recoding)
    others = alternatives(release.plan, release.table, release.recoding)
    return ReportData(release.report, release.plan, evidence, others, **more)


def files(release):
    """The reports of a release by their names, as its folder holds them."""
    return report_files(dossier_of(release))
