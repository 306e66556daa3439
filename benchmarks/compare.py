"""Times of two commits, run in turn: python -m benchmarks.compare BASE HEAD [--rounds 5] [--only WORD].

Each commit gets a work tree of its own, and each benchmark of `benchmarks.pieces` is run in a process of its own, base
and head in turn, `--rounds` times. What is printed are the smallest processor seconds of each, and their ratio, head /
base; the machine's speed drifts, and the ratio does not. The benchmarks are those of this work tree, so a piece that a
commit does not have is shown as absent.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.pieces import PIECES

__all__ = ["compared", "work_tree"]

HERE = Path(__file__).resolve().parent.parent


def work_tree(commit: str, folder: Path) -> Path:
    """A work tree of a commit."""
    path = folder / commit.replace("/", "-")
    subprocess.run(["git", "worktree", "add", "--detach", "--quiet", str(path), commit], check=True, cwd=HERE)
    return path


def timed(piece: str, tree: Path) -> float | None:
    """Processor seconds of a piece in a work tree; None where it does not run there."""
    code = "import sys, runpy; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code, str(HERE / "benchmarks" / "pieces.py"), piece],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return None
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])


def compared(base: Path, head: Path, pieces: list[str], rounds: int) -> dict[str, tuple[float | None, float | None]]:
    """Smallest times of each piece in two work trees, taken in turn."""
    found = {}
    for piece in pieces:
        times: dict[Path, list[float]] = {base: [], head: []}
        for number in range(rounds):
            for tree in (base, head) if number % 2 == 0 else (head, base):
                seconds = timed(piece, tree)
                if seconds is not None:
                    times[tree].append(seconds)
        found[piece] = min(times[base], default=None), min(times[head], default=None)
        one, other = found[piece]
        ratio = f"{other / one:7.2f}" if one and other else " absent"
        shown = [f"{value:9.4f} s" if value is not None else "        -  " for value in found[piece]]
        print(f"{piece:44} {shown[0]} {shown[1]} {ratio}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base")
    parser.add_argument("head")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="pieces whose name holds this")
    options = parser.parse_args()
    pieces = [name for name in PIECES if options.only in name]
    with tempfile.TemporaryDirectory() as folder:
        trees = []
        try:
            for number, commit in enumerate((options.base, options.head)):
                (Path(folder) / str(number)).mkdir()
                trees.append(work_tree(commit, Path(folder) / str(number)))
            print(f"{'piece':44} {'base':>11} {'head':>11} {'head/base':>9}")
            compared(trees[0], trees[1], pieces, options.rounds)
        finally:
            for tree in trees:
                subprocess.run(["git", "worktree", "remove", "--force", str(tree)], check=False, cwd=HERE)


if __name__ == "__main__":
    main()
