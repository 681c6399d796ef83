"""Code pages: which one a text of single bytes is likely written in, told by what its words look like in each.

Western European letters of Windows are by far the most common. In another page's words they are signs that no word has
inside (`P³eæ`), or words have none of the 26 letters that all alphabets from the Latin share (`Ïîë`). Where all letters
are plausible nobody can tell from bytes, so it stays the common page.
"""

from re import Pattern

from sfumato.patterns import regex

WESTERN = "cp1252"
# So many words must look wrong in the common page, and so large a share of those that have such letters.
_SOME_WORDS, _SHARE = 3, 0.2
# Bytes are looked at as the signs of Latin-1, which has one for each.
_WORD = regex(r"[A-Za-z\x80-\xff]{2,}")
# What stands for letters of central Europe between letters: ą ł ś ż ź ľ as signs (no accents, points or ordinals, which
# words of the west have inside), ě as an ì, which Italian has at the end.
_SIGN_INSIDE = regex(r"(?<=[A-Za-z\xc0-\xff])[\xa3\xa5\xa6\xaf\xb1\xb3\xb9\xbc\xbe\xbf\xec](?=[A-Za-z\xc0-\xff])")
_CENTRAL = ("cp1250", "iso8859-2")
# What stands for ğ ı ş İ in Turkish, which has none of the vowels with accents that words of Iceland have beside them.
_TURKISH = regex(r"[\xd0\xdd\xde\xf0\xfd\xfe]")
_ACCENTED = regex(r"[\xc1\xc6\xc9\xcd\xd3\xda\xe1\xe6\xe9\xed\xf3\xfa]")
# What stands for ő in Hungarian: Portuguese has it before an e, Estonian in words without accents.
_HUNGARIAN = regex(r"[\xd5\xf5](?!e)")
# Words that have letters of another alphabet alone; а, и and о, and the Greek vowels, which the other page has seldom.
_FOREIGN_WORD = regex(r"[\xb8-\xff]{3,}")
_CYRILLIC = regex(r"[\xc0\xc8\xce\xe0\xe8\xee]")
_GREEK = regex(r"[\xc1\xc7\xc9\xcf\xe1\xe7\xe9\xef\xdc-\xdf\xfc]")


def likely_page(content: bytes) -> str:
    """The page that a text of single bytes, some of which are no ASCII, is likely written in.

    >>> likely_page("Miejscowość;Płeć;żółty;niepełna;zastępcza".encode("cp1250"))
    'cp1250'
    >>> likely_page("Größe;café;año;Peña;été".encode("cp1252")), likely_page("Пол;Возраст;Город".encode("cp1251"))
    ('cp1252', 'cp1251')
    >>> likely_page("Adı;Doğum;Ayşe;Çelik".encode("cp1254")), likely_page("Név;nő;idő;férfi;Győr;Pécs".encode("cp1250"))
    ('cp1254', 'cp1250')
    """
    words = [word for word in _WORD.findall(content.decode("latin-1")) if not word.isascii()]
    if _are_many([word for word in words if _FOREIGN_WORD.fullmatch(word)], words):
        letters = "".join(words)
        return "cp1251" if len(_CYRILLIC.findall(letters)) >= len(_GREEK.findall(letters)) else "cp1253"
    if _are_many(_with(_SIGN_INSIDE, words), words):
        return max(_CENTRAL, key=lambda page: _small_letters(words, page))
    accented = _are_many(_with(_ACCENTED, words), words)
    if not accented and _are_many(_with(_TURKISH, words), words):
        return "cp1254"
    return "cp1250" if accented and _are_many(_with(_HUNGARIAN, words), words) else WESTERN


def _with(letter: Pattern[str], words: list[str]) -> list[str]:
    return [word for word in words if letter.search(word)]


def _are_many(some: list[str], words: list[str]) -> bool:
    return len(some) >= _SOME_WORDS and len(some) >= _SHARE * len(words)


def _small_letters(words: list[str], page: str) -> int:
    """How many signs of words are small letters in a page; in a wrong one, some are capitals or no letters."""
    return sum(map(str.islower, "".join(words).encode("latin-1").decode(page, "replace")))
