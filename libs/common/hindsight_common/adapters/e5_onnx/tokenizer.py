"""Text to piece ids: the most probable cut over the unigram vocabulary (Viterbi), word by word.

No piece holds a word boundary after its first character, so words are cut on their own and remembered. Pieces are
found by CRC-32 in flat arrays, about 5 MB; a dictionary of all 250,000 would take some 70 MB of every process.
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_common.adapters.e5_onnx.wheel_file import Vocabulary

_WORD_START: Final = "\u2581"
_SPACES: Final = re.compile(" {2,}")
_BUCKET_BITS: Final = 18
_BUCKET_SHIFT: Final = 32 - _BUCKET_BITS
_WORDS_REMEMBERED: Final = 20_000
# Longer words (Chinese without spaces, addresses, encoded files) seldom come twice.
_LONGEST_REMEMBERED: Final = 24
# A piece outside the vocabulary costs this much more than the rarest one: the rule of SentencePiece.
_UNKNOWN_PENALTY: Final = 10.0


class UnigramTokenizer:
    """Cuts text as SentencePiece does. Control pieces such as `<s>` are never found in text, however it is spelt.

    Safe to call from several threads.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._normalisation = {**vocabulary.normalisation, 0: ""}
        self._unknown_score = float(vocabulary.scores.min()) - _UNKNOWN_PENALTY
        self._index_pieces()
        self._remembered: Callable[[str], tuple[int, ...]] = lru_cache(_WORDS_REMEMBERED)(self._cut)

    def _index_pieces(self) -> None:
        blob, offsets = self._vocabulary.blob, self._vocabulary.offsets.tolist()
        pieces = [blob[start:stop] for start, stop in pairwise(offsets)]
        ids = np.array([i for i, piece in enumerate(pieces) if not self._is_control(i, piece)], np.uint32)
        sums = np.array([zlib.crc32(pieces[i]) for i in ids.tolist()], np.uint32)
        order = np.argsort(sums, kind="stable")
        sums, ids = sums[order], ids[order]
        bounds = np.searchsorted(sums >> _BUCKET_SHIFT, np.arange((1 << _BUCKET_BITS) + 1))
        # Plain arrays: reading one element of them is several times faster than of a numpy array.
        self._sums = _integers(sums)
        self._ids = _integers(ids)
        self._bounds = _integers(bounds.astype(np.uint32))
        self._offsets = _integers(self._vocabulary.offsets)
        self._scores = array("f", self._vocabulary.scores.tolist())
        self._longest_from = _longest_by_first_character([pieces[i] for i in ids.tolist()])

    def _is_control(self, piece_id: int, piece: bytes) -> bool:
        known = self._vocabulary
        named = piece_id in {known.begin, known.end, known.padding, known.unknown}
        return named or not piece or piece == b"<mask>"

    def __call__(self, text: str) -> list[int]:
        """Ids of the pieces of `text`, without `<s>` and `</s>`; a lone surrogate is an unknown piece."""
        spaced = _SPACES.sub(" ", text.translate(self._normalisation))
        marked = spaced.replace(" ", _WORD_START)
        if not marked.startswith(_WORD_START):
            marked = _WORD_START + marked
        ids: list[int] = []
        for word in marked.split(_WORD_START)[1:]:
            cut = self._remembered if len(word) <= _LONGEST_REMEMBERED else self._cut
            ids.extend(cut(_WORD_START + word))
        return ids

    def _cut(self, word: str) -> tuple[int, ...]:
        """The most probable cut of one word."""
        letters = [letter.encode("utf-8", "surrogatepass") for letter in word]
        count = len(letters)
        best = [0.0] + [float("-inf")] * count
        piece_at = [self._vocabulary.unknown] * (count + 1)
        began_at = list(range(-1, count))
        for start in range(count):
            base = best[start]
            if base + self._unknown_score > best[start + 1]:
                best[start + 1] = base + self._unknown_score
                piece_at[start + 1], began_at[start + 1] = self._vocabulary.unknown, start
            for stop, piece in self._pieces_from(word, letters, start):
                score = base + self._scores[piece]
                if score > best[stop]:
                    best[stop], piece_at[stop], began_at[stop] = score, piece, start
        return _follow_back(piece_at, began_at)

    def _pieces_from(self, word: str, letters: list[bytes], start: int) -> list[tuple[int, int]]:
        """Every (end, piece) of the vocabulary that begins at `start`."""
        found: list[tuple[int, int]] = []
        checksum, spelt = 0, b""
        for stop in range(start, min(len(letters), start + self._longest_from.get(word[start], 0))):
            checksum = zlib.crc32(letters[stop], checksum)
            spelt += letters[stop]
            bucket = checksum >> _BUCKET_SHIFT
            candidates = range(self._bounds[bucket], self._bounds[bucket + 1])
            found.extend(
                (stop + 1, self._ids[at])
                for at in candidates
                if self._sums[at] == checksum and self._is_spelt(self._ids[at], spelt)
            )
        return found

    def _is_spelt(self, piece: int, spelt: bytes) -> bool:
        return self._vocabulary.blob[self._offsets[piece] : self._offsets[piece + 1]] == spelt


def _integers(values: NDArray[np.uint32]) -> array[int]:
    flat = array("I")
    flat.frombytes(np.ascontiguousarray(values).tobytes())
    return flat


def _longest_by_first_character(pieces: list[bytes]) -> dict[str, int]:
    """Characters of the longest piece that begins with a character: most Chinese ones begin only short pieces."""
    longest: dict[str, int] = {}
    for piece in pieces:
        spelt = piece.decode()
        if len(spelt) > longest.get(spelt[0], 0):
            longest[spelt[0]] = len(spelt)
    return longest


def _follow_back(piece_at: list[int], began_at: list[int]) -> tuple[int, ...]:
    ids: list[int] = []
    at = len(piece_at) - 1
    while at > 0:
        ids.append(piece_at[at])
        at = began_at[at]
    return tuple(reversed(ids))
