"""Shapes and plan files: all faults at once with their places, and a schema that says the same as the reader."""

import jsonschema
import pytest

from refusals import refused
from sfumato.errors import PlanError
from sfumato.schema.composite import (
    Anything,
    Choice,
    Flag,
    Integer,
    KeySchema,
    ListSchema,
    MapSchema,
    Number,
    RecordSchema,
    Scalar,
    TaggedUnionSchema,
    Text,
    UnionSchema,
    read,
)
from sfumato.schema.files import load
from sfumato.values import Value


class Box(Value):
    width: int
    max_height: float = 1.0
    label: str = ""

    def __post_init__(self):
        if self.width == 13:
            raise ValueError("nobody builds boxes of width 13.")


BOX = RecordSchema(
    {
        "width": KeySchema(Integer(1, 100), required=True),
        "max-height": KeySchema(Number(0)),
        "label": KeySchema(Text(may_be_empty=True)),
    },
    Box,
    "A box.",
)
THING = TaggedUnionSchema("kind", {"box": BOX, "dot": RecordSchema({}, dict)})
SHARE = UnionSchema(
    (((int, float), Number(0, 1)), ((dict,), RecordSchema({"rows": KeySchema(Integer(0), required=True)}, dict)))
)
NAN, INFINITE = float("nan"), float("inf")

ACCEPTED = [
    ("text", Text(), "a", "a"),
    ("empty text", Text(may_be_empty=True), "", ""),
    ("scalar of a number", Scalar(), 7, "7"),
    ("scalar of a truth value", Scalar(), True, "true"),
    ("integer", Integer(1, 3), 3, 3),
    ("number", Number(), 2, 2.0),
    ("flag", Flag(), False, False),
    ("choice", Choice(("a", "b")), "b", "b"),
    ("anything", Anything(), [None], [None]),
    ("list", ListSchema(Integer()), [1, 2], (1, 2)),
    ("map", MapSchema(Integer()), {"a": 1}, {"a": 1}),
    ("record", BOX, {"width": 3, "max-height": 2}, Box(3, 2.0)),
    ("tagged", THING, {"kind": "box", "width": 3}, Box(3)),
    ("either a number", SHARE, 0.5, 0.5),
    ("or a mapping", SHARE, {"rows": 20}, {"rows": 20}),
]
REFUSED = [
    ("number as text", Text(), 7, "must be text, is a whole number"),
    ("empty text", Text(), "", "must not be empty"),
    ("nothing as scalar", Scalar(), None, "is nothing"),
    ("true as integer", Integer(), True, "true/false"),
    ("too small", Integer(1), 0, "must be at least 1, is 0"),
    ("too large", Number(maximum=1), 1.5, "must be at most 1, is 1.5"),
    ("no number", Number(), NAN, "must be a finite number"),
    ("infinite", Number(), INFINITE, "must be a finite number"),
    ("text as flag", Flag(), "yes", "must be true or false"),
    ("wrong choice", Choice(("distinct", "entropy")), "distnict", 'Did you mean "distinct"?'),
    ("text as list", ListSchema(Text()), "abc", "must be a list"),
    ("short list", ListSchema(Text(), at_least=1), [], "at least 1 entries"),
    ("list as map", MapSchema(Text()), [1], "must be a mapping"),
    ("short map", MapSchema(Text(), at_least=1), {}, "at least 1 entries"),
    ("missing key", BOX, {}, "width: is missing"),
    ("unknown key", BOX, {"width": 1, "lable": "x"}, 'lable: unknown key. Did you mean "label"?'),
    ("fault between keys", BOX, {"width": 13}, "nobody builds boxes"),
    ("list as record", BOX, [], "must be a mapping"),
    ("no tag", THING, {"width": 3}, "kind: is missing. Valid: box, dot."),
    ("wrong tag", THING, {"kind": "bax"}, 'kind: "bax" is not a valid choice. Did you mean "box"?'),
    ("no tagged mapping", THING, "box", "must be a mapping with a key kind"),
    ("neither kind", SHARE, "half", "text does not fit here"),
]


@pytest.mark.parametrize(("shape", "value", "expected"), [case[1:] for case in ACCEPTED], ids=[c[0] for c in ACCEPTED])
def test_accepted_by_reader_and_schema(shape, value, expected):
    assert read(shape, value) == expected
    jsonschema.validate(value, shape.schema())


@pytest.mark.parametrize(("shape", "value", "words"), [case[1:] for case in REFUSED], ids=[c[0] for c in REFUSED])
def test_refused_with_words(shape, value, words):
    with pytest.raises(PlanError) as caught:
        read(shape, value)
    assert words in str(caught.value)
    assert caught.value.status.exit == 2


@pytest.mark.parametrize(
    ("shape", "value"),
    # NaN and infinity are no JSON, and a fault between keys is beyond a schema.
    [case[1:3] for case in REFUSED if case[0] not in ("no number", "infinite", "fault between keys")],
    ids=[case[0] for case in REFUSED if case[0] not in ("no number", "infinite", "fault between keys")],
)
def test_the_schema_refuses_the_same(shape, value):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, shape.schema())


def test_all_faults_are_reported_at_once_with_their_places():
    shape = RecordSchema(
        {"boxes": KeySchema(ListSchema(BOX)), "by-name": KeySchema(MapSchema(BOX)), "size": KeySchema(Integer())}, dict
    )
    plan = {"boxes": [{"width": 0}, {"width": "x"}], "by-name": {"a": {}}, "size": None, "sise": 1}
    with pytest.raises(PlanError) as caught:
        read(shape, plan)
    assert {fault.path for fault in caught.value.issues} == {
        "boxes[0].width",
        "boxes[1].width",
        "by-name.a.width",
        "size",
        "sise",
    }


def test_a_place_to_begin_with():
    with pytest.raises(PlanError, check=refused("plan.faults", "whole")):
        read(BOX, {"width": "a"}, "columns.x")


def test_descriptions_stand_in_the_schema():
    assert BOX.schema()["description"] == "A box."
    assert THING.schema()["oneOf"][0]["required"] == ["kind", "width"]


@pytest.fixture
def plan_file(tmp_path):
    def write(content, name="plan.yaml"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def test_yaml_and_json_are_read(plan_file):
    assert load(plan_file(b"a: [1, two]\n")) == {"a": [1, "two"]}
    assert load(plan_file(b'{"a": [1, "two"]}', "plan.json")) == {"a": [1, "two"]}
    assert load(plan_file(b"\xef\xbb\xbfa: 1\n")) == {"a": 1}


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"a: 1\na: 2\n", "yaml", 'line 2: key "a" occurs twice'),
        (b"a: [1\n", "yaml", "not YAML"),
        (b"a: \xe4\n", "encoding", "UTF-8"),
        (b"a: !!python/object/apply:os.system ['true']\n", "yaml", "not YAML"),
    ],
)
def test_what_is_no_plan_file_is_refused_with_its_place(plan_file, content, code, words):
    with pytest.raises(PlanError) as caught:
        load(plan_file(content))
    assert caught.value.code == f"plan.{code}"
    assert words in caught.value.message


def test_a_plan_that_is_not_there(tmp_path):
    with pytest.raises(PlanError) as caught:
        load(tmp_path / "none.yaml")
    assert caught.value.code == "plan.unreadable"


def test_scalars_are_read_as_they_stand_there(tmp_path):
    (tmp_path / "plan.yaml").write_text(
        "codes: [007, 01067, 1.10, no, On, NULL, 0x1F, 1_000, 2020-01-01, 12:30, 7, 1e5, true]\n"
        "tree: {01067: DD, no: N, 1.1: a, 1.10: b, 7: c}\n"
        "numbers: [7, -2, 1.5, .5, 1e3]\n"
        "flags: [true, false]\n",
        encoding="utf-8",
    )
    found = load(tmp_path / "plan.yaml")
    texts = ("007", "01067", "1.10", "no", "On", "NULL", "0x1F", "1_000", "2020-01-01", "12:30", "7", "1e5", "true")
    assert read(ListSchema(Scalar()), found["codes"]) == texts
    assert read(MapSchema(Scalar()), found["tree"]) == {"01067": "DD", "no": "N", "1.1": "a", "1.10": "b", "7": "c"}
    assert read(ListSchema(Number()), found["numbers"]) == (7, -2, 1.5, 0.5, 1000)
    assert read(ListSchema(Flag()), found["flags"]) == (True, False)


def test_a_number_that_stands_twice_as_a_key_is_refused(tmp_path):
    (tmp_path / "plan.yaml").write_text("tree: {1: a, 1: b}\n", encoding="utf-8")
    with pytest.raises(PlanError, check=refused("error.plan.yaml.line", line="1", problem='key "1" occurs twice')):
        load(tmp_path / "plan.yaml")


def test_a_wrong_tag_does_not_hide_other_faults():
    faults = {}
    for name in ("bax", "zzz", None):
        with pytest.raises(PlanError) as caught:
            read(THING, {"kind": name, "width": "x", "lable": "y"} if name else {"width": 1, "lable": "y"}, "thing")
        faults[name] = {fault.path for fault in caught.value.issues}
    assert faults["bax"] == {"thing.kind", "thing.width", "thing.lable"}
    assert faults["zzz"] == faults[None] == {"thing.kind", "thing.lable"}


def test_whole_numbers_have_an_end() -> None:
    with pytest.raises(PlanError, check=refused("plan.faults", "most")):
        read(Integer(minimum=1), 10**30)
    assert read(Integer(), 2**63 - 1) == 2**63 - 1


@pytest.mark.parametrize("given", [["box"], {"box": 1}, [], {}, 7, True, None, 10**400])
def test_a_tag_that_is_no_text_is_a_fault_of_the_plan(given) -> None:
    with pytest.raises(PlanError) as caught:
        read(THING, {"kind": given, "lable": "y"}, "thing")
    assert {fault.path for fault in caught.value.issues} == {"thing.kind", "thing.lable"}
    assert "is not a valid choice" in str(caught.value)
    assert "box" in str(caught.value)


@pytest.mark.parametrize("given", [10**400, -(10**400), INFINITE, NAN])
def test_a_number_that_no_machine_holds_is_a_fault_of_the_plan(given) -> None:
    for shape in (Number(), Number(0, 1)):
        with pytest.raises(PlanError, check=refused("plan.faults", "finite")):
            read(shape, given, "weight")
    assert read(Number(), 10**300) == 1e300
