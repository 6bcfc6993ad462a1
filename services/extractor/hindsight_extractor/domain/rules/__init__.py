"""Extraction by rules: word lists and patterns in data files, Chinese and English.

A turn becomes sentences of known speakers (`speakers`, `prose`); each sentence's stance says whether it tells,
asks, supposes or only greets (`stance`); clauses that tell are tried against the fact rules (`facts_en.toml`,
`facts_zh.toml`); what is told beyond them is kept as one event (`events`).
"""

from hindsight_extractor.domain.rules.extractor import RuleExtractor

__all__ = ["RuleExtractor"]
