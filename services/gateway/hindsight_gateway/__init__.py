"""The gateway worker of Hindsight."""
