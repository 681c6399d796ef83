"""The configuration of attribute anonymization: the operation for each attribute, and the form of the response."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from sfumato.attributes.operations.operation import DataType, known_operations, normalize, type_named
from sfumato.attributes.operations.scales import BucketRule
from sfumato.errors import PlanError, PlanIssue, did_you_mean, issue
from sfumato.localization.messages import Message
from sfumato.schema.composite import MapSchema, read
from sfumato.schema.dataclass_schema import KeyInfo, record_of
from sfumato.values import Value, replace

# The form of published ranges: bounds in new fields, one text in the field, or fields named by the operation.
Form = Literal["range", "label", "graph"]
RULES: tuple[str, ...] = ("unique99", "sqrt")
MOST_BUCKETS = 1_000_000


class AttributeRule(Value):
    """The operation for one attribute."""

    attribute: str
    operation: str
    data_type: DataType


class Configuration(Value):
    """The operation for each attribute, and the form of the response.

    Attributes:
        rules: The rules, one per attribute, in the order of application.
        form: The form of ranges and field names in the response.
        buckets: The number of buckets of generalized values, or the rule that determines it.
        pass_through: Whether attributes without a rule are published unchanged; otherwise they are refused.
        smallest_group: The minimum number of objects with the same published value.
    """

    rules: tuple[AttributeRule, ...]
    form: Form = "label"
    buckets: BucketRule = "sqrt"
    pass_through: bool = False
    smallest_group: int = 3

    def __post_init__(self) -> None:
        names = [rule.attribute for rule in self.rules]
        if len(set(names)) < len(names):
            raise ValueError(Message("error.value.attribute_two_rules"))

    def with_options(
        self, buckets: BucketRule | None = None, pass_through: bool | None = None, form: Form | None = None
    ) -> "Configuration":
        """Return the same configuration with the options of a request instead of the defaults."""
        return replace(
            self,
            buckets=self.buckets if buckets is None else check_buckets(buckets),
            pass_through=self.pass_through if pass_through is None else pass_through,
            form=form or self.form,
        )


_TYPES = "Numeric, Integer, Double, Date, DateTime, String, Boolean, Address."


class _Entry(Value, kw_only=True):
    anonymisationType: Annotated[str, KeyInfo("Masking, Generalization or Randomization, in any case.")] = ""  # noqa: N815
    anonymizationType: Annotated[str, KeyInfo("The same in American spelling.")] = ""  # noqa: N815
    dataType: Annotated[str, KeyInfo(_TYPES)]  # noqa: N815

    def __post_init__(self) -> None:
        if bool(self.anonymisationType) == bool(self.anonymizationType):
            raise ValueError(Message("error.value.missing_anonymisation_type"))

    @property
    def operation(self) -> str:
        return self.anonymisationType or self.anonymizationType


SHAPE = MapSchema(record_of(_Entry), at_least=1)


def inline(entries: Any, objects: tuple[DataType, ...] = ()) -> Configuration:
    """Return the configuration in a request.

    >>> inline({"pay": {"anonymisationType": "masking", "dataType": "Numeric"}}).rules[0].operation
    'Masking'

    Raises:
        PlanError: The configuration is invalid; the error lists all issues.
    """
    table = read(SHAPE, entries, "configuration")
    faults = [fault for name, entry in table.items() for fault in _faults(name, entry, objects)]
    if faults:
        raise PlanError.listing(faults, "configuration")
    entries = ((name, known_name(entry.operation) or "", entry.dataType) for name, entry in table.items())
    return Configuration(
        tuple(AttributeRule(name, operation, type_named(kind, objects)) for name, operation, kind in entries)
    )


def _faults(name: str, entry: _Entry, objects: tuple[DataType, ...]) -> list[PlanIssue]:
    at = f"configuration.{name}"
    faults = []
    if known_name(entry.operation) is None:
        valid = [word.capitalize() for word in known_operations()]
        faults.append(
            issue(
                f"{at}.anonymisationType",
                "no_such_operation",
                hint=did_you_mean(entry.operation, valid),
                operation=entry.operation,
            )
        )
    try:
        type_named(entry.dataType, objects)
    except PlanError as error:
        faults.append(issue(f"{at}.dataType", message=error.message, hint=error.hint))
    return faults


def known_name(operation: str) -> str | None:
    """Return the canonical name of an operation, or None if there is no such operation."""
    name = normalize(operation)
    return name.capitalize() if name in known_operations() else None


def check_buckets(buckets: Any) -> BucketRule:
    """Return a rule for the number of buckets.

    Raises:
        PlanError: The value is neither a known rule nor a number.
    """
    if isinstance(buckets, int) and not isinstance(buckets, bool) and 1 <= buckets <= MOST_BUCKETS:
        return buckets
    if buckets in RULES:
        return "unique99" if buckets == "unique99" else "sqrt"
    raise PlanError("buckets")


def check_allowed(configuration: Configuration, allowed: Mapping[str, frozenset[str]]) -> None:
    """Refuse a configuration with operations that an ontology does not allow.

    Raises:
        PlanError: The ontology does not know an attribute or does not allow its operation; the error lists all.
    """
    faults = [
        _refusal(rule, allowed)
        for rule in configuration.rules
        if normalize(rule.operation) not in allowed.get(rule.attribute, ())
    ]
    if faults:
        raise PlanError.listing(faults, "ontology")


def _refusal(rule: AttributeRule, allowed: Mapping[str, frozenset[str]]) -> PlanIssue:
    if rule.attribute not in allowed:
        return issue(rule.attribute, "not_in_ontology")
    names = ", ".join(sorted(name.capitalize() for name in allowed[rule.attribute]))
    return issue(rule.attribute, "ontology_does_not_allow", operation=rule.operation, names=names)
