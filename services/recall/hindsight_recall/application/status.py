"""How the deployment stands, for operators: `admin.status`."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_common.ports.progress import Projections
from hindsight_recall.application.projection import Projection
from hindsight_recall.application.rebuild import Rebuild


@dataclass(frozen=True, slots=True)
class Status:
    projections: Projections
    projection: Projection
    rebuild: Rebuild
    model_id: str

    async def answer(self) -> dict[str, object]:
        """What waits where, and how far the vectors are; numbers only."""
        return {
            "waiting": await self.projections.waiting(),
            "vectors": {
                "position": self.projection.position,
                "memories": await self.projection.index.count(),
                "model": self.model_id,
                "rebuilding": self.rebuild.running,
            },
        }
