"""Detect quasi-identifiers: columns that attackers may know, and columns without any other evidence."""

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.content_detection import Content, mixed_units
from sfumato.hierarchies.role_detection.free_text import are_written_by_hand, has_sentences
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, Concept
from sfumato.hierarchies.role_detection.lexicon.name_terms import spoken_word
from sfumato.hierarchies.role_detection.lexicon.value_terms import concept_of_values
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.role_evidence import RoleEvidence, evidence_of
from sfumato.hierarchies.role_detection.suggestion import UNKNOWN_RANK, Suggestion
from sfumato.hierarchies.role_detection.unnamed_columns import is_nameless, known_by_spread, private_like
from sfumato.hierarchies.role_detection.value_requirements import NUMERIC
from sfumato.patterns import regex

_ENDINGS = (
    "ville|ton|town|burg|burgh|bury|boro|borough|field|wood|woods|view|grove|ford|port|haven|mouth|brook|dale|shire|chester|"
    "ham|hurst|minster|worth|stead|city|springs?|falls|creek|lakes?|heights|hills?|beach|park|valley|island|county|township|"
    "village|junction|crossing|ridge|bluffs?|rapids|harbor|bay|point|center|oaks|gardens|polis|"
    "berg|dorf|hausen|heim|ingen|stadt|stedt|städt|bach|feld|furt|kirchen|kirch|hofen|wald|brück|brücken|beuren|weiler|rode|"
    "leben|münde|hafen|tal|see|stein|fels|horst|büttel|lingen|ungen|wangen|zell|münster"
)
_BEGINNINGS = (
    r"bad|sankt|st\.?|san|santa|saint|los|las|el|new|north|south|east|west|fort|mount|mt\.?|port|lake|upper|lower|"
    r"ober|unter|neu|groß|klein"
)
_PLACE = regex(
    rf"(?i:[a-zäöüßé.' -]*[a-zäöüßé]{{2,}}(?:{_ENDINGS})(?: (?:am|an der|im|in der|ob der|bei|a\.d\.) ?[a-zäöü. ]+)?"
    rf"|(?:{_BEGINNINGS}) [a-zäöüßé.' -]{{3,}}|[a-zäöüß-]{{3,}} (?:am|an der|im|bei) [a-zäöü. ]+"
    rf"|[a-z]+ (?:{_ENDINGS}))"
)
_CAPITAL = regex(r"[A-ZÄÖÜ].{2,40}")
_LEAST_PLACES, _DISTINCT = 3, 0.5
_MANY_NUMBERS = 0.5


def as_quasi_identifier(profile: Profile, reason: str) -> Suggestion:
    """Return a column as one that others may know, whatever its meaning."""
    return quasi_identifier(evidence_of(profile).content, reason, UNKNOWN_RANK)


def judge_units(evidence: RoleEvidence) -> Suggestion | None:
    """Return a role for numbers in several units: no numeric hierarchy is correct, and few categories repeat."""
    units = mixed_units(evidence.profile) if evidence.content.kind == "categories" else ()
    if not units:
        return None
    reason = role_reasons.UNITS.format(units=", ".join(units))
    return Suggestion("identifier", role_reasons.UNDECIDED + reason, undecided=True)


def judge_knowledge(evidence: RoleEvidence) -> Suggestion | None:
    """Return a role for what others may know of a person."""
    known = next(((concept, word) for concept, word in evidence.concepts if concept.role == "quasi-identifier"), None)
    content = evidence.content
    if known:
        what = role_reasons.by_name(spoken_word(evidence.profile.name, known[1]), known[0].key)
        return quasi_identifier(
            content, role_reasons.known(what, content.words), _rank(known[0], content), known[0].key
        )
    by_values = concept_of_values(evidence.profile)
    if by_values:
        what = role_reasons.by_values(by_values[1], by_values[0].key)
        return quasi_identifier(content, what, by_values[0].rank, by_values[0].key)
    if content.kind == "categories" and (places := share_of_places(evidence.profile)):
        return quasi_identifier(content, role_reasons.by_values(places, "place"), BY_KEY["place"].rank, "place")
    if is_nameless(evidence.profile) and (spread := known_by_spread(evidence.profile)):
        return quasi_identifier(spread[1], role_reasons.LIKE[spread[0]], BY_KEY[spread[0]].rank, spread[0])
    if is_nameless(evidence.profile) and (private := private_like(evidence.profile, content.type)):
        return private
    if content.kind in ("dates", "times", "years"):
        what = role_reasons.TIME.format(what=_capital(content.words))
        return quasi_identifier(content, what, BY_KEY["date"].rank, "date")
    return None


def _rank(concept: Concept, content: Content) -> int:
    """Return the rank of a concept; a duration, distance or count is less widely known than the concept itself."""
    counted = concept.key in ("work", "family") and content.kind in ("whole", "decimal")
    counted = counted or (concept.key == "place" and content.kind == "decimal")
    return max(concept.rank, BY_KEY["date"].rank) if counted else concept.rank


def judge_rest(evidence: RoleEvidence) -> Suggestion:
    """Return a role for unknown columns."""
    profile, content = evidence.profile, evidence.content
    doubt = role_reasons.DOUBT.format(what=_capital(content.words), share=round(100 * profile.top_share))
    # Codes with meaningful first digits are recognized by their values: they look like postcodes.
    rank = UNKNOWN_RANK - 1 if content.kind == "codes" and content.hierarchy["type"] == "digits" else UNKNOWN_RANK
    suggestion = quasi_identifier(content, doubt, rank)
    if content.kind == "categories" and has_sentences(profile):
        return suggestion.withheld(role_reasons.SENTENCES)
    if content.kind == "categories" and are_written_by_hand(profile):
        return suggestion.withheld(role_reasons.WRITTEN)
    if content.kind in NUMERIC and profile.present > 100 and profile.distinct_share > _MANY_NUMBERS:
        return suggestion.withheld(role_reasons.OWN_NUMBER)
    return suggestion


def quasi_identifier(content: Content, reason: str, rank: int, concept: str | None = None) -> Suggestion:
    if content.rejected:
        reason += role_reasons.REJECTED.format(count=len(content.rejected))
    hierarchy, rejected = content.hierarchy, content.rejected
    protected = concept is not None and role_reasons.is_special(concept)
    reason += role_reasons.PROTECTED if protected else ""
    return Suggestion(
        "quasi-identifier", reason, content.type, hierarchy, rejected, rank, protected=protected, concept=concept
    )


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def share_of_places(profile: Profile) -> float:
    """Return the proportion of rows with the name of a place, if half of the names are places; else 0.

    >>> share_of_places(Profile("x", {"Pine Grove": 3, "Hartsville": 4, "Gallatin": 1}, rows=8))
    0.875
    >>> share_of_places(Profile("x", {"Lager": 3, "Versand": 4, "Einkauf": 1}, rows=8))
    0.0
    """
    if len(profile.counts) < _LEAST_PLACES or profile.share_of(_CAPITAL) < 1:
        return 0.0
    places = sum(_PLACE.fullmatch(value.strip()) is not None for value in profile.sample)
    return profile.share_of(_PLACE) if places >= _DISTINCT * len(profile.sample) else 0.0
