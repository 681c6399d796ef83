"""Open text files: decompress, decode, detect the code page, and read the first record."""

import codecs
import csv
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from re import Pattern
from typing import IO

from sfumato.delimited.dialect import damaged, encoding_of, wrong_encoding
from sfumato.errors import DataError, EngineError
from sfumato.formats import is_packed
from sfumato.localization.messages import Message
from sfumato.patterns import regex

# A field may be as long as a text; Python's own limit is 128 KiB.
csv.field_size_limit(1 << 30)
# Maximum number of bytes searched for a character that is not in the encoding of its file.
MOST_LOOKED_THROUGH = 1 << 26
PIECE = 1 << 16
# Maximum number of characters in the first lines of a file; lines with rows are far shorter.
MOST_CHARACTERS = 1 << 24
# Errors while a damaged file is decompressed.
DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)


def wide_encoding(path: Path) -> str | None:
    """Return the multi-byte encoding that the first bytes of a file show, or None.

    Without a byte order mark, half of the first bytes are 0, because the first character of a text with rows is Latin.
    """
    with (
        suppress(*DAMAGED, OSError, ValueError),
        gzip.open(path) if is_packed(path) else path.open("rb") as stream,
    ):
        first = stream.read(4)
        if first in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
            return "utf-32"
        if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        return {b"\1\0": "utf-16-le", b"\0\1": "utf-16-be"}.get(bytes(map(bool, first[:2])))
    return None


@contextmanager
def open_text(path: Path, encoding: str = "utf-8") -> Iterator[IO[str]]:
    """Open a text file for reading, decompressed if its name ends in .gz; a byte order mark is removed.

    Raises:
        PlanError: The encoding is invalid.
        DataError: The file does not exist, is damaged, or is not in that encoding.
        EngineError: The system refuses.
    """
    name = encoding_of(encoding)
    if "\0" in str(path):
        what = Message("error.part.cannot_read", name=repr(path.name))
        raise DataError("unreadable", message=what, hint=Message("hint.delimited_path_and_rights"))
    wide = wide_encoding(path) if name == "utf-8" else None
    if wide is not None:
        raise wrong_encoding(encoding, wide)
    unpacking = gzip.open if is_packed(path) else open
    try:
        with unpacking(path, "rt", encoding="utf-8-sig" if name == "utf-8" else encoding, newline="") as stream:
            yield stream
    except UnicodeError:
        error, position = wrong_encoding(encoding), _undecoded(path, encoding)
        raise error.at(path.name, *position) if position else error from None
    except DAMAGED:
        raise damaged(path) from None
    except OSError as refusal:
        kind = DataError if isinstance(refusal, FileNotFoundError) else EngineError
        raise kind("unreadable.file", name=path.name, problem=refusal.strerror) from None


def _undecoded(path: Path, encoding: str) -> tuple[int, int] | None:
    """Return line and column of the first character that is not in an encoding; None if it cannot be found."""
    content = bytearray()
    with (
        suppress(*DAMAGED),
        gzip.open(path) if is_packed(path) else path.open("rb") as stream,
    ):
        while len(content) < MOST_LOOKED_THROUGH and (piece := stream.read(PIECE)):
            content += piece
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        before = content[: error.start].decode(encoding, "replace")
        return before.count("\n") + 1, len(before) - before.rfind("\n")
    return None


def first_record(stream: IO[str], quote: str = '"') -> str:
    """Return the first record of an open file, including line breaks within quotes.

    Raises:
        DataError: It does not end; a small compressed file may be arbitrarily long.
    """
    lines = [stream.readline(MOST_CHARACTERS)]
    length, quotes = len(lines[0]), lines[0].count(quote)
    while quotes % 2 and length < MOST_CHARACTERS and (line := stream.readline(MOST_CHARACTERS)):
        lines.append(line)
        length, quotes = length + len(line), quotes + line.count(quote)
    if length >= MOST_CHARACTERS and not (quotes % 2 and len(lines) > 1):  # an open quote is reported as such
        raise DataError("endless-line", count=MOST_CHARACTERS)
    return "".join(lines)


def next_lines(stream: IO[str], most: int) -> list[str]:
    """Return the next lines of an open file, unless they are too long."""
    lines, room = list[str](), MOST_CHARACTERS
    while len(lines) < most and (line := stream.readline(room)):
        room -= len(line)
        if room <= 0:
            break
        lines.append(line)
    return lines


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

    The default is the Western European code page of Windows, by far the most common one. Words in another code page,
    read with the default, have characters that no word contains (`P³eæ`), or none of the 26 letters common to all Latin
    alphabets (`Ïîë`). If all letters are plausible, the bytes do not decide, and the default is used.

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
