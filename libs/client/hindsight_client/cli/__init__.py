"""`hindsight-cli`: exit status 0 done, 1 refused or failed, 2 wrongly called."""

from __future__ import annotations

import sys

from hindsight_client.cli import (
    doctor_command,
    import_command,
    job_commands,
    llm_stub_command,
    memory_commands,
    provision_command,
)
from hindsight_client.cli.arguments import hoisted
from hindsight_client.cli.program import app

__all__ = [
    "app",
    "doctor_command",
    "import_command",
    "job_commands",
    "llm_stub_command",
    "main",
    "memory_commands",
    "provision_command",
]


def main() -> None:
    app(args=hoisted(sys.argv[1:]))
