"""Run justicia with a call of the operating system that fails, or at which the process is killed.

    python -m tests.faults.broken CALL NUMBER WHAT -- WORDS

CALL is write, link, replace, fsync or open; NUMBER counts calls of the process about its outputs; WHAT is an errno's
name, or kill, TERM, INT, HUP: a signal to itself in place of the call.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
import sys
from typing import Any


def main() -> None:
    """Put the fault in its place, and run."""
    call, number, what, _, *words = sys.argv[1:]
    count = 0
    real = getattr(os, call)

    def failing(*arguments: Any, **options: Any) -> Any:
        nonlocal count
        if call == "open" and not arguments[1] & (os.O_WRONLY | os.O_RDWR):
            return real(*arguments, **options)
        if call == "write" and bytes(arguments[1]) == b"blat":
            # Python itself tries out which folder is for temporary files.
            return real(*arguments, **options)
        if call == "write" and (arguments[0] <= 2 or not stat.S_ISREG(os.fstat(arguments[0]).st_mode)):
            return real(*arguments, **options)
        count += 1
        if count != int(number):
            return real(*arguments, **options)
        if hasattr(errno, what):
            if call == "write":
                # Half of it is written first, as on a disk that becomes full.
                real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
            raise OSError(getattr(errno, what), os.strerror(getattr(errno, what)))
        os.kill(os.getpid(), getattr(signal, "SIGKILL" if what == "kill" else f"SIG{what}"))
        return real(*arguments, **options)

    import importlib
    import pathlib

    # It looks at what the system has when it is imported.
    importlib.import_module("justicia.writing")
    setattr(os, call, failing)
    if call == "replace":
        pathlib.Path.replace = lambda path, target: (failing(path, target), pathlib.Path(target))[1]
    sys.argv = ["justicia", *words]
    from justicia.__main__ import main as run

    run()


if __name__ == "__main__":
    main()
