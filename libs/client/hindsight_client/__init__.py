"""Async client and command line of Hindsight."""
