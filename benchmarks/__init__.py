"""Measurements: each prints what it measured and how, and takes its data from the command line."""
