"""Pure rules of memory: no I/O, no clock, no randomness, standard library only."""
