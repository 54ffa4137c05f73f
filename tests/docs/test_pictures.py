"""The pictures in the documentation are what the code draws; run this file to draw them again."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from insync.explorer import check
from insync.explorer.pictures.picture import picture
from insync.explorer.pictures.svg import svg
from insync.model import find_model

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
SHOWN = {"kip101": "weak_isr"}
"""The pictures: the counterexample of a model, by the property that fails."""


def drawn(model: str) -> str:
    """What `insync replay MODEL.json --format svg` prints of the shortest counterexample."""
    found = check(model, properties=[SHOWN[model]])
    return svg(picture(found.violations[0].trace, find_model(model)(), file=Path(f"{model}.json")))


def test_every_picture_is_one_of_these() -> None:
    assert {path.stem for path in PICTURES.iterdir()} == set(SHOWN)


@pytest.mark.slow
@pytest.mark.parametrize("model", SHOWN)
def test_a_picture_is_what_the_code_draws(model: str) -> None:
    assert (PICTURES / f"{model}.svg").read_text() == drawn(model), (
        "`python tests/docs/test_pictures.py` draws it again"
    )


@pytest.mark.parametrize("model", SHOWN)
def test_a_picture_has_colours_for_light_and_dark_and_needs_nothing_else(model: str) -> None:
    text = (PICTURES / f"{model}.svg").read_text()
    tags = {one.tag.rpartition("}")[2] for one in ET.fromstring(text).iter()}  # noqa: S314 -- a file of the repository
    assert "prefers-color-scheme: dark" in text
    assert not tags & {"script", "image", "foreignObject", "use"}
    assert "url(" not in text


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_pages_show_it(page: str) -> None:
    assert "pictures/kip101.svg)" in (ROOT / page).read_text()


if __name__ == "__main__":
    for one in SHOWN:
        (PICTURES / f"{one}.svg").write_text(drawn(one))
