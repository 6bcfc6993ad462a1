"""Extraction by rules: word lists and patterns in data files, Chinese and English.

A turn becomes sentences of known speakers (`speakers`, `prose`); each sentence's stance says whether it tells,
asks, supposes or only greets (`stance`); clauses that tell are tried against the fact rules (`facts_*.toml`), once
what their speaker left out is known (`gaps` in English, `topics` in Chinese); what is told beyond them is kept as one
event (`events`), in fewer of the same words (`brief`).
"""

from hindsight_extractor.domain.rules.extractor import RuleExtractor

__all__ = ["RuleExtractor"]
