"""``python -m fuzzing TARGET|all --minutes 20 --seed N --corpus DIR``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from fuzzing.campaign import Campaign
from fuzzing.running import Worker
from fuzzing.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="TARGET|all…")
@click.option(
    "--minutes", type=click.FloatRange(min=0), default=20.0, show_default=True, help="Of computing, of each target."
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--corpus", type=click.Path(path_type=Path), default=CORPUS, show_default="fuzzing/corpus")
@click.option("--log", type=click.Path(path_type=Path), help="Lines of JSON go there, after those that it holds.")
def fuzz(names: tuple[str, ...], minutes: float, seed: int, corpus: Path, log: Path | None) -> None:
    """Read broken and hostile inputs of the targets, one after another; exit code 1 when there was a fault."""
    chosen = list(TARGETS) if names == ("all",) else list(names)
    strange = [name for name in chosen if name not in TARGETS]
    if strange:
        raise click.UsageError(f"no target is called {strange[0]}; there are {', '.join(TARGETS)}")
    n_faults = 0
    for name in chosen:
        with (
            tempfile.TemporaryDirectory(prefix="fuzzing-") as folder,
            Worker(name, Path(folder)) as worker,
            log.open("a") if log is not None else click.open_file("-", "w") as file,
        ):
            campaign = Campaign(TARGETS[name], corpus / name, file, seed)
            campaign.run(worker, seconds=60 * minutes)
            n_faults += len(campaign.faults)
    sys.exit(1 if n_faults else 0)


if __name__ == "__main__":
    fuzz()
