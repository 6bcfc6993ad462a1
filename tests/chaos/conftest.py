from __future__ import annotations

import sys
from pathlib import Path

from server_form.fixture import form

__all__ = ["form"]

# the chaos tests drive the same process as the end-to-end ones
sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
