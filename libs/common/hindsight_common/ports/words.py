"""Text to words, with the background statistics that weigh them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class WordAnalyzer(Protocol):
    """Splits text into index terms and weighs them by a shipped background table, never by the user's own data,
    so that adding one memory reorders no other and nothing leaks between users.
    """

    def terms(self, text: str) -> list[str]:
        """Normalised terms in order, with repetitions: width, case, accents and script variants folded, English
        stemmed, Chinese segmented, function words dropped.
        """
        ...

    def without_names(self, text: str) -> str:
        """A question without the given names in Latin letters that it mentions, for the comparison of meaning: a
        shared name makes any two sentences alike. The whole text where nothing else would be left.
        """
        ...

    def document_weights(self, text: str) -> Mapping[str, float]:
        """BM25 weight of each term of a stored text, idf left out (the query brings it)."""
        ...

    def query_weights(self, text: str) -> Mapping[str, float]:
        """Background idf of each distinct term of a question. BM25 is the dot product with document weights."""
        ...
