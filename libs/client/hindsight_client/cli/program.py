"""The program and its options; the commands are in modules beside this one."""

from __future__ import annotations

from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from typer import rich_utils
from typer.core import TyperCommand, TyperGroup

from hindsight_client.cli.language import say
from hindsight_client.cli.output import print_line
from hindsight_client.cli.session import Session

# As one meets them, not as the modules are loaded
_ORDER: Final = (
    "turn",
    "recall",
    "inject_query",
    "why",
    "list",
    "update_memory",
    "forget",
    "export",
    "import",
    "extract",
    "consolidate",
    "prune_graph",
    "rebuild",
    "provision",
    "doctor",
    "dead-letters",
    "llm-stub",
)


class _Helping:
    """Help is told in the user's language, the option for it included."""

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)  # type: ignore[misc]  # of the command that this is mixed into
        if option is not None:
            option.help = say("Show this help and leave.", "显示本帮助并退出。")
        return option


class _InOrderOfUse(_Helping, TyperGroup):
    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # the vendored base class
        return sorted(super().list_commands(ctx), key=_ORDER.index)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # likewise
        """With hyphens or underscores, as one likes."""
        hyphened, underscored = cmd_name.replace("_", "-"), cmd_name.replace("-", "_")
        return super().get_command(ctx, hyphened) or super().get_command(ctx, underscored)


class Plain(_Helping, TyperCommand):
    """Any other command."""


class OfUser(Plain):
    """A command whose first argument USER falls away where `--user` or HINDSIGHT_USER names the user.

    It is not merely optional then: one positional argument less could never be told from another user's name.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        everything = super().get_params(ctx)
        return everything if self._named(ctx) is None else [one for one in everything if one.name != "user"]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        if (user := self._named(ctx)) is not None:
            ctx.params["user"] = user
        return rest

    @staticmethod
    def _named(ctx: Any) -> str | None:
        return ctx.obj.user if isinstance(ctx.obj, Session) else None


app = typer.Typer(
    name="hindsight-cli",
    cls=_InOrderOfUse,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    help=say(
        "Long-term memory for LLM agents. Without a command it takes one after the other, from the terminal or a pipe.",
        "LLM 智能体的长期记忆。不带命令时进入交互模式，从终端或管道逐条读取命令。",
    ),
)

rich_utils.ARGUMENTS_PANEL_TITLE = say("Arguments", "参数")
rich_utils.OPTIONS_PANEL_TITLE = say("Options", "选项")
rich_utils.COMMANDS_PANEL_TITLE = say("Commands", "命令")
rich_utils.ERRORS_PANEL_TITLE = say("Error", "错误")
rich_utils.DEFAULT_STRING = say("[default: {}]", "[默认：{}]")
rich_utils.ENVVAR_STRING = say("[env var: {}]", "[环境变量：{}]")
rich_utils.REQUIRED_LONG_STRING = say("[required]", "[必填]")
rich_utils.RICH_HELP = say(rich_utils.RICH_HELP, "用法说明：[blue]{command_path} {help_option}[/]")


class Output(StrEnum):
    PRETTY = "pretty"
    JSON = "json"


class Language(StrEnum):
    ZH = "zh"
    EN = "en"


class LogLevel(StrEnum):
    INFO = "INFO"
    DEBUG = "DEBUG"


def _show_version(wanted: bool) -> None:
    if wanted:
        print_line(f"hindsight-cli {version('hindsight-memory-client')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    *,
    nats_url: Annotated[
        str | None,
        typer.Option(help=say("Address of the bus.", "消息总线的地址。"), envvar="HINDSIGHT_NATS_URL"),
    ] = None,
    nats_user: Annotated[
        str | None,
        typer.Option(
            help=say(
                "User of the bus; its password comes from HINDSIGHT_NATS_PASSWORD.",
                "消息总线的用户名；密码取自 HINDSIGHT_NATS_PASSWORD。",
            ),
            envvar="HINDSIGHT_NATS_USER",
        ),
    ] = None,
    nats_credentials: Annotated[
        Path | None,
        typer.Option(
            help=say("Credentials file, in place of a password.", "凭证文件，用以代替密码。"),
            envvar="HINDSIGHT_NATS_CREDENTIALS",
            dir_okay=False,
        ),
    ] = None,
    tenant: Annotated[str, typer.Option(help=say("Tenant to work for.", "所属租户。"))] = "default",
    user: Annotated[
        str | None,
        typer.Option(
            help=say(
                "Whose memory; commands then take no USER argument.",
                "记忆所属的用户；指定后各命令不再需要 USER 参数。",
            ),
            envvar="HINDSIGHT_USER",
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help=say("Configuration file.", "配置文件。"), dir_okay=False)
    ] = None,
    output: Annotated[
        Output,
        typer.Option("--output", "-o", help=say("Form of the data on stdout.", "标准输出的数据格式。")),
    ] = Output.PRETTY,
    log_level: Annotated[
        LogLevel,
        typer.Option(
            case_sensitive=False,
            help=say("DEBUG shows how long each step took.", "DEBUG 会显示每一步的耗时。"),
        ),
    ] = LogLevel.INFO,
    lang: Annotated[
        Language | None,
        typer.Option(help=say("Language; otherwise that of the environment.", "语言；缺省时取自环境变量。")),
    ] = None,
    show_version: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=_show_version,
            help=say("Show the version and exit.", "显示版本号并退出。"),
        ),
    ] = False,
) -> None:
    del show_version, lang  # the one has ended the program by now, the other was heeded before it was loaded
    form: Literal["json", "pretty"] = "json" if output is Output.JSON else "pretty"
    context.obj = Session(
        nats_url,
        tenant,
        config,
        form,
        shows_times=log_level is LogLevel.DEBUG,
        nats_user=nats_user,
        nats_credentials=nats_credentials,
        user=user or None,
    )
    if context.invoked_subcommand is None:
        # prompt_toolkit is wanted here only
        from hindsight_client.cli.interactive import converse  # noqa: PLC0415

        raise typer.Exit(converse(context))
