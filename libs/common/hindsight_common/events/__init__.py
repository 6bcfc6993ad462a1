"""The published language: subjects, streams and the shape of every event and request."""
