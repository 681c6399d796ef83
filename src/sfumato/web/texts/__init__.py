"""The words of the pages: one module a language, all with the same keys."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

DEFAULT = "en"


def words(accepted: str = "") -> Mapping[str, str]:
    """The words in the first language of an `Accept-Language` header that there is a module for.

    >>> words("xx, en;q=0.5")["data"]
    'Data'
    """
    for part in [*accepted.split(","), DEFAULT]:
        language = part.partition(";")[0].strip().partition("-")[0].lower()
        if language.isalpha() and find_spec(f"{__name__}.{language}"):
            found: Mapping[str, str] = import_module(f"{__name__}.{language}").WORDS
            return found
    raise LookupError(DEFAULT)
