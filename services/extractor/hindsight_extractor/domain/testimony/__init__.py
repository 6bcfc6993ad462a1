"""What of a message is its speaker's own word, and why the rest is not."""

from hindsight_extractor.domain.testimony.own_words import Cut, OwnWords, Testimony, own_words, testimonies
from hindsight_extractor.domain.testimony.reasons import Reason

__all__ = ["Cut", "OwnWords", "Reason", "Testimony", "own_words", "testimonies"]
