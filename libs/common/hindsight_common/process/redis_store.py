"""Redis as the configuration names it."""

from __future__ import annotations

from datetime import timedelta

from hindsight_common.adapters.redis_working_memory import RedisWorkingMemory
from hindsight_common.core import Core


def working_memory(core: Core) -> RedisWorkingMemory:
    assert core.settings.redis_url is not None, "the worker is declared to need it"
    ttl = timedelta(hours=core.settings.memory_layers.working.session_ttl_hours)
    return RedisWorkingMemory(core.settings.redis_url, core.keyring, session_ttl=ttl)
