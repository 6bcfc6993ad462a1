"""The consolidator worker of Hindsight."""
