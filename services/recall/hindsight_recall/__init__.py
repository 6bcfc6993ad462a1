"""The recall worker of Hindsight."""
