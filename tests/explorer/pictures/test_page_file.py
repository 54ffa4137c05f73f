from __future__ import annotations

import re
from pathlib import Path

from insync.explorer.pictures.page import write_page
from insync_pictures import kip101


def test_no_two_files_that_a_page_offers_have_one_name(tmp_path: Path) -> None:
    """Such as the two traces of `insync diff cluster --release 3.9 --release 4.1`."""
    model, trace = kip101()
    page = tmp_path / "page.html"
    write_page(page, [(trace, model, None), (trace, model, None), (trace, model, Path("out.json"))])
    offered = re.findall(r"insync replay ([\w.-]+)", page.read_text(encoding="utf-8"))
    assert offered == ["kip101-weak_isr.json", "kip101-weak_isr-2.json", "out.json"]
