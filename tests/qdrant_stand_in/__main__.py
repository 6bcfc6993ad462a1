"""`python -m qdrant_stand_in --folder F --port P [--api-key K]`: serves until SIGTERM."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import uvicorn

from qdrant_stand_in.app import application


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--api-key")
    options = parser.parse_args()
    # it says with every collection that it is not the server
    warnings.filterwarnings("ignore", category=UserWarning)
    app = application(options.folder, options.api_key)
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
