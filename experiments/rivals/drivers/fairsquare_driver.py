"""Asks FairSquare about one program; runs under the Python that FairSquare's needs are installed for.

    python fairsquare_driver.py CHECKOUT PROGRAM.fr

The settings are those of its own `oopsla/run.sh`. Its imports come first and are not counted. What it was written for
and today's Python lacks is put in place: `codegen`, whose only use is source text of a node, and `ast.Num`. Two of
its assertions are broken by rounding alone, that bounds of a probability and of its complement add up to no more than 1
and that an interval has a length: it goes on without them.
"""

import ast
import importlib.machinery
import json
import sys
import time
import types
from pathlib import Path

EPSILON = 0.15


class WithoutAssertions(importlib.machinery.SourceFileLoader):
    """Loads modules without their assertions."""

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        return compile(self.get_data(path), path, "exec", dont_inherit=True, optimize=1)


def main():
    checkout, program = map(Path, sys.argv[1:])
    sys.path.insert(0, str(checkout / "src"))
    finder = importlib.machinery.FileFinder(str(checkout / "src"), (WithoutAssertions, [".py"]))

    def without(name, path=None, target=None):
        return finder.find_spec(name) if name in ("probcomp", "probvar") else None

    sys.meta_path.insert(0, types.SimpleNamespace(find_spec=without))
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
