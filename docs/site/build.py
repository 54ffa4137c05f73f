"""`make site`: the documentation as pages that need neither network nor server; in build/site, or a folder given.

`--without-traces` leaves out the searches of the catalogue, which take most of the time: for who wants to know whether
all pages can be made.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from api_pages import write_api
from catalogue_pages import write_catalogue
from json_schemas import FOLDER
from navigation import ROOT
from staging import stage


def main(out: Path, *, traces: bool = True) -> int:
    """Stage, generate, build; a link that leads nowhere is an error."""
    gc.disable()  # a quarter of Sphinx's time: it makes some million objects that live until the end
    staged, trees = (out.with_name(f"{out.name}-{made}") for made in ("sources", "trees"))
    for folder in (staged, trees, out):
        shutil.rmtree(folder, ignore_errors=True)
    staged.mkdir(parents=True)
    stage(staged)
    write_api(staged / "api")
    beside = staged / "beside"
    write_catalogue(staged / "catalogue", beside / "catalogue", traces=traces)
    options = [
        "-b",
        "html",
        "-q",
        "-W",
        "--keep-going",
        "-j",
        "auto",
        "-d",
        str(trees),
        "-c",
        str(Path(__file__).parent),
    ]
    code = int(build_main([*options, str(staged), str(out)]))
    shutil.copytree(beside, out, dirs_exist_ok=True)
    shutil.copytree(FOLDER, out / "schemas", dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.md"))
    return code


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("out", nargs="?", type=Path, default=ROOT / "build" / "site", help="the folder of the site")
    arguments.add_argument("--without-traces", action="store_true", help="search no defect of the catalogue")
    given = arguments.parse_args()
    sys.exit(main(given.out, traces=not given.without_traces))
