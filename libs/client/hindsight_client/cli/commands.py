"""The program with all its commands. Loading a module registers what it holds, worded in the chosen language."""

from __future__ import annotations

from hindsight_client.cli import (
    dead_letters_command,
    doctor_command,
    export_command,
    extract_command,
    import_command,
    job_commands,
    llm_stub_command,
    memory_commands,
    prompt_commands,
    provision_command,
    prune_command,
    why_command,
)
from hindsight_client.cli.program import app

__all__ = [
    "app",
    "dead_letters_command",
    "doctor_command",
    "export_command",
    "extract_command",
    "import_command",
    "job_commands",
    "llm_stub_command",
    "memory_commands",
    "prompt_commands",
    "provision_command",
    "prune_command",
    "why_command",
]
