"""Detect the code page of a single-byte text from how plausible its words look in each candidate.

Western European Windows letters are by far the most common. In the words of another page they appear as characters that
no word contains (`P³eæ`), or the words have none of the 26 letters that all Latin alphabets share (`Ïîë`). If all
letters are plausible, the bytes do not decide, and the common page is used.
"""

from re import Pattern

from sfumato.patterns import regex

WESTERN = "cp1252"
# Minimum number of words that look wrong in the common page, and their minimum proportion of the words with such
# letters.
_SOME_WORDS, _SHARE = 3, 0.2
# Bytes are examined as characters of Latin-1, which has one for each byte.
_WORD = regex(r"[A-Za-z\x80-\xff]{2,}")
# Characters that replace letters of central Europe between letters: ą ł ś ż ź ľ appear as symbols (no accents, points
# or ordinals, which occur within western words). An ě appears as an ì, which Italian has at the end of words.
_SIGN_INSIDE = regex(r"(?<=[A-Za-z\xc0-\xff])[\xa3\xa5\xa6\xaf\xb1\xb3\xb9\xbc\xbe\xbf\xec](?=[A-Za-z\xc0-\xff])")
_CENTRAL = ("cp1250", "iso8859-2")
# Characters that replace č ř ě ň ů ľ ť and ć đ: graves, ø, æ, ð and symbols. With ž and š, or á í ó ú ý in the same
# word, no western language has these, except for ø in Faroese, which also has ð.
_GRAVE = regex(r"[\x8d\x9d\xbe\xc6\xc8\xcc\xd0\xd2\xd8\xd9\xe6\xe8\xec\xf0\xf2\xf8\xf9]")
_HACEK = regex(
    r"[\x8a\x8e\x9a\x9e]|[\xc8\xcc\xd2\xd8\xd9\xe8\xec\xf2\xf8\xf9].*[\xc1\xcd\xd3\xda\xdd\xe1\xed\xf3\xfa\xfd]"
    r"|[\xc1\xcd\xd3\xda\xdd\xe1\xed\xf3\xfa\xfd].*[\xc8\xcc\xd2\xd8\xd9\xe8\xec\xf2\xf8\xf9]"
)
_FAROESE = regex(r"[\xd0\xf0]")
# Characters that replace ğ ı ş İ in Turkish, which has none of the accented vowels that accompany them in Icelandic
# words.
_TURKISH = regex(r"[\xd0\xdd\xde\xf0\xfd\xfe]")
_ACCENTED = regex(r"[\xc1\xc6\xc9\xcd\xd3\xda\xe1\xe6\xe9\xed\xf3\xfa]")
# Characters that replace ő in Hungarian; Portuguese has them before an e, Estonian in words without accents.
_HUNGARIAN = regex(r"[\xd5\xf5](?!e)")
# Words in letters of another alphabet only; а, и and о, and the Greek vowels, which are rare in the other page.
_FOREIGN_WORD = regex(r"[\xb8-\xff]{3,}")
_CYRILLIC = regex(r"[\xc0\xc8\xce\xe0\xe8\xee]")
_GREEK = regex(r"[\xc1\xc7\xc9\xcf\xe1\xe7\xe9\xef\xdc-\xdf\xfc]")


def likely_page(content: bytes) -> str:
    """Return the likely code page of a single-byte text with non-ASCII characters.

    >>> likely_page("Miejscowość;Płeć;żółty;niepełna;zastępcza".encode("cp1250"))
    'cp1250'
    >>> likely_page("Größe;café;año;Peña;été".encode("cp1252")), likely_page("Пол;Возраст;Город".encode("cp1251"))
    ('cp1252', 'cp1251')
    >>> likely_page("Adı;Doğum;Ayşe;Çelik".encode("cp1254")), likely_page("Név;nő;idő;férfi;Győr;Pécs".encode("cp1250"))
    ('cp1254', 'cp1250')
    >>> likely_page("Číslo;muž;Příjmení;měsíc".encode("cp1250")), likely_page("São;Hélène;però;Åse".encode("cp1252"))
    ('cp1250', 'cp1252')
    """
    words = [word for word in _WORD.findall(content.decode("latin-1")) if not word.isascii()]
    if _are_many([word for word in words if _FOREIGN_WORD.fullmatch(word)], words):
        letters = "".join(words)
        return "cp1251" if len(_CYRILLIC.findall(letters)) >= len(_GREEK.findall(letters)) else "cp1253"
    if _are_many(_with(_SIGN_INSIDE, words), words):
        return max(_CENTRAL, key=lambda page: _small_letters(words, page))
    if _are_czech(words):
        return "cp1250"
    accented = _are_many(_with(_ACCENTED, words), words)
    if not accented and _are_many(_with(_TURKISH, words), words):
        return "cp1254"
    return "cp1250" if accented and _are_many(_with(_HUNGARIAN, words), words) else WESTERN


def _are_czech(words: list[str]) -> bool:
    """Return whether words have letters like Czech, Slovak, Slovene and Croatian ones, in their Windows page."""
    slavic = _with(_HACEK, words)
    if any("\xf8" in word or "\xd8" in word for word in slavic) and _with(_FAROESE, words):
        return False
    return _are_many(slavic, words) and _are_many(_with(_GRAVE, words), words)


def _with(letter: Pattern[str], words: list[str]) -> list[str]:
    return [word for word in words if letter.search(word)]


def _are_many(some: list[str], words: list[str]) -> bool:
    return len(some) >= _SOME_WORDS and len(some) >= _SHARE * len(words)


def _small_letters(words: list[str], page: str) -> int:
    """Return how many characters of words are lowercase letters in a page; in a wrong one, some are not."""
    return sum(map(str.islower, "".join(words).encode("latin-1").decode(page, "replace")))
