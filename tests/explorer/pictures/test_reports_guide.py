"""The guide to reports is right: its model is drawn as it says."""

from __future__ import annotations

import re
from pathlib import Path

from insync.explorer import check
from insync.explorer.pictures.picture import picture
from insync.explorer.traces.trace import TraceStep
from insync.model import Arrow, Mark, MarkKind, find_model

GUIDE = (Path(__file__).parents[3] / "docs" / "guide" / "reports.md").read_text(encoding="utf-8")


def test_the_model_of_the_guide_is_drawn_as_it_says(tmp_path: Path) -> None:
    (source,) = re.findall(r"^```python\n(# store.py\n.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    file = tmp_path / "store.py"
    file.write_text(source)
    model = find_model(f"{file}:Store")()
    shown = picture(check(model).violations[0].trace, model)
    assert shown.lifelines == ("client", "s1", "s2")
    assert [one for step in shown.steps for one in step.drawn] == [
        Mark("s1", "crashes", MarkKind.DOWN),
        Mark("s2", "crashes", MarkKind.DOWN),
    ]
    assert shown.legend == (("C#", "crashed # times"),)
    write = model.step_drawing([TraceStep(None, {}, {}), TraceStep("write", {"server": "s1"}, {})], "s1 stores a value")
    assert write == [Arrow("client", "s1", "store"), Arrow("s1", "client", "stored", reply=True)]
