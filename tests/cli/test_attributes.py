"""`sfumato attributes`: files in, files out, the same answers as the service."""

import csv
import json

import pytest

from sfumato.cli.main import run

CONFIGURATION = {
    "name": {"anonymisationType": "Masking", "dataType": "String"},
    "pay": {"anonymisationType": "Generalization", "dataType": "Numeric"},
}
ROWS = [("Ada", "10"), ("Bob", "20"), ("", "30"), ("Dee", "")]
EXPECTED = [("*****", "<= 25.0"), ("*****", "<= 25.0"), ("", ">= 25.0"), ("*****", "")]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "data.csv").write_text(
        "name,pay\n" + "".join(f"{name},{pay}\n" for name, pay in ROWS), encoding="utf-8"
    )
    records = [{"name": name or None, "pay": int(pay) if pay else None} for name, pay in ROWS]
    (tmp_path / "data.json").write_text(json.dumps({"data": records}))
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "configuration.json").write_text(json.dumps(CONFIGURATION))
    return tmp_path


def attributes(folder, data, out, *more):
    configuration = str(folder / "configuration.json")
    options = ["--configuration", configuration, "--out", str(folder / out), "--buckets", "2", *more]
    return run(["attributes", str(folder / data), *options])


def rows_of(path):
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return [(row["name"], row["pay"]) for row in csv.DictReader(file)]
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        records = pq.read_table(path).to_pylist()
    elif path.suffix == ".jsonl":
        records = [json.loads(line) for line in path.read_text().splitlines()]
    else:
        records = json.loads(path.read_text())
    return [(record["name"] or "", record["pay"] or "") for record in records]


@pytest.mark.parametrize("data", ["data.csv", "data.json", "data.jsonl"])
@pytest.mark.parametrize("out", ["out.csv", "out.json", "out.jsonl", "out.parquet"])
def test_every_format(files, data, out):
    assert attributes(files, data, out, "--quiet") == 0
    assert rows_of(files / out) == EXPECTED


def test_parquet_in(files):
    assert attributes(files, "data.json", "first.parquet") == 0
    assert attributes(files, "first.parquet", "second.csv", "--buckets", "1") == 3  # labels are no numbers
    assert not (files / "second.csv").exists()


def test_graph_from_a_file(files):
    (files / "g.ttl").write_text(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix soya: <https://w3id.org/soya/ns#> .\n"
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix : <https://p.example/> .\n"
        ":pay rdfs:domain :P ; rdfs:range xsd:integer ; soya:classification soya:generalization .\n"
    )
    options = ["--configuration", str(files / "g.ttl"), "--out", str(files / "out.csv")]
    assert run(["attributes", str(files / "data.csv"), *options]) == 0
    with (files / "out.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert json.loads(first["pay_range"]) == {"min": 10.0, "max": 30.0}
    assert first["name"] == "Ada"


def test_figures_as_json(files, capsys):
    assert attributes(files, "data.csv", "out.csv", "--json") == 0
    captured = capsys.readouterr()
    figures = json.loads(captured.out)
    assert figures["records"] == 4
    assert figures["kpis"]["kAnonymity"] == 1
    assert "Warning: kAnonymity is 1" in captured.err


def test_exit_codes_and_no_value_in_messages(files, capsys):
    (files / "bad.csv").write_text("name,pay\nAda,Geheimnis\nBob,3\n")
    assert attributes(files, "bad.csv", "out.csv") == 3
    assert "Geheimnis" not in capsys.readouterr().err
    assert not (files / "out.csv").exists()
    assert attributes(files, "missing.csv", "out.csv") == 3
    assert attributes(files, "data.csv", "out.xyz") == 3
    assert attributes(files, "data.csv", "out.csv", "--buckets", "x") == 2
    (files / "ragged.csv").write_text("name,pay\nAda\n")
    assert attributes(files, "ragged.csv", "out.csv") == 3
    (files / "wrong.json").write_text("[1]")
    assert attributes(files, "wrong.json", "out.csv") == 3
    refused = ["--configuration", "http://127.0.0.1/c", "--out", str(files / "out.csv")]
    assert run(["attributes", str(files / "data.csv"), *refused]) == 2
    assert "inside the network" in capsys.readouterr().err
    assert not list(files.glob(".*.part"))


GRAPH = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix soya: <https://w3id.org/soya/ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix : <https://p.example/> .
:name rdfs:domain :P ; rdfs:range xsd:string ; soya:classification soya:masking .
"""


def with_graph(folder, content, *more):
    (folder / "in.csv").write_text(content, encoding="utf-8-sig")
    (folder / "g.ttl").write_text(GRAPH)
    options = ["--configuration", str(folder / "g.ttl"), "--out", str(folder / "out.csv"), *more]
    return run(["attributes", str(folder / "in.csv"), *options])


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
def test_the_separator_is_found_out(files, separator):
    rows = ["name,pay", '"Ada\n1",10', "Bob,20"]
    assert with_graph(files, "\n".join(row.replace(",", separator) for row in rows)) == 0
    assert (files / "out.csv").read_text() == "name,pay\n*****,10\n*****,20\n"


def test_another_separator_is_said(files, capsys):
    content = "name:pay,bonus;extra,taxes\nAda:10\nBob:20\n"
    assert with_graph(files, content, "--separator", ":") == 0
    assert (files / "out.csv").read_text() == 'name,"pay,bonus;extra,taxes"\n*****,10\n*****,20\n'
    for wrong in ("", "::", "\n", '"'):
        assert attributes(files, "data.csv", "new.csv", "--separator", wrong) == 2
        assert "the separator must be one character" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "more", "code", "words"),
    [
        ("Ada Secret;10\nBob Secret;20\n", (), 2, "the first line looks like data"),
        ("Ada Secret;Pay\nBob Secret;20\n", (), 3, "none of the attributes that are configured"),
        ("name;pay\nAda Secret;20\n", ("--separator", ","), 3, "none of the attributes that are configured"),
    ],
    ids=["no header", "another header", "another separator"],
)
def test_nothing_is_published_where_no_attribute_is_configured(files, capsys, content, more, code, words):
    for extra in ((), ("--pass-through",), ("--refuse-unknown",)):
        assert with_graph(files, content, *more, *extra) == code
        told = capsys.readouterr()
        assert words in told.err
        assert "Secret" not in told.err + told.out
        assert not (files / "out.csv").exists()


def test_nothing_is_overwritten(files, capsys):
    before = (files / "data.csv").read_bytes()
    assert attributes(files, "data.csv", "data.csv") == 2
    assert "data.csv exists" in capsys.readouterr().err
    assert (files / "data.csv").read_bytes() == before


def test_a_file_without_a_header_is_read_when_that_is_said(tmp_path, capsys):
    (tmp_path / "rows.csv").write_text("Ada,10\nBob,20\nCleo,30\n", encoding="utf-8")
    named = {"c1": CONFIGURATION["name"], "c2": CONFIGURATION["pay"]}
    (tmp_path / "configuration.json").write_text(json.dumps(named))
    assert attributes(tmp_path, "rows.csv", "refused.csv") == 2
    assert "--no-header" in capsys.readouterr().err
    assert attributes(tmp_path, "rows.csv", "out.csv", "--no-header") == 0
    head, *rows = csv.reader((tmp_path / "out.csv").read_text().splitlines())
    assert head == ["c1", "c2"]
    assert [row[0] for row in rows] == ["*****"] * 3
