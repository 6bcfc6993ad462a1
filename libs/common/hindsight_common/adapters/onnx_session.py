"""Opens and runs ONNX Runtime the way a shared machine bears it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime  # type: ignore[import-untyped] # ships no types
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as states  # type: ignore[import-untyped] # ships no types

from hindsight_common.errors import RetryLater, StopAndFix

_UNREADABLE = (
    states.Fail,
    states.InvalidGraph,
    states.InvalidProtobuf,
    states.NoSuchFile,
    states.NotImplemented,
)
_RUN_FAULTS = (states.Fail, states.RuntimeException, states.EPFail, MemoryError)


def open_session(path: Path) -> onnxruntime.InferenceSession:
    """A session that computes in the calling thread only. Raises `StopAndFix` when the file cannot be run.

    Parallel calls come from outside: threads inside a call spin and collapse when neighbours want the cores.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    # Lengths differ from text to text: an arena would keep the peak of the longest, patterns one plan per length.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(
            str(path),
            options,
            providers=["CPUExecutionProvider"],
            # The fused form is slower on the CPU than the two operations it replaces.
            disabled_optimizers=["SkipLayerNormFusion"],
        )
    except _UNREADABLE as fault:
        raise StopAndFix(f"{path} cannot be opened by ONNX Runtime: {fault}") from fault


def run_session(
    session: onnxruntime.InferenceSession, output: str, inputs: Mapping[str, NDArray[np.generic]]
) -> NDArray[np.float32]:
    """One output. Raises `RetryLater` on a fault of the run, such as a lack of memory."""
    try:
        (result,) = session.run([output], dict(inputs))
    except _RUN_FAULTS as fault:
        raise RetryLater(f"the embedding model failed: {fault}") from fault
    return np.asarray(result, np.float32)
