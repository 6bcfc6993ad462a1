"""How many cores this process may really use."""

from __future__ import annotations

import os
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_SELF = Path("/proc/self/cgroup")


def usable_threads(override: int | None = None, *, root: Path = _ROOT, own: Path = _SELF) -> int:
    """`override` where given; else the cores of the affinity mask, cut to the cgroup's quota. At least 1.

    The count of the machine's cores is wrong in a container: a quota shows in `cpu.max` only, and a set of cores
    only in the affinity.
    """
    if override is not None:
        return max(1, override)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quotas = [quota for folder in _folders(root, own) if (quota := _quota(folder)) is not None]
    return max(1, int(min([float(cores), *quotas])))


def _folders(root: Path, own: Path) -> list[Path]:
    """The group of this process and every group above it: each one's quota binds."""
    folder = root / _own_group(own)
    return [folder, *(parent for parent in folder.parents if parent.is_relative_to(root))]


def _own_group(own: Path) -> str:
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.removeprefix("0::").lstrip("/") for line in lines if line.startswith("0::")), "")


def _quota(folder: Path) -> float | None:
    """Cores per period of `cpu.max` ("200000 100000" is 2.0), None without a limit."""
    try:
        quota, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
        return int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None
