"""`make notebooks`: run the notebooks of the documentation and keep what they show, without a trace of the machine."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient

from navigation import ROOT

KEPT = ("text/plain", "text/html")


def record(path: Path) -> None:
    """Run a notebook from its first cell, and write it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    manager = AsyncKernelManager(kernel_name="python3", transport="ipc")  # no port is opened
    NotebookClient(notebook, km=manager, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", ()):
            if "data" in output:
                output["data"] = {kind: text for kind, text in output["data"].items() if kind in KEPT}
                output["metadata"] = {}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for one in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        record(one)
    sys.exit(0)
