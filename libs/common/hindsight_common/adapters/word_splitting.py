"""Text to index terms: folded, split, stemmed or segmented, without function words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources
from threading import Lock

import rjieba
import snowballstemmer

from hindsight_common.domain.text import fold_text

_HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Scripts written without spaces between words, or with endings grown onto them: Thai to Khmer, kana, Hangul.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\uac00-\ud7af]")
_PIECES = re.compile(rf"[{_HAN}]+|[^\W{_HAN}]+(?:['.@:/&+-][^\W{_HAN}]+)*[+#]*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PARTS = re.compile(r"\d+|[^\W\d_]+")
_STEMMING = Lock()  # a stemmer works in place, and texts may be split on several threads
# what is longer is an address or an encoded file: it does not come twice, and has no stem
_LONGEST_REMEMBERED = 64
_ENDINGS = frozenset({"s", "m", "d", "re", "ve", "ll"})


def split_terms(text: str) -> list[str]:
    """Index terms in order, with repetitions, function words dropped.

    Numbers and identifiers come whole and in parts (`iphone15`, `iphone`, `15`); compounds of letters in parts.
    """
    folded = fold_text(text).replace("’", "'")
    if "," in folded:
        folded = _THOUSANDS.sub("", folded)
    dropped = function_words()
    return [term for piece in _PIECES.findall(folded) for term in _terms(piece) if term not in dropped]


def is_han(term: str) -> bool:
    """Whether a term is Chinese; folded terms are of one script."""
    return "\u3400" <= term[:1] <= "\u9fff" or term[:1] >= "\U00020000"


@cache
def function_words() -> frozenset[str]:
    """English and Chinese words that carry grammar only, folded."""
    return words_of("function_words_en") | words_of("function_words_zh")


def words_of(name: str) -> frozenset[str]:
    """The words of a shipped list."""
    file = resources.files("hindsight_common").joinpath(f"data/words/{name}.txt")
    lines = file.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _terms(piece: str) -> list[str]:
    if is_han(piece):
        return _segmented(piece)
    if not piece.isascii() and _UNSPACED.search(piece):
        return list(_bigrams(piece))
    return _remembered(piece) if len(piece) <= _LONGEST_REMEMBERED else _spaced(piece)


def _segmented(run: str) -> list[str]:
    """Words of a run of Chinese, long ones also in parts.

    A word that is only guessed comes in the parts that the dictionary knows and in pairs of characters too: the
    guess depends on the neighbours, and a name is often cut together with one of them.
    """
    terms = rjieba.cut_for_search(run)
    guessed = [term for term in terms if len(term) > 1 and not rjieba.has_word(term)]
    if not guessed:
        return terms
    seen = set(terms)
    parts = [part for term in guessed for part in (*rjieba.cut_for_search(term, False), *_bigrams(term))]
    return terms + [part for part in parts if part not in seen]


@lru_cache(maxsize=32_768)
def _remembered(piece: str) -> list[str]:
    return _spaced(piece)


def _spaced(piece: str) -> list[str]:
    if piece.isalpha():
        return _stemmed(piece)
    if piece.endswith("n't"):
        return ["not"]
    if (bare := _without_endings(piece)) != piece:
        return _spaced(bare)
    parts = _PARTS.findall(piece)
    whole = [piece] if _is_identifier(piece) and parts != [piece] else []
    return whole + [term for part in parts if len(part) > 1 or part.isdigit() for term in _stemmed(part)]


def _without_endings(piece: str) -> str:
    """`we` of `we've`; in what is no English there may be thousands of them."""
    if "'" not in piece:
        return piece
    parts = piece.split("'")
    while len(parts) > 1 and parts[-1] in _ENDINGS:
        parts.pop()
    return "'".join(parts)


def _is_identifier(piece: str) -> bool:
    return any(character.isdigit() or character in "@_.+#&" for character in piece)


def _stemmed(word: str) -> list[str]:
    if word in function_words():
        return []
    if not word.isascii() or len(word) < 3 or len(word) > _LONGEST_REMEMBERED:
        return [word]
    return [_stem(word)]


@lru_cache(maxsize=32_768)
def _stem(word: str) -> str:
    with _STEMMING:
        return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> snowballstemmer.english_stemmer.EnglishStemmer:
    return snowballstemmer.stemmer("english")


def _bigrams(piece: str) -> Iterator[str]:
    if len(piece) == 1:
        yield piece
    for start in range(len(piece) - 1):
        yield piece[start : start + 2]
