"""The number of threads follows the affinity and the cgroup's quota, unless somebody says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight_common.adapters.cpu_share import usable_threads


@pytest.fixture(autouse=True)
def _eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)


def group(root: Path, name: str, quota: str) -> None:
    (root / name).mkdir(parents=True, exist_ok=True)
    (root / name / "cpu.max").write_text(quota + "\n")


def own_group(root: Path, line: str) -> Path:
    path = root / "self"
    path.write_text(line + "\n")
    return path


@pytest.mark.parametrize(
    ("quota", "threads"),
    [
        ("max 100000", 8),
        ("200000 100000", 2),
        ("250000 100000", 2),
        ("50000 100000", 1),
        ("9900000 100000", 8),
    ],
)
def test_a_quota_cuts_the_cores_of_the_affinity(tmp_path: Path, quota: str, threads: int) -> None:
    group(tmp_path, "", quota)
    assert usable_threads(root=tmp_path, own=own_group(tmp_path, "0::/")) == threads


def test_the_tightest_quota_of_all_groups_above_binds(tmp_path: Path) -> None:
    group(tmp_path, "", "max 100000")
    group(tmp_path, "slice", "300000 100000")
    group(tmp_path, "slice/pod", "600000 100000")
    assert usable_threads(root=tmp_path, own=own_group(tmp_path, "0::/slice/pod")) == 3


@pytest.mark.parametrize("content", ["", "nonsense", "1 0", "a b"])
def test_what_cannot_be_read_limits_nothing(tmp_path: Path, content: str) -> None:
    group(tmp_path, "", content)
    assert usable_threads(root=tmp_path, own=tmp_path / "missing") == 8


@pytest.mark.parametrize(("override", "threads"), [(1, 1), (3, 3), (0, 1), (-4, 1)])
def test_a_setting_overrides_what_was_found(tmp_path: Path, override: int, threads: int) -> None:
    group(tmp_path, "", "200000 100000")
    assert usable_threads(override, root=tmp_path, own=own_group(tmp_path, "0::/")) == threads
