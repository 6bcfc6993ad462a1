"""Traces, metrics and structured logs; never the text of a memory, never a user id."""
