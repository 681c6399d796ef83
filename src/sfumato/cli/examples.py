"""Examples for every command, shown at the end of its help."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "anonymize": (
        "sfumato anonymize plan.yaml --out release",
        "sfumato anonymize plan.yaml --data patients.parquet --memory-limit 2GB --out release",
    ),
    "apply": ("sfumato apply release/recoding.json new.csv --out new-release",),
    "risk": (
        "sfumato risk patients.csv --quasi-identifiers age,sex,zip",
        "sfumato risk patients.csv --plan plan.yaml --sampling-fraction 0.01 --html risk.html",
    ),
    "verify": (
        "sfumato verify release",
        "sfumato verify release-2026-01 release-2026-02",
        "sfumato verify data.csv --k 5 --quasi-identifiers age,sex,zip",
    ),
    "check": (
        "sfumato check release --policy ema-0070",
        "sfumato check data.csv --policy hipaa-safe-harbor --attest no-actual-knowledge='A. Lovelace'",
        "sfumato check table.csv --policy cms-11",
    ),
    "erase": ("sfumato erase release-2026-01 release-2026-02 --person p0000042",),
    "attack": (
        "sfumato attack release --raw patients.csv",
        "sfumato attack synthetic.csv --raw train.csv --control held-out.csv --sensitive income --fail-above 0.05",
    ),
    "compare": (
        "sfumato compare plan.yaml --k 2,5,10 --methods samarati,mondrian,optimal --out comparison",
        "sfumato compare plan.yaml --suppression 0,0.02,0.05 --out comparison",
    ),
    "report": (
        "sfumato report release --annex annex.md",
        "sfumato report release --pdf",
    ),
    "suggest": (
        "sfumato suggest patients.csv --out plan.yaml",
        "sfumato suggest patients.csv --separator ';' --encoding latin-1 > plan.yaml",
    ),
    "protect": (
        "sfumato protect table.yaml --out release",
        "sfumato protect --arb batch.arb",
    ),
    "audit": (
        "sfumato audit protected/table-external.csv --plan protected/plan.yaml",
        "sfumato audit one.csv two.csv --plan tables.yaml",
    ),
    "compare-tables": (
        "sfumato compare-tables table.yaml --out comparison",
        "sfumato compare-tables table.yaml --methods optimal,controlled,cell-key",
    ),
    "attributes": ("sfumato attributes records.json --configuration rules.yaml --out anonymized.json",),
    "serve": (
        "sfumato serve",
        "sfumato serve --port 8080 --jobs jobs",
    ),
    "keys": (
        "sfumato keys add ada --file keys.txt --scope jobs --expires 2027-01-01",
        "sfumato keys revoke ada --file keys.txt",
    ),
    "pseudonyms": (
        "sfumato pseudonyms new study.key --domain study",
        "sfumato pseudonyms reveal released --by ada --reason 'incidental finding' mfrggzdfmztwq2lk",
    ),
    "dataset": ("sfumato dataset census --rows 100000 --out census.parquet",),
    "hierarchy": ("sfumato hierarchy plan.yaml age",),
    "schema": ("sfumato schema --out schemas",),
    "demo": ("sfumato demo --out demo",),
    "export": ("sfumato export release/data.csv --labels survey.labels.json --out published.sav",),
    "docs": (
        "sfumato docs",
        "sfumato docs methods",
    ),
    "compile": ("sfumato compile",),
    "doctor": (
        "sfumato doctor",
        "sfumato doctor --json",
    ),
    "import": (
        "sfumato import survey.sav --out survey.csv",
        "sfumato import project.deid --out project",
        "sfumato import script.R --out project",
    ),
}


def epilog(command: str) -> str | None:
    """Return the examples of a command; the leading mark preserves line breaks."""
    lines = EXAMPLES.get(command)
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines) if lines else None
