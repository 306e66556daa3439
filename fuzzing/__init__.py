"""Broken and hostile input for every reader of justicia; `python -m fuzzing TARGET` runs it, README.md tells how."""
