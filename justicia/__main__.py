"""``python -m justicia``."""

from __future__ import annotations

from justicia.cli import main

if __name__ == "__main__":
    main()
