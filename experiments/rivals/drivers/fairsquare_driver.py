"""Asks FairSquare about one program; runs under the Python that FairSquare's needs are installed for.

    python fairsquare_driver.py CHECKOUT PROGRAM.fr

The settings are those of its own `oopsla/run.sh`. Its imports come first and are not counted. What it was written for
and today's Python lacks is put in place: `codegen`, whose only use is source text of a node, and `ast.Num`.
"""

import ast
import json
import sys
import time
import types
from pathlib import Path

EPSILON = 0.15


def main():
    checkout, program = map(Path, sys.argv[1:])
    sys.path.insert(0, str(checkout / "src"))
    sys.modules["codegen"] = types.SimpleNamespace(to_source=ast.unparse)
    import matplotlib as mpl

    mpl.use("agg")
    import fairProve
    import parse

    parse.isNum = lambda node: isinstance(node, ast.Constant) and not isinstance(node.value, (bool, str))
    start = time.process_time()
    encoder = parse.Encoder()
    encoder.visit(ast.parse(program.read_text()))
    fairProve.proveFairness(encoder, None, EPSILON, True, None, True, False, True, 5, 3, None, False, "identity", False)
    print(json.dumps({"seconds": time.process_time() - start}), flush=True)


if __name__ == "__main__":
    main()
