"""Evidence about a column: its profile, its content, and the concepts that its name suggests and its values support."""

import re
from collections.abc import Iterable, Iterator, Sequence

from sfumato.dataclass import dataclass
from sfumato.hierarchies.role_detection.coded_numbers import without_no_answers
from sfumato.hierarchies.role_detection.content_detection import Content, content_of, distribution_of, short_postcodes
from sfumato.hierarchies.role_detection.key_columns import UNIQUE_SHARE, spread_as_weights
from sfumato.hierarchies.role_detection.lexicon.ambiguous_terms import supports
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, WORDS, Concept, Role, fold
from sfumato.hierarchies.role_detection.lexicon.name_terms import concepts_of, words_of
from sfumato.hierarchies.role_detection.lexicon.value_terms import concept_of_values
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.unexplained_numbers import are_bell_shaped
from sfumato.hierarchies.role_detection.value_requirements import MEETS, NUMERIC
from sfumato.patterns import regex

_SHORT_WORD = 4
_LETTERS = 2
_HEAVIEST = 400
# Amounts of money, and how many distinct ones there must be.
_WITH_CENTS, _MANY_SUMS = regex(r"-?\d+[.,]\d{2}"), 50
# Texts of a list: maximum number, and minimum proportion of rows with a frequent one.
_MOST_LISTED, _MANY_ROWS, _COMMON = 100, 20, 0.95


@dataclass(frozen=True)
class RoleEvidence:
    """A column's profile, its content, and the concepts that its name suggests and its values support."""

    profile: Profile
    content: Content
    concepts: tuple[tuple[Concept, str], ...]

    def likeliest(self, *roles: Role) -> tuple[Concept, str] | None:
        """Return the likeliest concept of the name, if it has one of these roles."""
        return next((pair for pair in self.concepts[:1] if pair[0].role in roles), None)


def evidence_of(profile: Profile) -> RoleEvidence:
    """Return the evidence about a column."""
    concepts = concepts_of(profile.name)
    content = content_of(profile, [concept.key for concept, _ in concepts])
    believed = (
        (concept, word)
        for concept, word in concepts
        if MEETS[concept.demand](profile, content)
        and supports(profile, concept, word)
        and not (concept.key == "free_text" and is_listed(profile, word))
    )
    sums = _sums_for_charges(believed, content)
    sensitive = any(concept.role == "sensitive" for concept, _ in sums)
    postcodes = ((BY_KEY["place"], word) for word in sorted(short_postcodes(profile, lettered=sensitive))[:1])
    weights = [_body_weight(profile, *pair) for pair in sums]
    told = _without_weak(profile, (*postcodes, *_survey_weight(profile, weights), *weights))
    return RoleEvidence(profile, content, told)


def is_listed(profile: Profile, word: str) -> bool:
    """Return whether texts called descriptions are chosen from a list: few, nearly all of them in many rows.

    A field for remarks stays one, however few texts it has so far.
    """
    listed = len(profile.counts) <= _MOST_LISTED and profile.share_in_groups(_MANY_ROWS) >= _COMMON
    return listed and word not in WORDS["remarks"]


def _without_weak(profile: Profile, concepts: tuple[tuple[Concept, str], ...]) -> tuple[tuple[Concept, str], ...]:
    """Return concepts without those of short words and abbreviations if the values indicate something else.

    Questions of frequency are answered by "often", whatever their topic.
    """
    if not concepts or not all(_is_weak(profile, *pair) for pair in concepts):
        return concepts
    if all(concept.role == "quasi-identifier" for concept, _ in concepts) and _are_sums(profile):
        return ()
    # A few letters are ambiguous codes: a short name counts for more.
    if max(map(len, profile.values), default=0) <= _LETTERS:
        return concepts
    by_values = concept_of_values(profile)
    other = by_values is not None and by_values[0].key not in {concept.key for concept, _ in concepts}
    return () if other else concepts


def _are_sums(profile: Profile) -> bool:
    """Return whether numbers are amounts of money: two decimals each, many, of several lengths; no heights."""
    written = profile.share_of(_WITH_CENTS) >= UNIQUE_SHARE and len(profile.counts) >= _MANY_SUMS
    return written and len({len(value.strip()) for value in profile.sample}) > 1


def _is_weak(profile: Profile, concept: Concept, word: str) -> bool:
    short = len(word) <= _SHORT_WORD or word not in re.sub(r"[\W_]+", "", fold(profile.name))
    return concept.key == "belongings" or (short and concept.role in ("quasi-identifier", "sensitive"))


def _body_weight(profile: Profile, concept: Concept, word: str) -> tuple[Concept, str]:
    """Return body weight for a short word for weights, if the numbers are concentrated around a middle."""
    if concept.key != "weight" or len(word) > _SHORT_WORD:
        return concept, word
    spread, whole = distribution_of(profile)
    spread = without_no_answers(spread) if spread is not None and whole else None
    heavy = spread is not None and are_bell_shaped(spread) and spread.quantile(0.99) <= _HEAVIEST
    return (BY_KEY["body"], word) if heavy else (concept, word)


def _survey_weight(profile: Profile, concepts: Sequence[tuple[Concept, str]]) -> Iterator[tuple[Concept, str]]:
    """Yield the sampling weight instead of a weight that no person can have."""
    word = next((word for concept, word in concepts if concept.key == "body" and word in WORDS["weighing"]), None)
    # Newborns weigh some thousand grams.
    keys = any(concept.key in ("key", "health", "age") for concept, _ in concepts)
    if {*words_of(profile.name)} & WORDS["units_of_weight"]:
        return
    if word is not None and not keys and spread_as_weights(profile):
        yield BY_KEY["weight"], word


def _sums_for_charges(concepts: Iterable[tuple[Concept, str]], content: Content) -> list[tuple[Concept, str]]:
    """Return concepts without crime if the values are numbers: "charges" are then amounts of money."""
    pairs = list(concepts)
    sums = {word for concept, word in pairs if concept.key == "money"} if content.kind in NUMERIC else set()
    return [pair for pair in pairs if not (pair[0].key == "crime" and pair[1] in sums)]
