"""A scripted OpenAI-compatible endpoint on loopback: for trying Hindsight without a model, and for tests.

`LlmStub` serves it inside a process, `hindsight-cli llm-stub` from a shell. It answers what a script says, or
echoes what the user said as events; it counts what it was asked.
"""

from hindsight_client.llm_stub.script import FAULTS, Script, Step
from hindsight_client.llm_stub.server import LlmStub

__all__ = ["FAULTS", "LlmStub", "Script", "Step"]
