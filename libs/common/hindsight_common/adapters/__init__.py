"""One vendor a file, one port each."""
