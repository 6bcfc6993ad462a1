"""How the calibration that ships with each embedding model is measured."""
