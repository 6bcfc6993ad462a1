"""Converts the default embedding model into a folder, while an image is built: `convert_model.py FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from hindsight_common.adapters.embedding_factory import load_encoder

if __name__ == "__main__":
    load_encoder(cache_dir=Path(sys.argv[1]))
