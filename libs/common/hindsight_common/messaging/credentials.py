"""As whom a process or a client speaks to the bus."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hindsight_common.errors import StopAndFix

if TYPE_CHECKING:
    from hindsight_common.settings import Settings

_NOBODY_PREFIX: Final = "_INBOX"


def inbox_prefix(user: str | None) -> str:
    """Where answers to this user arrive; nobody else may listen there."""
    return f"{_NOBODY_PREFIX}.{user}" if user else _NOBODY_PREFIX


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user with a password, or a credentials file; neither for a server that asks for none.

    The server's permissions name inboxes by user, so `user` is wanted beside a file, too, where it has any.
    """

    user: str | None = None
    password: str | None = field(default=None, repr=False)
    file: Path | None = None

    @staticmethod
    def of(settings: Settings) -> Credentials:
        secret = settings.nats_password
        return Credentials(
            settings.nats_user, secret.get_secret_value() if secret else None, settings.nats_credentials
        )

    @property
    def inbox_prefix(self) -> str:
        return inbox_prefix(self.user)

    @property
    def name(self) -> str:
        """For messages to people."""
        return self.user or (f"of {self.file}" if self.file else "without a name")

    def client_options(self) -> dict[str, Any]:
        """What nats-py's `connect` takes. Raises `StopAndFix` for a file that cannot be read."""
        options: dict[str, Any] = {"inbox_prefix": self.inbox_prefix}
        if self.file is not None:
            if not self.file.is_file():
                raise StopAndFix(f"nats_credentials: there is no file {self.file}")
            options["user_credentials"] = str(self.file)
        elif self.user is not None:
            options |= {"user": self.user, "password": self.password or ""}
        return options
