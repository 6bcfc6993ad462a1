"""The pruner worker of Hindsight."""
