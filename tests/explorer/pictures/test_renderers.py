from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import replace
from gzip import decompress
from hashlib import sha256
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from insync.explorer.pictures.markup import markdown, mermaid
from insync.explorer.pictures.page import Page, html_page
from insync.explorer.pictures.picture import (
    Picture,
    PictureStep,
    attribute,
    in_markdown,
    in_markdown_code,
    in_mermaid,
    in_xml,
    picture,
)
from insync.explorer.pictures.step import strip_svg
from insync.explorer.pictures.svg import svg
from insync.explorer.traces.trace import RefusedStep, Trace
from insync.explorer.traces.trace_file import trace_text
from insync.model import Mark, MarkKind, Model
from insync.properties import offset_in, said
from insync.runtime.text import visible
from insync_pictures import HOSTILE, hostile_trace, kip101, r13_trace, taken
from insync_runs import Crossing

VOID = {"meta", "br", "wbr"}


def drawn(made: Callable[[], tuple[Model, Trace]] = kip101) -> Picture:
    model, trace = made()
    return picture(trace, model)


def looping(loop: int) -> Picture:
    model = Crossing()
    trace = taken(model, ["p1 asks", "change", "change"], "gets_across", "it repeats")
    return picture(replace(trace, loop=loop), model)


class Structure(HTMLParser):
    """What a page is made of: elements, ids, texts, and whether every element is closed where it was opened."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)


# ------------------------------------------------------------------------------------------------------------- the page


def test_a_page_is_well_formed_and_each_id_is_there_once() -> None:
    page = Structure(html_page([Page(drawn()), Page(looping(1)), Page(drawn())]))
    ids = [found["id"] for _, found in page.elements if "id" in found]
    assert len(ids) == len(set(ids)) > 20
    pointed = {name for _, found in page.elements for name in str(found.get("data-points", "")).split()}
    assert pointed
    assert pointed <= set(ids)


def test_a_page_asks_for_nothing_and_allows_the_one_script_and_style_that_are_in_it() -> None:
    text = html_page([Page(drawn(), trace_text(kip101()[1]))])
    page = Structure(text)
    names = {tag for tag, _ in page.elements}
    assert not names & {"img", "link", "iframe", "object", "embed", "audio", "video", "source", "form", "base"}
    assert not any(name.startswith("on") or name == "style" for _, found in page.elements for name in found)
    links = [str(found["href"]) for tag, found in page.elements if tag == "a"]
    assert all(link.startswith(("#", "data:application/gzip;base64,")) for link in links)
    policy = next(str(found["content"]) for _, found in page.elements if found.get("http-equiv"))
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "url(" not in text.split("</style>")[0]


def test_a_page_has_the_trace_in_it() -> None:
    trace = trace_text(kip101()[1])
    page = Structure(html_page([Page(drawn(), trace)]))
    (link,) = [found for tag, found in page.elements if tag == "a" and "download" in found]
    assert link["download"] == "kip101-weak_isr.json.gz"
    packed = b64decode(str(link["href"]).partition(",")[2])
    assert packed[:10].hex() == "1f8b0800000000000203", "the header is the same with every Python"
    assert decompress(packed).decode() == trace
    assert not [1 for _, found in Structure(html_page([Page(drawn())])).elements if "download" in found]


def test_what_steps_have_in_common_is_in_a_page_once() -> None:
    text = html_page([Page(drawn())])
    rows = [part.count("<tr") for part in text.split("<li id=")[1:]]
    assert rows == [4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4]
    page = Structure(text)
    used = [str(found["href"]).removeprefix("#") for tag, found in page.elements if tag == "use"]
    assert used == ["t0-life-0"] * 11
    assert [found["id"] for tag, found in page.elements if tag == "g"] == ["t0-life-0"]
    assert text.count('class="life"') == 4


def test_lifelines_are_drawn_once_for_each_set_of_those_that_do_not_run() -> None:
    shown, down = drawn(), frozenset({"b1"})
    stops = replace(shown.steps[4], drawn=(Mark("b1", "controlled_shutdowns", MarkKind.DOWN),), down=down)
    steps = (*shown.steps[:4], stops, *(replace(step, down=down) for step in shown.steps[5:]))
    text = html_page([Page(replace(shown, steps=steps))])
    page = Structure(text)
    used = [str(found["href"]) for tag, found in page.elements if tag == "use"]
    assert used == ["#t0-life-0"] * 4 + ["#t0-life-1"] * 6
    assert [found["id"] for tag, found in page.elements if tag == "g"] == ["t0-life-0", "t0-life-1"]
    assert text.count('class="life down"') == 2


def test_a_page_of_two_hundred_steps_is_small() -> None:
    model, trace = r13_trace()
    steps = (trace.steps * 200)[:201]
    long = replace(trace, steps=steps, demands=())
    text = html_page([Page(picture(long, model), trace_text(long))])
    assert len(text.encode()) < 300_000


def test_a_page_says_all_that_the_picture_says() -> None:
    shown = drawn()
    said = " ".join(" ".join(Structure(html_page([Page(shown)])).texts).split())
    for text in (shown.question, shown.verdict, shown.sentence, shown.command, "max_leader_epoch"):
        assert text in said.replace("_ ", "_")
    for step in shown.steps:
        assert step.label in said
    for mark, meaning in shown.legend:
        assert mark == "|" or meaning in said


def test_the_boxes_that_the_reason_talks_of_are_pointed_at() -> None:
    page = Structure(html_page([Page(drawn())]))
    pointed = [str(found["id"]) for _, found in page.elements if "pointed" in str(found.get("class", "")).split()]
    assert pointed == ["t0-s10-0-0", "t0-s10-2-0"]


def test_a_place_in_a_log_at_which_nothing_is_has_a_box_where_the_reason_talks_of_it() -> None:
    model, trace = kip101()
    shown = picture(replace(trace, reason=said("b2 has no record at {offset}.", offset=offset_in(1, "b2"))), model)
    page = Structure(html_page([Page(shown)]))
    (box,) = [found for _, found in page.elements if "missing" in str(found.get("class", "")).split()]
    assert box["id"] == "t0-s10-1-1"


def test_the_same_steps_are_on_a_page_once() -> None:
    model, trace = kip101()
    other = picture(
        replace(trace, property="strong_isr", reason=said("b2 has nothing at {offset}.", offset=offset_in(1, "b2"))),
        model,
    )
    text = html_page([Page(drawn()), Page(other, "{}"), Page(looping(1))])
    page = Structure(text)
    assert text.count("<article") == 3
    assert sum(found.get("class") == "steps" for _, found in page.elements) == 2
    assert 'The steps are those for <a href="#t0-question">weak_<wbr>isr</a>, above.' in text
    pointed = {str(found["id"]) for _, found in page.elements if "pointed" in str(found.get("class", "")).split()}
    assert pointed == {"t0-s10-0-0", "t0-s10-2-0", "t0-s10-1-1"}
    named = {name for _, found in page.elements for name in str(found.get("data-points", "")).split()}
    assert named <= {str(found.get("id")) for _, found in page.elements}


def test_the_loop_of_a_page_leads_back() -> None:
    text = html_page([Page(looping(1))])
    assert 'data-loop="1"' in text
    assert '<a href="#t0-s1" data-back="t0-s1">the state after step 1</a>' in text
    assert len(re.findall(r'<li [^>]*class="[^"]*\bround\b', text)) == 2
    assert "It stays like this for ever." in html_page([Page(looping(3))])
    assert ">the start</a>" in html_page([Page(looping(0))])


def test_a_page_is_small() -> None:
    assert len(html_page([Page(drawn(), trace_text(kip101()[1]))]).encode()) < 100_000


@pytest.mark.parametrize("part", ["label", "reason", "bounds", "model", "message"])
def test_strings_of_a_trace_are_text_on_a_page(part: str) -> None:
    model, trace = kip101()
    odd = {
        "label": replace(trace, steps=tuple(replace(step, label=HOSTILE) for step in trace.steps)),
        "reason": replace(trace, reason=HOSTILE),
        "bounds": replace(trace, bounds={**trace.bounds, HOSTILE: HOSTILE}),
        "model": replace(trace, model=HOSTILE),
        "message": replace(trace, property="type_ok", refused=RefusedStep("a", {}, HOSTILE, HOSTILE)),
    }[part]
    usual, page = (Structure(html_page([Page(picture(one, model))])) for one in (trace, odd))
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in usual.elements}
    assert " ".join(visible(HOSTILE).split()) in " ".join(" ".join(page.texts).split())


def test_a_model_is_asked_for_by_its_name_in_the_question_of_a_hostile_trace() -> None:
    assert drawn(hostile_trace).question == "Does weak_isr hold in every state of kip101?"


# -------------------------------------------------------------------------------------------------- drawing and diagram


@pytest.mark.parametrize("made", [kip101, hostile_trace])
def test_a_drawing_is_well_formed(made: Callable[[], tuple[Model, Trace]]) -> None:
    root = ElementTree.fromstring(svg(drawn(made)))  # noqa: S314 -- it is our own
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names == {"svg", "title", "style", "rect", "text", "line", "path"}


def test_a_name_that_is_too_long_for_its_lifeline_is_cut_to_what_fits_there() -> None:
    names = ["m" * length for length in range(1, 40)]
    made = replace(drawn(), lifelines=(*drawn().lifelines, *names))
    texts = re.findall(r'<text class="head"[^>]*text-anchor="middle">([^<]+)<', svg(made))[-len(names) :]
    whole, cut = ([text for text in texts if text.endswith("…") == shortened] for shortened in (False, True))
    assert len(whole) + len(cut) == len(names)
    assert whole == names[: len(whole)]
    assert {len(text) for text in cut} == {len(whole[-1])}


def test_a_drawing_has_a_strip_for_each_step_and_shows_where_a_loop_goes() -> None:
    assert svg(drawn()).count('class="strip"') == 11
    text = svg(looping(1))
    assert 'class="round"' in text
    assert "Back to the state after step 1, and so on for ever." in text
    assert "It stays like this for ever." in svg(looping(3))


def test_a_diagram_of_mermaid() -> None:
    lines = mermaid(drawn()).splitlines()
    assert lines[:5] == [
        "sequenceDiagram",
        "    participant p0 as b1",
        "    participant p1 as b2",
        "    participant p2 as b3",
        "    participant p3 as controller",
    ]
    assert lines[-8:-3] == [
        "    Note over p0,p3: 8. b3 fetches from b1",
        "    p2->>p0: fetch",
        "    p0-->>p2: r0@2",
        "    Note over p0,p3: 9. b1 advances its HW",
        "    Note over p0: HW 1",
    ]


def test_a_loop_of_mermaid_has_the_steps_that_repeat() -> None:
    lines = mermaid(looping(1)).splitlines()
    at = lines.index("    loop for ever")
    assert lines[at + 1] == "        Note over p0,p1: 2. change"
    assert lines[-1] == "    end"
    assert mermaid(looping(3)).splitlines()[-1] == "    Note over p0,p1: it stays like this for ever"
    assert "loop" not in mermaid(looping(3))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("b1 fetches", "b1 fetches"),
        ("a;b", "a#59;b"),
        ("#35;", "#35;35#59;"),
        ("<b>", "#60;b#62;"),
        ("%% x", "#37;#37; x"),
        ("end", "#101;nd"),
        ("the end.", "the #101;nd."),
        ("ends", "ends"),
        ("a\nb", "a b"),
        ("", "#8203;"),
    ],
)
def test_what_has_a_meaning_in_mermaid_is_written_as_a_number(text: str, written: str) -> None:
    assert in_mermaid(text) == written


# ------------------------------------------------------------------------------------------------------------- Markdown


def test_markdown_has_the_steps_as_a_table_and_the_diagram() -> None:
    lines = markdown(drawn()).splitlines()
    assert lines[0] == "### Does weak\\_isr hold in every state of kip101?"
    assert "| 8 | `b3 fetches from b1` |  |  | `F0 [\\| r0@2]` |  |" in lines
    assert lines.count("```mermaid") == lines.count("```") == 1
    assert lines[-1] == "Replay: `insync replay kip101-weak_isr.json`"
    cells = {len(re.findall(r"(?<!\\)\|", line)) for line in lines if line.startswith("|")}
    assert cells == {7}


def test_a_hostile_trace_breaks_no_row_of_the_table_and_no_fence() -> None:
    lines = markdown(drawn(hostile_trace)).splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines if line.startswith("|")} == {7}
    assert lines.count("```") == 1
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", "\n".join(lines[: lines.index("```mermaid")]))
    assert "<" not in outside


def test_a_model_without_bounds_has_no_list_of_them_in_markdown() -> None:
    assert "`kip101`" in markdown(drawn()).splitlines()
    other = replace(drawn(), settings={"replicas": 2})
    assert "`kip101`: replicas 2" in markdown(other).splitlines()


def test_the_loop_in_markdown() -> None:
    assert "Then back to the state after step 1, and so on for ever." in markdown(looping(1))
    assert "Then back to the start, and so on for ever." in markdown(looping(0))
    assert "It stays like this for ever." in markdown(looping(3))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("release 4.1", "release 4.1"),
        ("4.1", "4.1"),
        ("1. one", "1\\. one"),
        ("- one", "\\- one"),
        ("a_b*c", "a\\_b\\*c"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("@somebody", "@&#8203;somebody"),
        ("b1@0", "b1@0"),
        ("see #12", "see \\#&#8203;12"),
        ("http://x", "http:&#8203;//x"),
        ("two\nlines", "two lines"),
    ],
)
def test_what_has_a_meaning_in_markdown_is_text(text: str, written: str) -> None:
    assert in_markdown(text) == written


@pytest.mark.parametrize(
    ("text", "cell", "written"),
    [
        ("a|b", False, "`a|b`"),
        ("a|b", True, "`a\\|b`"),
        ("a`b", False, "``a`b``"),
        ("`a", False, "`` `a ``"),
        ("", True, ""),
    ],
)
def test_code_in_markdown(text: str, cell: bool, written: str) -> None:
    assert in_markdown_code(text, cell=cell) == written


def test_what_xml_does_not_allow_and_what_turns_a_line_is_replaced() -> None:
    assert in_xml("a\x00b\x1b\ud800\u202e<") == r"a\x00b\x1b" + "\ufffd" + r"\u202e&lt;"
    assert attribute("\"a'\n<b>") == '"&quot;a&#39; &lt;b&gt;"'


@pytest.mark.parametrize("lifelines", [1, 2, 3, 8])
@pytest.mark.parametrize("text", ["up", "a mark of twenty chars", "a text that is longer than there is room for"])
def test_a_mark_is_on_its_lifeline_and_sticks_out_at_neither_side(lifelines: int, text: str) -> None:
    """A wide one is moved inwards on the first and the last lifeline; on a single one both sides have the same room."""
    names = [f"n{number}" for number in range(lifelines)]
    for name in names:
        step = PictureStep(1, "step", (Mark(name, text),), ())
        (box,) = re.findall(
            r'<rect class="mark note" x="(\S+)" y="\S+" width="(\S+)"', strip_svg(step, frozenset(), names)
        )
        left, width = map(float, box)
        right = left + width
        assert left < 0 < right
        inner = width <= 100 or lifelines == 1 or name not in (names[0], names[-1])
        assert not inner or left == pytest.approx(-right, abs=0.11)
        assert inner or (left == -34 and name == names[0]) or (right == pytest.approx(34) and name == names[-1])
