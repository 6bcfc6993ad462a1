"""Histories from elsewhere, read as turns."""
