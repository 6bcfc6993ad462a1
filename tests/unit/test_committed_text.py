from __future__ import annotations

from pathlib import Path

import pytest

from scripts.check_committed_text import HOSTS, findings

HERE = Path("some/file.md")


@pytest.mark.parametrize("host", HOSTS)
def test_a_registry_host_is_found_with_its_line(host: str) -> None:
    found = list(findings(HERE, f"first line\nsee https://files.{host.upper()}/simple\n"))
    assert len(found) == 1
    assert found[0].startswith("some/file.md:2: ")


@pytest.mark.parametrize(
    "path", ["/ro" + "ot/x", "cd /wo" + "rk/main", "'/ho" + "me/ann/file'", "/Us" + "ers/ann/x"]
)
def test_a_path_of_somebodys_machine_is_found(path: str) -> None:
    assert len(list(findings(HERE, path))) == 1


def test_an_index_line_of_a_lock_is_found() -> None:
    assert len(list(findings(HERE, "--index" + "-url https://mirror.example/simple\nx==1\n"))) == 1


@pytest.mark.parametrize(
    "text", ["/tmp/x", "https://example.org/roots/item", "./tmpl/list", "~/root/x", "pypi", ""]
)
def test_ordinary_text_passes(text: str) -> None:
    assert not list(findings(HERE, text))
