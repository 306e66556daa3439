"""Asks VeriFair about one of its FairSquare programs; runs under the Python that VeriFair's needs are installed for.

    python verifair_driver.py CHECKOUT PROGRAM SEED

PROGRAM is a name such as M_ind_F_DT_A, or M_ind_F_DT_A_Q with its qualification. The settings are those of its own
`verifair.main.fairsquare`. Its imports come first and are not counted. Names that numpy has dropped are put in place.
"""

import json
import sys
import time
from pathlib import Path

C, DELTA_RATIO, DELTA, N_SAMPLES, N_MAX = 0.15, 0.0, 0.5e-10, 1, 10_000_000


def main():
    checkout, program, seed = sys.argv[1:]
    sys.path.insert(0, str(Path(checkout) / "python"))
    import numpy as np

    np.float, np.int = float, int
    from verifair.benchmarks.fairsquare import helper

    if not program.endswith("_Q"):
        helper.qualified = lambda holds: None
    import importlib

    from verifair.verify.verify import verify

    name = program if program.endswith("_Q") else f"{program}_Q"
    sample = importlib.import_module(f"verifair.benchmarks.fairsquare.{name}").sample
    np.random.seed(int(seed))
    start = time.process_time()
    others = helper.MultiSampler(helper.RejectionSampler(sample, False))
    protected = helper.MultiSampler(helper.RejectionSampler(sample, True))
    found = verify(protected, others, C, DELTA_RATIO, DELTA, N_SAMPLES, N_MAX, False, None)
    seconds = time.process_time() - start
    answer = {"seconds": seconds, "verdict": None, "ratio": None, "samples": None}
    if found is not None:
        answer.update(verdict=bool(found[0]), samples=int(found[2]), ratio=float(found[3]))
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
