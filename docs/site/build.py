"""`make site`: the documentation as pages in build/site, which need neither network nor server."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from api_pages import write_api
from catalogue_pages import write_catalogue
from navigation import ROOT
from staging import stage


def main() -> int:
    """Stage, generate, build; a link that leads nowhere is an error."""
    here, out = Path(__file__).parent, ROOT / "build" / "site"
    staged = ROOT / "build" / "site-sources"
    for folder in (staged, out):
        shutil.rmtree(folder, ignore_errors=True)
    staged.mkdir(parents=True)
    stage(staged)
    write_api(staged / "api")
    beside = staged / "beside"
    write_catalogue(staged / "catalogue", beside / "catalogue")
    options = ["-b", "html", "-q", "-W", "--keep-going", "-j", "auto", "-d", str(ROOT / "build" / "site-trees")]
    code = int(build_main([*options, "-c", str(here), str(staged), str(out)]))
    shutil.copytree(beside, out, dirs_exist_ok=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
