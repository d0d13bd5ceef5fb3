"""The Porter stemmer for English (M. F. Porter, 1980): `saving`, `saved` and `saves` become `save`.

The steps and their conditions are those of the paper; `m` is its measure of a stem, the number of
vowel runs followed by a consonant run.
"""

from __future__ import annotations

import re
from functools import lru_cache

_M0 = re.compile(r"^c*v+c+")
_M1 = re.compile(r"^c*v+c+v+c+")
_EXACTLY_1 = re.compile(r"^c*v+c+v*$")

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_LENGTHS = range(7, 2, -1)  # of endings in steps 2 and 3
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti",
    "ous", "ive", "ize", "al", "er", "ic", "ou",
)  # fmt: skip


@lru_cache(1 << 16)
def stem(word: str) -> str:
    """The stem of a lower-case word; words of other letters than a to z come back as they are."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    for step in (_plurals, _past, _final_y, _step_2, _step_3, _step_4, _final_e):
        word = step(word)
    return word


def _shape(word: str) -> str:
    """The word as a string of `v` and `c`; `y` is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _plurals(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _M0.match(_shape(word[:-3])) else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return _after_past(rest) if "v" in _shape(rest) else word
    return word


def _after_past(word: str) -> str:
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _doubled(word) and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if _EXACTLY_1.match(_shape(word)) and _short(word) else word


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _step_2(word: str) -> str:
    return _replaced(word, _STEP_2)


def _step_3(word: str) -> str:
    return _replaced(word, _STEP_3)


def _replaced(word: str, endings: dict[str, str]) -> str:
    """The longest ending decides."""
    for length in _LENGTHS:
        new = endings.get(word[-length:])
        if new is not None:
            rest = word[:-length]
            return rest + new if _M0.match(_shape(rest)) else word
    return word


def _step_4(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            fits = ending != "ion" or rest.endswith(("s", "t"))
            return rest if fits and _M1.match(_shape(rest)) else word
    return word


def _final_e(word: str) -> str:
    if word.endswith("e"):
        shape = _shape(word[:-1])
        if _M1.match(shape) or (_EXACTLY_1.match(shape) and not _short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _M1.match(_shape(word)) else word


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _short(word: str) -> bool:
    """Ends consonant, vowel, consonant, the last none of w, x, y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"
