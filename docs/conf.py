"""How the documentation is built: ``python -m sphinx -W -b html docs docs/_build/html``.

What pages show as output is what the commands print while the pages are built, in a folder that holds the model and the
table of the README's own example.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
WORK = HERE / "_work"

project = "justicia"
copyright = "the justicia authors"  # noqa: A001 (Sphinx reads this name)
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "sphinxcontrib.programoutput",
]
exclude_patterns = ["_build", "_work", "notebooks/.ipynb_checkpoints"]
html_theme = "furo"
html_title = "justicia"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["ref.python"]  # a name that two classes have is no fault
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
programoutput_prompt_template = "$ {command}\n{output}"


def _prepare() -> None:
    """Run the README's example, so that its model and table stand in the folder where the commands run."""
    WORK.mkdir(exist_ok=True)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ["COLUMNS"] = "100"
    os.environ["SOURCE_DATE_EPOCH"] = "1767225600"
    if not (WORK / "adult.csv").exists():
        table = subprocess.run(["justicia", "datasets", "export", "adult"], check=True, capture_output=True).stdout
        (WORK / "adult.csv").write_bytes(table)
    if not (WORK / "tree.pkl").exists():
        readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
        code = re.search(r"```python\n(import pickle.*?)```", readme, re.DOTALL)
        subprocess.run([sys.executable, "-c", code.group(1)], check=True, cwd=WORK)


_prepare()
