"""Faults that are injected into whole commands: `python -m tests.faults` runs all of them."""
