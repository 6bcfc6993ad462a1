"""Servers and stores that run inside one process or as its children."""
