"""Comparison of person keys without case, spaces and punctuation, so that spelling noise creates no additional persons.

`LB001234`, `lb-001234` and `LB 001234` are one person. Two persons whose keys differ in nothing else count as one,
which can only weaken a guarantee, never overstate it. A text that begins with a minus is a number, and a text of
punctuation alone is compared unchanged. The engines implement the same rule in their own languages.
"""

from collections.abc import Collection

# Regular expression of databases for what is removed from lower-case keys: all but letters and digits.
SIGNS = r"[^\p{L}\p{N}]"
# A key without any of these needs no normalization.
NOISE = "[^a-z0-9]"
_SIGNS = str.maketrans("", "", "".join(sign for sign in map(chr, range(128)) if not sign.isalnum()))
# The same characters, except line separators.
_SIGNS_OF_LINES = bytes(sign for sign in _SIGNS if sign != ord("\n"))


def plain_key(text: str) -> str:
    """Return the normalized form of a key.

    >>> [plain_key(text) for text in ("LB 001234", "lb-001234", "-7", "??", "Ä.1")]
    ['lb001234', 'lb001234', '-7', '??', 'ä1']
    """
    if text.startswith("-"):
        return text
    if text.isascii():
        return text.lower().translate(_SIGNS) or text
    return "".join(_small(sign) for sign in text if sign.isalnum()) or text


def plain_keys(texts: Collection[str]) -> set[str]:
    """Return the distinct normalized keys of some texts; plain letters are processed together, which is faster.

    >>> sorted(plain_keys(["LB 1", "lb-1", "7"])), sorted(plain_keys(["??", "Ä.1", "ä1"]))
    (['7', 'lb1'], ['??', 'ä1'])
    """
    lines = "\n".join(texts)
    if lines.isascii() and lines.count("\n") == len(texts) - 1 and "\n-" not in f"\n{lines}":
        keys = {*lines.lower().encode().translate(None, _SIGNS_OF_LINES).decode().split("\n")}
        if "" not in keys:
            return keys
    return {*map(plain_key, texts)}


def _small(sign: str) -> str:
    """Return a letter in lower case, if that is one letter: databases convert letter by letter."""
    small = sign.lower()
    return small if len(small) == 1 else sign
