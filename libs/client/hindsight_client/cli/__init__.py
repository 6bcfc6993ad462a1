"""`hindsight-cli`: exit status 0 done, 1 refused or failed, 2 wrongly called."""

from __future__ import annotations

import sys

from hindsight_client.cli.arguments import hoisted
from hindsight_client.cli.language import choose_language


def main() -> None:
    arguments = sys.argv[1:]
    choose_language(arguments)
    # help texts are worded while the commands are loaded, so the language is chosen first
    from hindsight_client.cli.commands import app  # noqa: PLC0415

    app(args=hoisted(arguments))
