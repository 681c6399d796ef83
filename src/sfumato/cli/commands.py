"""The commands in the order of the help: the module of each, which is loaded when the command is used, and examples."""


class Command:
    """A command: its module in this folder, and examples for the end of its help."""

    def __init__(self, module: str, examples: tuple[str, ...]) -> None:
        self.module, self.examples = module, examples

    @property
    def epilog(self) -> str:
        """The examples as a paragraph of the help; the leading mark preserves line breaks."""
        return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in self.examples)


COMMANDS = {
    "anonymize": Command(
        "release",
        (
            "sfumato anonymize plan.yaml --out release",
            "sfumato anonymize plan.yaml --data patients.parquet --memory-limit 2GB --out release",
        ),
    ),
    "apply": Command("release", ("sfumato apply release/recoding.json new.csv --out new-release",)),
    "risk": Command(
        "risk",
        (
            "sfumato risk patients.csv --quasi-identifiers age,sex,zip",
            "sfumato risk patients.csv --plan plan.yaml --sampling-fraction 0.01 --html risk.html",
        ),
    ),
    "verify": Command(
        "release",
        (
            "sfumato verify release",
            "sfumato verify release-2026-01 release-2026-02",
            "sfumato verify data.csv --k 5 --quasi-identifiers age,sex,zip",
        ),
    ),
    "check": Command(
        "risk",
        (
            "sfumato check release --policy ema-0070",
            "sfumato check data.csv --policy hipaa-safe-harbor --attest no-actual-knowledge='A. Lovelace'",
            "sfumato check table.csv --policy cms-11",
        ),
    ),
    "attack": Command(
        "risk",
        (
            "sfumato attack release --raw patients.csv",
            "sfumato attack synthetic.csv --raw train.csv --control held-out.csv --sensitive income --fail-above 0.05",
        ),
    ),
    "erase": Command("release", ("sfumato erase release-2026-01 release-2026-02 --person p0000042",)),
    "compare": Command(
        "risk",
        (
            "sfumato compare plan.yaml --k 2,5,10 --methods samarati,mondrian,optimal --out comparison",
            "sfumato compare plan.yaml --suppression 0,0.02,0.05 --out comparison",
        ),
    ),
    "report": Command(
        "documents",
        (
            "sfumato report release --annex annex.md",
            "sfumato report release --pdf",
        ),
    ),
    "suggest": Command(
        "suggest",
        (
            "sfumato suggest patients.csv --out plan.yaml",
            "sfumato suggest patients.csv --separator ';' --encoding latin-1 > plan.yaml",
        ),
    ),
    "protect": Command(
        "tables",
        (
            "sfumato protect table.yaml --out release",
            "sfumato protect --arb batch.arb",
        ),
    ),
    "audit": Command(
        "tables",
        (
            "sfumato audit protected/table-external.csv --plan protected/plan.yaml",
            "sfumato audit one.csv two.csv --plan tables.yaml",
        ),
    ),
    "compare-tables": Command(
        "tables",
        (
            "sfumato compare-tables table.yaml --out comparison",
            "sfumato compare-tables table.yaml --methods optimal,controlled,cell-key",
        ),
    ),
    "attributes": Command(
        "records", ("sfumato attributes records.json --configuration rules.yaml --out anonymized.json",)
    ),
    "serve": Command(
        "serve",
        (
            "sfumato serve",
            "sfumato serve --port 8080 --jobs jobs",
        ),
    ),
    "keys": Command(
        "keys",
        (
            "sfumato keys add ada --file keys.txt --scope jobs --expires 2027-01-01",
            "sfumato keys revoke ada --file keys.txt",
        ),
    ),
    "pseudonyms": Command(
        "keys",
        (
            "sfumato pseudonyms new study.key --domain study",
            "sfumato pseudonyms reveal released --by ada --reason 'incidental finding' mfrggzdfmztwq2lk",
        ),
    ),
    "dataset": Command("suggest", ("sfumato dataset census --rows 100000 --out census.parquet",)),
    "hierarchy": Command("suggest", ("sfumato hierarchy plan.yaml age",)),
    "import": Command(
        "records",
        (
            "sfumato import survey.sav --out survey.csv",
            "sfumato import project.deid --out project",
            "sfumato import script.R --out project",
        ),
    ),
    "export": Command("records", ("sfumato export release/data.csv --labels survey.labels.json --out published.sav",)),
    "schema": Command("documents", ("sfumato schema --out schemas",)),
    "docs": Command(
        "documents",
        (
            "sfumato docs",
            "sfumato docs methods",
        ),
    ),
    "doctor": Command(
        "doctor",
        (
            "sfumato doctor",
            "sfumato doctor --json",
        ),
    ),
    "compile": Command("doctor", ("sfumato compile",)),
    "demo": Command("suggest", ("sfumato demo --out demo",)),
}
