"""Worked examples for the OpenAPI document."""

from typing import Any

STYRIA, UPPER_AUSTRIA = "Steiermark", "Oberösterreich"
PLACES = [("Graz", STYRIA), ("Linz", UPPER_AUSTRIA), ("Leoben", STYRIA)]
PLACES += [("Wels", UPPER_AUSTRIA), ("Graz", STYRIA), ("Linz", UPPER_AUSTRIA)]
INLINE: dict[str, Any] = {
    "kpis": True,
    "ontology": "Beispiele/anonymization_ontology.json",
    "configuration": {
        "Name": {"anonymisationType": "Masking", "dataType": "String"},
        "Geburtsdatum": {"anonymisationType": "Randomization", "dataType": "Date"},
        "Adresse": {"anonymisationType": "Generalization", "dataType": "Address"},
        "Gehalt": {"anonymisationType": "Generalization", "dataType": "Numeric"},
    },
    "data": [
        {
            "Name": f"Person {number}",
            "Geburtsdatum": f"19{60 + 3 * number}-0{number}-15",
            "Adresse": f"Hauptplatz {number}, {8010 if number % 2 else 4020} {city}, {state}, Österreich",
            "Gehalt": 18000 + 4000 * number,
        }
        for number, (city, state) in enumerate(PLACES, start=1)
    ],
}
INLINE_ANSWER: dict[str, Any] = {
    "version": "1.0.0",
    "valid": True,
    "anonymisedData": [
        {"Name": "*****", "Geburtsdatum": "1967-03-02", "Adresse": "Steiermark", "Gehalt": "<= 32000.0"},
        {"Name": "*****", "Geburtsdatum": "1971-10-20", "Adresse": "Oberösterreich", "Gehalt": ">= 32000.0"},
    ],
    "kpis": {"kAnonymity": 1, "NameNumberAttributes": 1, "GehaltNumberAttributes": 2},
    "warnings": ["kAnonymity is 1: at least one record of the answer is the only one of its kind."],
}
ADDRESS = "https://soya.ownyourdata.eu/AnonymisationDemo"
BY_ADDRESS: dict[str, Any] = {
    "kpis": True,
    "configurationURL": ADDRESS,
    "data": [{"name": "Person 1", "gehalt": 18000}, {"name": "Person 2", "gehalt": 26000}],
}
BY_ADDRESS_ANSWER: dict[str, Any] = {
    "version": "1.0.0",
    "valid": True,
    "anonymisedData": [
        {"name": "*****", "gehalt_range": {"min": 18000.0, "max": 26000.0}},
        {"name": "*****", "gehalt_range": {"min": 18000.0, "max": 26000.0}},
    ],
    "kpis": {"kAnonymity": 2, "nameNumberAttributes": 1, "gehaltNumberAttributes": 1},
}
FLAT: dict[str, Any] = {
    "configurationUrl": ADDRESS,
    "prefix": ADDRESS + "/",
    "data": [{"gehalt": 18000, "note": "kept"}, {"gehalt": 26000}],
}
FLAT_ANSWER: dict[str, Any] = {
    "data": [
        {"gehalt_generalized": {"min": 18000.0, "max": 26000.0}, "note": "kept"},
        {"gehalt_generalized": {"min": 18000.0, "max": 26000.0}},
    ],
    "kpis": {"kAnonymity": 2, "gehaltNumberAttributes": 1},
    "warnings": ["Passed through unchanged: note."],
}
GRAPH: dict[str, Any] = {
    "configurationUrl": ADDRESS,
    "data": {
        "@context": {"oyd": ADDRESS + "/"},
        "@graph": [
            {"@id": "oyd:one", "@type": "oyd:AnonymisationDemo", "oyd:gehalt": 18000},
            {"@id": "oyd:two", "@type": "oyd:AnonymisationDemo", "oyd:gehalt": 26000},
        ],
    },
}
