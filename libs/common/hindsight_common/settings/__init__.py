"""Configuration: `config.yaml`, overridden by the environment, checked once at start."""

from __future__ import annotations

from hindsight_common.settings.loading import examine_settings, load_settings
from hindsight_common.settings.model import (
    ConflictWeights,
    EmbeddingSettings,
    EpisodicSettings,
    IntakeSettings,
    LlmSettings,
    MemoryLayers,
    OrchestratorSettings,
    RecallSettings,
    RecallWeights,
    RetentionSettings,
    SemanticSettings,
    Settings,
    WorkingSettings,
)

__all__ = [
    "ConflictWeights",
    "EmbeddingSettings",
    "EpisodicSettings",
    "IntakeSettings",
    "LlmSettings",
    "MemoryLayers",
    "OrchestratorSettings",
    "RecallSettings",
    "RecallWeights",
    "RetentionSettings",
    "SemanticSettings",
    "Settings",
    "WorkingSettings",
    "examine_settings",
    "load_settings",
]
