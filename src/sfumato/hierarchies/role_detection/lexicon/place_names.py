"""Recognize names of places by typical beginnings and endings, because no list contains all towns."""

from sfumato.hierarchies.role_detection.profile import Profile
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
