"""The model cache never shows half a file."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hindsight_common.adapters.e5_onnx.graph_cache import cached_file, default_cache_dir
from hindsight_common.errors import StopAndFix


def test_a_file_is_built_once(tmp_path: Path) -> None:
    built: list[bytes] = []

    def build() -> bytes:
        built.append(b"model")
        return b"model"

    for _ in range(3):
        assert cached_file(tmp_path / "new" / "folder", "m.onnx", build).read_bytes() == b"model"
    assert len(built) == 1


def test_two_that_build_at_once_both_get_a_whole_file(tmp_path: Path) -> None:
    both_are_building = threading.Barrier(2)

    def build() -> bytes:
        both_are_building.wait()
        return b"x" * 1_000_000

    with ThreadPoolExecutor(2) as pool:
        paths = list(pool.map(lambda _: cached_file(tmp_path, "m.onnx", build), range(2)))
    assert [path.stat().st_size for path in paths] == [1_000_000] * 2
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def build() -> bytes:
        raise ValueError("bad weights")

    with pytest.raises(ValueError, match="bad weights"):
        cached_file(tmp_path, "m.onnx", build)
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StopAndFix, match="file"):
        cached_file(tmp_path / "file", "m.onnx", lambda: b"model")


def test_the_default_folder_follows_the_desktop_convention(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_dir() == tmp_path / "hindsight" / "models"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert default_cache_dir() == Path.home() / ".cache" / "hindsight" / "models"
