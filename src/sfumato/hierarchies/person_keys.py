"""How keys of persons are compared: without case, spaces and punctuation, so that noise makes no further persons.

`LB001234`, `lb-001234` and `LB 001234` are one person. Two persons whose keys differ in nothing else count as one: then
less is promised, never more. A text that begins with a minus is a number, and one of signs alone is compared as it is.
The engines do the same in their own words.
"""

# What engines take off a key in small letters, as a regular expression of databases: all but letters and digits.
SIGNS = r"[^\p{L}\p{N}]"
# A key that holds none of these is compared as it is.
NOISE = "[^a-z0-9]"
_SIGNS = str.maketrans("", "", "".join(sign for sign in map(chr, range(128)) if not sign.isalnum()))


def plain_key(text: str) -> str:
    """A key as it is compared.

    >>> [plain_key(text) for text in ("LB 001234", "lb-001234", "-7", "??", "Ä.1")]
    ['lb001234', 'lb001234', '-7', '??', 'ä1']
    """
    if text.startswith("-"):
        return text
    if text.isascii():
        return text.lower().translate(_SIGNS) or text
    return "".join(_small(sign) for sign in text if sign.isalnum()) or text


def _small(sign: str) -> str:
    """A letter as a small one, where that is one letter, too: databases go letter by letter."""
    small = sign.lower()
    return small if len(small) == 1 else sign
