"""Records of files as people send them: decimal commas, dates of their country, encodings, and what stays as it is."""

import pytest

from sfumato.pipelines.attributes import read_attribute_records

GERMAN = (
    "Name;Gehalt;Geburtstag;Stadt\nJörg Süß;2.345,67;03.04.1980;Köln\nÄnne Weiß;1.999,00;12.11.1975;Köln\n"
    "Zoë;;01.01.1990;\nUlf;3.100,5;30.06.1966;Fürth\nIda;2.800,25;09.09.1999;Fürth\n"
)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_numbers_and_dates_of_a_german_file_are_read(tmp_path, encoding) -> None:
    path = tmp_path / "leute.csv"
    path.write_bytes(GERMAN.encode(encoding))
    records = read_attribute_records(path)
    assert records[0] == {"Name": "Jörg Süß", "Gehalt": "2345.67", "Geburtstag": "1980-04-03", "Stadt": "Köln"}
    assert records[2] == {"Name": "Zoë", "Gehalt": None, "Geburtstag": "1990-01-01", "Stadt": None}


def columns_of(path, text) -> dict[str, list[str | None]]:
    path.write_text(text, encoding="utf-8")
    records = read_attribute_records(path)
    return {name: [record[name] for record in records] for name in records[0]}


def test_what_is_no_german_number_or_date_stays(tmp_path) -> None:
    text = 'pay,code,on\n"1,234",89.00,2020-01-31\n"2,345",47.01,2020-02-29\n"12,345",88.10,2020-12-01\n'
    columns = columns_of(tmp_path / "rows.csv", text)
    assert columns["pay"] == ["1,234", "2,345", "12,345"]  # thousands, not decimals
    assert columns["code"] == ["89.00", "47.01", "88.10"]
    assert columns["on"] == ["2020-01-31", "2020-02-29", "2020-12-01"]


def test_moments_are_written_as_operations_read_them_and_a_wrong_date_stays(tmp_path) -> None:
    days = [f"{day:02}.03.2020" for day in range(1, 20)]
    lines = [f"{day} 08:30;{day}" for day in days] + ["20.03.2020 09:15;31.02.2020"]
    columns = columns_of(tmp_path / "rows.csv", "am;tag\n" + "\n".join(lines) + "\n")
    assert columns["am"][-1] == "2020-03-20T09:15:00"
    assert columns["tag"][0] == "2020-03-01"
    assert columns["tag"][-1] == "31.02.2020"


def test_other_files_are_taken_as_they_are(tmp_path) -> None:
    path = tmp_path / "rows.json"
    path.write_text('[{"pay": "2.345,67", "on": "03.04.1980"}]', encoding="utf-8")
    assert read_attribute_records(path) == [{"pay": "2.345,67", "on": "03.04.1980"}]
