"""Where models can run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Literal

Device = Literal["cpu", "cuda"]

_log = logging.getLogger("hindsight.settings")


def gpu_present() -> bool:
    """Whether the NVIDIA driver offers a device to this process."""
    return Path("/dev/nvidiactl").exists()


def usable_device(wanted: Device, *, gpu_present: Callable[[], bool] = gpu_present) -> Device:
    """The device models will run on. `cuda` always becomes `cpu` here, and a warning says why."""
    if wanted == "cuda":
        reason = (
            "the installed runtime is built for the CPU"
            if gpu_present()
            else "this machine shows no NVIDIA GPU"
        )
        _log.warning("embedding.device: cuda is not available (%s); models run on the CPU", reason)
    return "cpu"
