"""All of Hindsight in one process."""
