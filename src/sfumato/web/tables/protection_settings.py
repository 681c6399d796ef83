"""The plan of a table on the page: sensitivity rules, the columns they need, method, protection, attackers."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

from nicegui import ui

from sfumato.localization.messages import Messages
from sfumato.schema.composite import read
from sfumato.tables.plan.rules import GroupDisclosure
from sfumato.tables.plan.sections import PERTURBATIONS, UNRULED, MethodChoice
from sfumato.tables.plan.table_plan import ATTACKER, METHOD, PROTECTION, RULES, TABLE
from sfumato.values import State, field
from sfumato.web import components
from sfumato.web.forms import EntryList, Form, Values
from sfumato.web.tables.input_detection import (
    ColumnFacts,
    counts_somebody,
    facts_in,
    fitting_rules,
    has_fractions,
    rules_of_rows,
    strings_of,
)

# Initial parameters of a rule.
STARTS: dict[str, Values] = {
    "range": {"min": 1, "max": 3},
    "frequency": {"min": 3},
    "zero": {"margin": 1},
    "dominance": {"n": 1, "k": 75},
    "group-disclosure": {"k": 100, "n": 1},
    "p-percent": {"p": 10},
    "pq": {"p": 10, "q": 50},
    "holdings": {"min": 3},
    "request": {"share": 0},
    "status": {},
    "waiver": {},
}
# Columns of the table that rules need.
NEEDS = {"frequency": "frequency", "holdings": "holdings"} | dict.fromkeys(
    ("dominance", "p-percent", "pq"), "contributions"
)
FACTS = ("frequency", "contributions", "respondents", "shadow", "holdings")
METHODS = ("optimal", "fast", "ranges", "intervals", *PERTURBATIONS)
# Initial parameters of a perturbative method, and keys of it that name files or secrets, which a page does not accept.
BASES: dict[str, Values] = {"rounding": {"base": 3}}
LEFT_OUT = ("ptable", "secret", "record")
UNRULED_METHODS = tuple(kind.name for kind in UNRULED)
COSTS = ("value", "unit", "frequency", "log")
METHOD_KEYS = ("cost", "level_factor", "time_limit", "tie_break", "repair", "insiders", "zeros")


class ProtectionSettings(State, dict=True):
    """The rules and settings of a table's plan, in plain values.

    Attributes:
        columns: The columns of the current table, which fields offer.
        promised: Whether the rules apply to a perturbative method, for which they are optional.
        proposed: The rules that the page itself added.
        crossed: Whether tables are made from rows, so that no column needs to be named.
    """

    words: Messages
    touched: Callable[[], Any]
    columns: Sequence[str] = ()
    rules: list[Values] = field(default_factory=lambda: [{"rule": "range", **STARTS["range"]}])
    facts: Values = field(default_factory=dict)
    method: Values = field(default_factory=lambda: {"name": "optimal"})
    protection: Values = field(default_factory=dict)
    attacker: Values = field(default_factory=dict)
    promised: bool = True
    proposed: list[Values] = field(default_factory=lambda: [{"rule": "range", **STARTS["range"]}])
    crossed: bool = False

    def __post_init__(self) -> None:
        offered: dict[str, Callable[[], Values]] = {name: partial(dict, STARTS[name]) for name in RULES}
        self._list = EntryList(
            self.words, "rule", offered, lambda: self.rules, lambda rule: self._rule_form(rule).build(), self._changed
        )

    def plan(self) -> Values:
        """Return the part of a plan with rules and method."""
        plan_part: Values = {"method": self.method} | ({} if self.unruled else {"primary": self.rules})
        plan_part |= {"protection": self.protection} if self.protection else {}
        return plan_part | ({"attacker": self.attacker} if self.attacker else {})

    @property
    def unruled(self) -> bool:
        """Return whether numbers are perturbed without a guarantee for any cell."""
        return not self.promised and self.method["name"] in UNRULED_METHODS

    def used(self) -> set[str]:
        """Return the columns that rules need, which are no categories."""
        named = [self.facts.get(name) or [] for name in FACTS] + [rule.get("column") or [] for rule in self.rules]
        named += [self.method.get(key) or [] for key in ("key", "structural")]
        return {column for entry in named for column in ([entry] if isinstance(entry, str) else entry)}

    def build(self) -> None:
        """Build the fields: rules first, the rest collapsed."""
        with components.card(self.words["rules"]):
            self._list.build()
            self._facts_container = ui.column().classes("w-full gap-0")
        with components.card(self.words["masking"]):
            self._method_container = ui.column().classes("w-full gap-1")
        self.show()

    def offer(self, columns: Sequence[str]) -> None:
        """Offer the columns of another table."""
        self.facts.clear()
        ours = [rule for rule in self.proposed if rule["rule"] == GroupDisclosure.name]
        self.rules[:] = [rule for rule in self.rules if rule not in ours]
        self.proposed = [rule for rule in self.proposed if rule not in ours]
        for rule in self.rules:
            rule.pop("column", None)
            rule.pop("dimension", None)
        self.look_at(columns)

    def look_at(self, columns: Sequence[str]) -> None:
        """Offer the columns of the table to the rules."""
        self.columns = columns
        self.show()

    def propose_for(self, names: Sequence[str], lines: Sequence[Sequence[str]], value: str) -> None:
        """Propose rules that fit the columns of a table, or of several."""
        facts = facts_in(names, lines, value)
        counts = counts_somebody(value) and not facts.contributions
        texts = strings_of(names, lines, value) if value in names else []
        self.propose(facts, counts, whole=not has_fractions(texts))

    def propose(self, facts: ColumnFacts, counts: bool, whole: bool) -> None:
        """Make the rules use the columns that fit them; rules chosen by the visitor stay.

        Args:
            facts: The columns with the contributors of cells.
            counts: Whether the values are counts that contributors have.
            whole: Whether the values are integers.
        """
        if self.rules != self.proposed:
            needed = {NEEDS.get(rule["rule"]) for rule in self.rules}
            self.facts.update({name: column for name, column in facts.plain().items() if name in needed})
        else:
            self.facts.update(facts.plain())
            self.rules[:] = fitting_rules(ColumnFacts() if counts else facts, whole)
            if counts and facts.frequency:
                self.count_respondents(facts.frequency)
            self.proposed = deepcopy(self.rules)
        self.show()

    def propose_for_rows(self, summed: bool, held: bool) -> None:
        """Propose rules that fit tables made from rows; rules chosen by the visitor stay."""
        if self.rules == self.proposed:
            self.rules[:] = rules_of_rows(summed, held)
            self.proposed = deepcopy(self.rules)
        self.show()

    def count_respondents(self, column: str) -> None:
        """Use a column with the number of persons of a cell, which values that count rows do not have."""
        self.facts["frequency"] = column
        for place, rule in enumerate(self.rules):
            if rule["rule"] == "range":
                self.rules[place] = {"rule": "frequency", "min": int(rule["max"]) + 1}
        if not any(rule["rule"] == "frequency" for rule in self.rules):
            self.rules.append({"rule": "frequency", **STARTS["frequency"]})
        self.show()

    def protect_groups(self, names: Sequence[str]) -> None:
        """Propose the rule group-disclosure for each category of a table of persons without one; it can be removed."""
        ruled = {rule.get("dimension") for rule in self.rules if rule["rule"] == GroupDisclosure.name}
        start = STARTS[GroupDisclosure.name]
        added = [{"rule": GroupDisclosure.name, "dimension": name, **start} for name in names if name not in ruled]
        self.rules.extend(added)
        self.proposed = [*self.proposed, *deepcopy(added)]
        self.show()

    def missing(self) -> list[str]:
        """Return the labels of required values that are missing."""
        if self.unruled:
            return self._method_form().missing()
        missing = [word for rule in self.rules for word in self._rule_form(rule).missing()]
        needed = {NEEDS[rule["rule"]] for rule in self.rules if rule["rule"] in NEEDS} - {
            "frequency"
        }  # counts determine it
        return missing + [self.words[f"key.{name}"] for name in FACTS if name in needed and not self.facts.get(name)]

    def show(self) -> None:
        """Rebuild all fields."""
        self._list.show()
        self._show_facts()
        self._show_method()

    def _changed(self) -> None:
        self._list.told()
        self._show_facts()
        self.touched()

    def _show_facts(self) -> None:
        """Show the columns that the rules use."""
        self._facts_container.clear()
        needed = {NEEDS[rule["rule"]] for rule in self.rules if rule["rule"] in NEEDS}
        needed |= {"contributions"} if any(rule["rule"] == "request" for rule in self.rules) else set()
        needed |= {"shadow"} if "contributions" in needed else set()
        needed |= {"respondents"} if any(rule.get("level") == "respondent" for rule in self.rules) else set()
        keys = {name: key for name, key in TABLE.keys.items() if name in needed and not self.crossed}
        self._facts_container.set_visibility(bool(keys))
        with self._facts_container:
            Form(self.words, "facts", keys, self.facts, self.touched, dict.fromkeys(FACTS, self.columns)).build()

    def _rule_form(self, rule: Values) -> Form:
        keys = RULES[rule["rule"]].keys
        offers = dict.fromkeys(("column", "dimension"), self.columns)
        return Form(self.words, f"rule.{rule['rule']}", keys, rule, self._changed, offers)

    def _show_method(self) -> None:
        self._method_container.clear()
        name = str(self.method["name"])
        with self._method_container:
            choice = ui.select({name: self.words[f"masking.{name}"] for name in METHODS}, label=self.words["method"])
            choice.set_value(name)
            choice.on_value_change(lambda event: self._choose(str(event.value)))
            choice.classes("w-full")
            ui.label(self.words[f"masking.{name}.says"]).classes("sf-soft")
            if name not in PERTURBATIONS:
                components.folded(self.words["more"], self._show_suppression)
                return
            self._method_form().build()
            if name in UNRULED_METHODS:
                switch = components.held(ui.switch(self.words["masking.promised"], value=self.promised))
                switch.on_value_change(lambda event: self._promise(bool(event.value)))
                components.with_tooltip(switch, self.words["tip.masking.promised"])

    def _show_suppression(self) -> None:
        """Show the further settings of cell suppression."""
        self._method_form().build()
        for name, keys, values in (
            ("protection", PROTECTION.keys, self.protection),
            ("attacker", ATTACKER.keys, self.attacker),
        ):
            ui.label(self.words[name]).classes("font-bold mt-2")
            Form(self.words, name, keys, values, self.touched).build()

    def _promise(self, promised: bool) -> None:
        self.promised = promised
        self.touched()

    def _choose(self, name: str) -> None:
        known = PERTURBATIONS[name].keys if name in PERTURBATIONS else METHOD.keys
        shared = known.keys() - {"name", "tie_break", "repair"}
        kept = {key: value for key, value in self.method.items() if key in shared}
        self.method = {"name": name, **BASES.get(name, {}), **kept}
        self._show_method()
        self.touched()

    def _method_form(self) -> Form:
        name = str(self.method["name"])
        if name in PERTURBATIONS:
            keys = {key: spec for key, spec in PERTURBATIONS[name].keys.items() if key not in LEFT_OUT}
            offers = dict.fromkeys(("key", "structural"), self.columns) | self._costs()
            return Form(self.words, f"masking.{name}", keys, self.method, self.touched, offers, starts_of(name))
        known = MethodChoice()
        keys = {key: METHOD.keys[key] for key in METHOD_KEYS}
        defaults = {key: getattr(known, key) for key in METHOD_KEYS}
        return Form(self.words, "masking", keys, self.method, self.touched, self._costs(), defaults)

    def _costs(self) -> dict[str, list[str]]:
        return {"cost": [*COSTS, *(name for name in self.columns if name not in COSTS)]}


def starts_of(name: str) -> Values:
    """Return the defaults of a perturbative method."""
    made = read(PERTURBATIONS[name], BASES.get(name, {}), "method")
    return {key: getattr(made, spec.attribute) for key, spec in PERTURBATIONS[name].keys.items()}
