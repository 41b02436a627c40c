"""A release in a notebook: in a real kernel, which DuckDB knows to be one."""

import os
import re
from pathlib import Path

import pytest

from tests.engines.servers import needs
from tests.markdown import ROOT

# As if it were not installed.
WITHOUT_WIDGETS = "import sys\nsys.modules['ipywidgets'] = None"
WITH_WIDGETS = "import ipywidgets"
RELEASE = """
import warnings

import pyarrow as pa
import headcount

warnings.simplefilter("ignore")  # it is a large budget, and spent three times

people = [f"u{n}" for n in range(99)]
events = pa.table({"who": people, "what": ["x"] * 99})
for method in ("auto", "pcr", "rationed"):
    ours = headcount.release(
        events, user="who", item="what", budget=headcount.Budget(rho=20.0), method=method
    )
    print(ours.table["what"].to_pylist())
"""


BOOK = ROOT / "docs" / "notebook.ipynb"


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """Run cells, in a folder of their own; return what is shown below each."""
    nbclient, nbformat = needs("nbclient"), needs("nbformat")
    needs("ipykernel")
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    # A kernel is a process of its own: it takes the modules that the tests take.
    source = Path(__file__).parents[1] / "src"
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
    )

    def run(*cells):
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        place = {"metadata": {"path": str(tmp_path)}}
        client = nbclient.NotebookClient(book, timeout=600, kernel_name="python3", resources=place)
        client.execute()
        return [cell.outputs for cell in book.cells]

    return run


@pytest.mark.parametrize("first", [WITHOUT_WIDGETS, WITH_WIDGETS], ids=["without", "with"])
def test_a_release_in_a_notebook(notebook, first):
    if first == WITH_WIDGETS:
        needs("ipywidgets")
    _, shown = notebook(first, RELEASE)
    assert {output.output_type for output in shown} == {"stream"}  # and no bar of DuckDB's
    assert "".join(output.text for output in shown) == "['x']\n" * 3


def test_the_kernel_is_one_to_duckdb(notebook):
    """Or the tests above would show nothing."""
    ask = """
import duckdb
try:
    duckdb.connect().execute("SET enable_progress_bar = false")
except duckdb.InvalidInputException:
    print("refused")
"""
    _, shown = notebook(WITHOUT_WIDGETS, ask)
    assert [output.text for output in shown] == ["refused\n"]


# --- the notebook of the documentation ----------------------------------------------------------


@pytest.fixture(scope="module")
def book():
    return needs("nbformat").read(BOOK, as_version=4)


def test_the_notebook_of_the_documentation_runs(notebook, book):
    """And shows the same kinds of things as those that are kept in it."""
    needs("matplotlib")
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    shown = notebook(*(cell.source for cell in cells))

    def kinds(outputs):
        return [(one.output_type, sorted(one.get("data", {}))) for one in outputs]

    assert [kinds(outputs) for outputs in shown] == [kinds(cell.outputs) for cell in cells]
    pictures = {kind for outputs in shown for one in outputs for kind in one.get("data", {})}
    assert {"text/html", "image/png"} <= pictures


def test_what_the_notebook_shows_names_no_path_and_no_warning(book):
    text = re.sub(r'"image/png": "[^"]*"', "", str(book))
    assert not re.search(r"/(?:home|root|tmp|Users|work)/|\\bstderr\\b|Warning", text)


def test_links_of_the_notebook_resolve(book):
    for cell in book.cells:
        if cell.cell_type == "markdown":
            for link in re.findall(r"\]\((?!https?:)([^)#]+)", cell.source):
                assert (BOOK.parent / link).is_file(), link
