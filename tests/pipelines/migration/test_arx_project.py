"""Projects of ARX: made here as ARX lays them out, read into plans that run."""

from zipfile import ZipFile

import pytest

import sfumato as sf
from sfumato.pipelines.migration.arx_project import losses_of, model_of, read_arx
from sfumato.pipelines.migration.project import export

ROWS = "name;age;zip code;illness;note\n" + "".join(
    f"p{row};{20 + row % 30};{10 + row % 3}00;{('flu', 'cold', 'cough')[row % 3]};x\n" for row in range(90)
)
AGES = "".join(f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};*\n" for age in range(20, 50))
ZIPS = "1000;10**;*\n1100;11**;*\n1200;12**;*\n"
DEFINITION = """<definition>
\t<assigment><name>name</name><type>IDENTIFYING_ATTRIBUTE</type><datatype>String</datatype></assigment>
\t<assigment><name>age</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><datatype>Integer</datatype>
\t\t<ref>hierarchies/age.csv</ref><min>1</min><max>All</max></assigment>
\t<assigment><name>zip code</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><datatype>String</datatype>
\t\t<ref>hierarchies/zip code.csv</ref><min>All</min><max>2</max></assigment>
\t<assigment><name>illness</name><type>SENSITIVE_ATTRIBUTE</type><datatype>String</datatype>
\t\t<responseVariable>true</responseVariable></assigment>
\t<assigment><name>note</name><type>INSENSITIVE_ATTRIBUTE</type><datatype>String</datatype></assigment>
</definition>
"""
CONFIG = """<config>
\t<suppressTuplesInNonAnonymousOutput>true</suppressTuplesInNonAnonymousOutput>
\t<relativeMaxOutliers>0.05</relativeMaxOutliers>
\t<metric>Loss (Geometric Mean)</metric>
\t<attributeWeights>
\t\t<attributeWeight><attribute>age</attribute><weight>0.75</weight></attributeWeight>
\t\t<attributeWeight><attribute>zip code</attribute><weight>0.5</weight></attributeWeight>
\t</attributeWeights>
\t<criteria>
\t\t<criterion>3-anonymity</criterion>
\t\t<criterion>distinct-2-diversity for attribute 'illness'</criterion>
\t\t<criterion>(0.1,0.4)-presence</criterion>
\t</criteria>
</config>
"""
ENTRIES = {
    "metadata.xml": "<metadata>\n\t<version>3.9.1</version>\n\t<vocabulary>2.0</vocabulary>\n</metadata>\n",
    "project.xml": "<project>\n\t<name>sample</name>\n\t<separator>;</separator>\n</project>\n",
    "data/input.csv": ROWS,
    "input/config.xml": CONFIG,
    "input/definition.xml": DEFINITION,
    "input/hierarchies/age.csv": AGES,
    "input/hierarchies/zip code.csv": ZIPS,
    "lattice.dat": "objects",
}


def project(path, **changes):
    with ZipFile(path, "w") as archive:
        for name, text in (ENTRIES | changes).items():
            if text is not None:
                archive.writestr(name, text)
    return path


def test_a_project_becomes_a_plan_that_runs(sfumato, tmp_path):
    ran = sfumato("import", project(tmp_path / "sample.deid"), "--out", tmp_path / "project")
    assert ran.code == 0, ran.err
    assert "left out: Privacy model: (0.1,0.4)-presence." in ran.out
    assert "left out: What ARX had found: the solution space" in ran.out
    plan = sf.read_plan(tmp_path / "project" / "plan.yaml")
    assert {name: column.role for name, column in plan.columns.items()} == {
        "name": "identifier",
        "age": "quasi-identifier",
        "zip code": "quasi-identifier",
        "illness": "sensitive",
        "note": "insensitive",
    }
    assert (plan.columns["age"].min_level, plan.columns["age"].weight) == (1, 1.5)
    assert plan.columns["zip code"].max_level == 2
    assert plan.privacy == (sf.KAnonymity(3), sf.LDiversity(2, "illness"))
    assert plan.method == sf.Optimal(aggregate="geometric", suppression=sf.Suppression(share=0.05))
    assert plan.utility.target == "illness"
    assert (tmp_path / "project" / "left-out.txt").read_text().count("\n") == 2
    release = sf.anonymize(None, tmp_path / "project" / "plan.yaml")
    assert release.report.satisfied
    assert release.report.levels["age"] >= 1
    release.close()


def test_names_are_read_as_arx_escapes_them(sfumato, tmp_path):
    """It writes what is not ASCII, and signs of XML, as entities; names of files in the zip as they are."""
    name, escaped = "Größe & Gewicht", "Gr&#246;&#223;e &amp; Gewicht"
    changes = {
        "data/input.csv": ROWS.replace("zip code", name),
        "input/definition.xml": DEFINITION.replace("zip code", escaped),
        "input/config.xml": CONFIG.replace("zip code", escaped),
        "input/hierarchies/zip code.csv": None,
        f"input/hierarchies/{name}.csv": ZIPS,
    }
    ran = sfumato("import", project(tmp_path / "sample.deid", **changes), "--out", tmp_path / "project")
    assert ran.code == 0, ran.err
    plan = sf.read_plan(tmp_path / "project" / "plan.yaml")
    assert plan.columns[name].hierarchy.path.endswith("Gr-e-Gewicht.csv")
    release = sf.anonymize(None, tmp_path / "project" / "plan.yaml")
    assert release.report.satisfied
    release.close()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"input/config.xml": None}, "no configuration"),
        ({"input/definition.xml": "<definition"}, "no XML"),
        ({"input/config.xml": '<!DOCTYPE x [<!ENTITY a "b">]><config>&a;</config>'}, "document type"),
    ],
)
def test_what_is_no_project_is_refused(sfumato, tmp_path, changes, words):
    ran = sfumato("import", project(tmp_path / "sample.deid", **changes), "--out", tmp_path / "project")
    assert ran.code == 3
    assert words in ran.err
    assert not (tmp_path / "project").exists()


def test_other_files_are_refused(sfumato, tmp_path):
    (tmp_path / "sample.deid").write_text("no zip")
    assert sfumato("import", tmp_path / "sample.deid", "--out", tmp_path / "out").code == 3
    assert sfumato("import", tmp_path / "nowhere.deid", "--out", tmp_path / "out").code == 5
    assert sfumato("import", tmp_path / "plan.yaml", "--out", tmp_path / "out").code != 0


def test_a_project_without_rows_says_so(tmp_path):
    imported = read_arx(project(tmp_path / "sample.deid", **{"data/input.csv": None}))
    assert "source" not in imported.plan["data"]
    assert any("no rows" in line for line in imported.left_out)


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("5-anonymity", {"model": "k-anonymity", "k": 5}),
        (
            "entropy-2.5-diversity for attribute 'a'",
            {"model": "l-diversity", "l": 2.5, "variant": "entropy", "column": "a"},
        ),
        (
            "shannon-entropy-3.0-diversity for attribute 'a'",
            {"model": "l-diversity", "l": 3.0, "variant": "entropy", "column": "a"},
        ),
        (
            "recursive-(4.0,3)-diversity for attribute 'a b'",
            {"model": "l-diversity", "l": 3, "variant": "recursive", "c": 4.0, "column": "a b"},
        ),
        (
            "0.2-closeness with equal distance for attribute 'a'",
            {"model": "t-closeness", "t": 0.2, "distance": "equal", "column": "a"},
        ),
        (
            "0.2-closeness with ordered distance for attribute 'a'",
            {"model": "t-closeness", "t": 0.2, "distance": "ordered", "column": "a"},
        ),
        ("1.0-disclosure privacy for attribute 'a'", {"model": "delta-disclosure", "delta": 1.0, "column": "a"}),
        (
            "enhanced-2.0-likeness for attribute 'a'",
            {"model": "beta-likeness", "beta": 2.0, "variant": "enhanced", "column": "a"},
        ),
        ("(<0.05)-sample-uniques", {"model": "sample-uniqueness", "threshold": 0.05}),
        ("0.2-closeness with hierarchical ground-distance for attribute 'a'", None),
        ("(e,d)-differential-privacy", None),
    ],
)
def test_models_by_the_texts_of_arx(text, model):
    assert model_of(text, {}) == model
    if model is not None:
        assert (
            sf.read_plan(
                {
                    "version": 1,
                    "columns": {
                        "q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
                        "a": {"role": "sensitive"},
                        "a b": {"role": "sensitive"},
                    },
                    "privacy": [model],
                }
            )
            .privacy[0]
            .name
            == model["model"]
        )


@pytest.mark.parametrize(
    ("metric", "loss"),
    [
        ("Discernability", ("discernibility", None)),
        ("Non-uniform entropy", ("non-uniform-entropy", None)),
        ("Average equivalence class size", ("average-class-size", None)),
        ("Loss (Arithmetic Mean)", ("loss-metric", "mean")),
        ("Publisher payout", (None, None)),
    ],
)
def test_measures_by_the_names_of_arx(metric, loss):
    assert losses_of(metric) == loss


@pytest.mark.parametrize(("tool", "separator"), [("arx", ";"), ("sdcmicro", ",")])
def test_hierarchies_and_results_go_back(tmp_path, tool, separator):
    read_arx(project(tmp_path / "sample.deid")).save(tmp_path / "project")
    release = sf.anonymize(None, tmp_path / "project" / "plan.yaml")
    folder = export(release, tmp_path / "back", tool)
    release.close()
    lines = (folder / "data.csv").read_text().splitlines()
    assert lines[0] == separator.join(["name", "age", "zip code", "illness", "note"])
    assert len(lines) == 91
    ladder = [line.split(separator) for line in (folder / "hierarchies" / "age.csv").read_text().splitlines()]
    assert ladder == [line.split(";") for line in AGES.splitlines()]
    assert (folder / "hierarchies" / "zip-code.csv").exists()
