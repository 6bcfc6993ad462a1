"""A model's reply, read tolerantly: `loose_json` the text, `reading` the reply, `entries` its items.

Nothing here raises: what cannot be read is named, and what can be read of a damaged reply is kept.
"""

from hindsight_extractor.domain.replies.entries import Entry
from hindsight_extractor.domain.replies.reading import Reading, read_reply

__all__ = ["Entry", "Reading", "read_reply"]
