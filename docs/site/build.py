"""`make site`: the documentation as pages that need neither network nor server; in build/site, or a folder given."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from api_pages import write_api
from catalogue_pages import write_catalogue
from navigation import ROOT
from staging import stage


def main(out: Path) -> int:
    """Stage, generate, build; a link that leads nowhere is an error."""
    staged, trees = (out.with_name(f"{out.name}-{made}") for made in ("sources", "trees"))
    for folder in (staged, trees, out):
        shutil.rmtree(folder, ignore_errors=True)
    staged.mkdir(parents=True)
    stage(staged)
    write_api(staged / "api")
    beside = staged / "beside"
    write_catalogue(staged / "catalogue", beside / "catalogue")
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
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "build" / "site"))
