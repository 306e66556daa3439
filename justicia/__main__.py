"""``python -m justicia``, and what the command ``justicia`` runs."""

from __future__ import annotations

import signal

__all__ = ["main"]


def main() -> None:
    """Run the command, and end without a word when that is interrupted before it has begun or after it has ended."""
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from justicia.cli import main as run

    run()


if __name__ == "__main__":
    main()
