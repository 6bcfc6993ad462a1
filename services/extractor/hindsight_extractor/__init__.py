"""The extractor worker of Hindsight."""
