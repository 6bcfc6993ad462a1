"""As whom a process or a client speaks to the bus."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

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

    def user_at(self, url: str) -> str | None:
        """The user by whose name the server knows us: the one given, else the one in the address."""
        return self.user or urlsplit(url.split(",", maxsplit=1)[0]).username

    def client_options(self, url: str) -> dict[str, Any]:
        """What nats-py's `connect` takes beside the address. Raises `StopAndFix` for a file that is not there."""
        options: dict[str, Any] = {"inbox_prefix": inbox_prefix(self.user_at(url))}
        if self.file is not None:
            if not self.file.is_file():
                raise StopAndFix(f"nats_credentials: there is no file {self.file}")
            options["user_credentials"] = str(self.file)
        elif self.user is not None:
            options |= {"user": self.user, "password": self.password or ""}
        return options
