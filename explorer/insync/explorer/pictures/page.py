"""Pictures as one self-contained HTML page, to step through, to print and to send.

The page loads nothing: its content security policy allows only its own style and script, by their hashes. The script
selects the step that is shown.

To keep the file small, lifelines are drawn once and reused, and the trace file is compressed. Of a state between the
first and the last the file has only the rows that the step changed; the script adds the others from earlier steps.
Without the script the page shows the first and the last state, and a print shows the changes of every step.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from gzip import compress
from hashlib import sha256
from itertools import chain, count
from pathlib import Path

from insync.explorer.pictures.picture import (
    Outcome,
    Picture,
    PictureStep,
    Place,
    Reference,
    attribute,
    file_for,
    in_xml,
    picture,
)
from insync.explorer.pictures.step import epochs_of, place_id, resource, shared_lifelines, state_table, strip_svg
from insync.explorer.traces.trace import START, Trace
from insync.explorer.traces.trace_file import is_itf, trace_text
from insync.model import Model
from insync.runtime.files import write_whole
from insync.runtime.text import plural

__all__ = [
    "Caption",
    "Page",
    "article",
    "captioned",
    "html_page",
    "page_style",
    "write_page",
]


_MOST_LINES = 6
"""The most arrows and marks of a step that are drawn at full height."""


@dataclass(frozen=True, slots=True)
class Caption:
    """What the page says above a picture, in place of its question, the sentence of its property and its condition.

    Attributes:
        title: what was found, in a sentence; that of the first picture is the title of the page.
        lead: about what it was found.
        harm: the number of the step that does the harm, and what it does in a few words; None marks no step.
    """

    title: str
    lead: str
    harm: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A picture for a page.

    Attributes:
        picture: the picture.
        trace: the text of its trace file; empty if the page shall not contain it.
        title: the title of the page, if this is its first picture; by default the property and the model.
    """

    picture: Picture
    trace: str = ""
    title: str = ""


def html_page(pages: Sequence[Page]) -> str:
    """Return one page with pictures below each other; steps that several of them share are drawn once."""
    style, script = page_style(), resource("report.js")
    allowed = f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    title = pages[0].title if pages and pages[0].title else _title(pages)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="generator" content="insync">',
            f"<title>{in_xml(title)}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            "<main>",
            *_articles(pages),
            "</main>",
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _title(pages: Sequence[Page]) -> str:
    return " · ".join(dict.fromkeys(f"{page.picture.property} of {page.picture.model}" for page in pages))


def article(page: Page, number: int = 0) -> str:
    """Return one picture as an `article` element; `number` makes its ids unique on the page."""
    return _article(page, number, _places(page.picture))


def _articles(pages: Sequence[Page]) -> list[str]:
    """Return all pictures. One with the steps of an earlier one has its reason only, with links to those steps."""
    shown: list[str] = []
    firsts = [next(at for at, other in enumerate(pages) if _same_steps(page, other)) for page in pages]
    for number, (page, first) in enumerate(zip(pages, firsts, strict=True)):
        if first == number:
            alike = [other for other, its in zip(pages, firsts, strict=True) if its == number]
            shown.append(_article(page, number, frozenset().union(*(_places(other.picture) for other in alike))))
        else:
            shown.append(_said_of_the_same(page, number, first, pages[first].picture.property))
    return shown


def _same_steps(one: Page, other: Page) -> bool:
    return (one.picture.steps, one.picture.loop) == (other.picture.steps, other.picture.loop)


def _places(drawn: Picture) -> frozenset[Place]:
    """Return the boxes that a reason refers to."""
    return frozenset(place for phrase in drawn.reason for place in phrase.places if place.box is not None)


def _article(page: Page, number: int, pointed: frozenset[Place]) -> str:
    prefix = f"t{number}"
    loop = "" if page.picture.loop is None else f' data-loop="{page.picture.loop}"'
    return "\n".join(
        [
            f'<article aria-labelledby="{prefix}-question"{loop}>',
            *_head(page.picture, number, prefix),
            '<p class="keys soft screen">Steps: <kbd>↑</kbd> <kbd>↓</kbd>, or a click.</p>',
            '<div class="unseen said-aloud" aria-live="polite"></div>',
            _steps(page.picture, prefix, pointed),
            _foot(page),
            "</article>",
        ]
    )


def _said_of_the_same(page: Page, number: int, first: int, name: str) -> str:
    steps = f'<a href="#t{first}-question">{_breakable(name)}</a>'
    return "\n".join(
        [
            f'<article aria-labelledby="t{number}-question">',
            *_head(page.picture, number, f"t{first}"),
            f"<p>The steps are those for {steps}, above.</p>",
            f"<pre>{in_xml(page.picture.command)}</pre>",
            _download(page),
            "</article>",
        ]
    )


def _head(drawn: Picture, number: int, steps: str) -> list[str]:
    """Return question, verdict and reason, with links to the steps whose ids begin with `steps`."""
    level = "h1" if number == 0 else "h2"
    return [
        f'<{level} id="t{number}-question">{_breakable(drawn.question)}</{level}>',
        *([f'<p class="soft">{in_xml(drawn.sentence)}</p>'] if drawn.sentence else []),
        f'<p class="verdict {drawn.outcome.value}">{in_xml(drawn.verdict)}</p>',
        _reason(drawn, steps),
    ]


def _breakable(text: str) -> str:
    """Return a text in which long names may be broken at underscores, for narrow screens."""
    return in_xml(text).replace("_", "_<wbr>")


def page_style() -> str:
    """Return the style sheet of pages with pictures."""
    return resource("report.css")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


# ----------------------------------------------------------------------------------------------------------- the reason


def _reason(drawn: Picture, prefix: str) -> str:
    good = " good" if drawn.outcome is Outcome.GOOD else ""
    lines = [f"<p>{''.join(_phrase(drawn, phrase, prefix) for phrase in drawn.reason)}</p>"]
    condition = drawn.condition
    if condition is not None:
        fault = "does not hold" if condition.must_hold else "must not hold"
        values = ", ".join(f"{_phrase(drawn, phrase, prefix)} = {in_xml(value)}" for phrase, value in condition.values)
        known = f", with {values}" if values else ""
        lines.append(f'<p class="soft"><code>{in_xml(condition.text)}</code> {fault}{known}.</p>')
    return f'<div class="reason{good}">{"".join(lines)}</div>'


def _phrase(drawn: Picture, phrase: Reference, prefix: str) -> str:
    text = in_xml(phrase.text).replace("\n", "<br>")
    if not phrase.places:
        return text
    failing = f"{prefix}-s{drawn.failing.number}"
    ids = [place_id(failing, drawn.columns, place) for place in phrase.places]
    return f'<a class="ref" href="#{ids[0]}" data-points={attribute(" ".join(ids))}>{text}</a>'


# ------------------------------------------------------------------------------------------------------------ the steps


def _steps(drawn: Picture, prefix: str, pointed: frozenset[Place]) -> str:
    heads = "".join(f"<span>{in_xml(name)}</span>" for name in drawn.lifelines)
    epochs = epochs_of(drawn.steps)
    lines, shared = shared_lifelines(drawn.steps, drawn.lifelines, f"{prefix}-life")
    items = []
    for at, step in enumerate(drawn.steps):
        before = drawn.steps[at - 1].down if at else frozenset()
        points = pointed if step is drawn.failing else frozenset()
        items.append(_step(drawn, step, before, prefix, epochs, points, shared))
    return "\n".join(
        [
            lines,
            '<ol class="steps">',
            f'<li aria-hidden="true"><div class="heading">Step</div><div class="heads">{heads}</div></li>',
            *items,
            *_loop(drawn, prefix),
            "</ol>",
        ]
    )


def _step(
    drawn: Picture,
    step: PictureStep,
    down: frozenset[str],
    prefix: str,
    epochs: Sequence[str],
    pointed: frozenset[Place],
    shared: Mapping[frozenset[str], str],
) -> str:
    name = f"{prefix}-s{step.number}"
    chosen = step is drawn.failing
    round_and_round = drawn.loop is not None and step.number > drawn.loop
    kinds = [
        *(["picked"] if chosen else []),
        *(["first"] if step.number == 0 else []),
        *(["last"] if chosen else []),
        *(["refused"] if step.refused else []),
        *(["harm"] if step.harm else []),
        *(["round"] if round_and_round else []),
        *(["begins"] if round_and_round and step.number == (drawn.loop or 0) + 1 else []),
        *(["ends"] if round_and_round and step is drawn.failing else []),
    ]
    label = f"{step.label} (refused)" if step.refused else step.label
    label += f" \u2014 {step.harm}" if step.harm else ""
    takes = "".join(f'<p class="takes">Takes: {in_xml(d.text)} ({d.hardness.value}).</p>' for d in step.demands)
    whole = chosen or step.refused or step.number == 0
    table = state_table(
        step,
        name if chosen else "",
        epochs=epochs,
        pointed=pointed,
        caption=_caption(step),
        only_changed=not whole,
    )
    strip = strip_svg(step, down, drawn.lifelines, shared=shared)
    named = f' class="{" ".join(kinds)}"' if kinds else ""
    return (
        f'<li id="{name}" data-step="{step.number}"{named}{"" if whole else " data-part"}>'
        f'<button type="button" class="pick"{" aria-current=" + chr(34) + "step" + chr(34) if chosen else ""}>'
        f'<span class="number">{"!" if step.refused else step.number}</span>'
        f'<span class="label">{in_xml(label)}</span></button>'
        f'<div class="lane h{min(_MOST_LINES, max(1, len(step.drawn)))}">{strip}</div>'
        f'<div class="state">{table}{takes}</div></li>'
    )


def _caption(step: PictureStep) -> str:
    """Return the caption of a state; empty for the default caption."""
    if step.refused:
        return "Unchanged: the step is refused"
    begins_elsewhere = step.number == 0 and not step.label.startswith(START)
    return f"{step.label[:1].upper()}{step.label[1:]}" if begins_elsewhere else ""


def _loop(drawn: Picture, prefix: str) -> list[str]:
    """Return the line below the last step of an infinite run, with a link to the state where it goes on."""
    if drawn.loop is None:
        return []
    if drawn.loop == drawn.steps[-1].number:
        return ['<li><div class="loop">↻ It stays like this for ever.</div></li>']
    where = f"the state after step {drawn.loop}" if drawn.loop else "the start"
    name = f"{prefix}-s{drawn.loop}"
    link = f'<a href="#{name}" data-back="{name}">{where}</a>'
    return [
        f'<li><div class="loop">↺ Back to {link}, and so on for ever: the steps with a double line repeat.</div></li>'
    ]


# ---------------------------------------------------------------------------------------------------------- the foot


def _foot(page: Page) -> str:
    drawn = page.picture
    legend = "".join(
        f"<dt>{in_xml(mark)}</dt><dd>{in_xml(meaning)}</dd>" for mark, meaning in drawn.legend if mark != "|"
    )
    settings = "".join(f"<dt>{in_xml(n)}</dt><dd>{in_xml(str(v))}</dd>" for n, v in drawn.settings.items())
    rest = [f"{name} {value}" for name, value in drawn.all_settings.items() if name not in drawn.settings]
    others = ""
    if rest:
        summary = f"<summary>{len(rest)} more at their defaults</summary>"
        others = f'<details class="soft">{summary}<p>{in_xml(", ".join(rest))}</p></details>'
    drawing = _how_it_is_drawn(drawn)
    return "\n".join(
        [
            '<div class="foot">',
            f"<section><h2>What the marks mean</h2><dl>{legend}{drawing}</dl></section>",
            f"<section><h2>Settings</h2><dl><dt>model</dt><dd>{in_xml(drawn.model)}</dd>{settings}</dl>{others}</section>",
            f"<section><h2>To see it again</h2><pre>{in_xml(drawn.command)}</pre>{_download(page)}</section>",
            "</div>",
        ]
    )


def _how_it_is_drawn(drawn: Picture) -> str:
    """Return the legend of marks that only the page uses."""
    rows = [("●", "changed by this step, as is what is framed or underlined")]
    if any(cell.log for step in drawn.steps for cell in step.cells):
        rows.append(
            ("HW", "the high watermark; boxes with a full frame and a shade are committed, one colour an epoch")
        )
        if any(phrase.places for phrase in drawn.reason):
            rows.append(("▢", "with a thick ring: what the reason names"))
    return "".join(f"<dt>{mark}</dt><dd>{meaning}</dd>" for mark, meaning in rows)


_SYSTEM = b"\x03"
"""The byte of gzip's header for the system: Unix. Python 3.13 writes that it is unknown, and pages would differ."""


def _download(page: Page) -> str:
    """Return the link to the compressed trace file, which the script decompresses when it is saved."""
    if not page.trace:
        return ""
    packed = compress(page.trace.encode("utf-8", "backslashreplace"), mtime=0)
    packed = packed[:9] + _SYSTEM + packed[10:]
    content, name = b64encode(packed).decode(), attribute(f"{page.picture.file}.gz")
    return (
        f'<p class="screen"><a class="packed" download={name} href="data:application/gzip;base64,{content}">'
        f"The trace as a file</a>, {in_xml(page.picture.file)}.</p>"
    )


# Pages of traces, as files.


def write_page(
    path: Path,
    shown: Sequence[tuple[Trace, Model, Path | None]],
    *,
    others: Sequence[Picture] = (),
    captions: Sequence[Caption] = (),
) -> None:
    """Write a page of traces.

    Args:
        path: the file to write.
        shown: the traces, each with its model and its trace file; for a trace without a file the page offers one.
        others: pictures to show below them, without a replay.
        captions: what to say above each trace; none is its question and the sentence of its property.

    Raises:
        UserError: the page cannot be written.
    """
    offered: set[Path] = set()
    pages: list[Page] = []
    for trace, model, written in shown:
        file = None if written is None or is_itf(written) else written  # ITF is not replayed
        name = file or _free(file_for(trace, model), offered)
        offered.add(name)
        drawn, title = picture(trace, model, file=name), ""
        if captions:
            title = captions[len(pages)].title
            drawn = captioned(drawn, captions[len(pages)])
        pages.append(Page(drawn, trace_text(trace), title))
    pages += [Page(drawn) for drawn in others]
    write_whole(path, html_page(pages))


def captioned(drawn: Picture, caption: Caption) -> Picture:
    """Return a picture with a caption, and with the step marked that does the harm.

    The caption asks nothing, so the verdict is how many steps it takes.
    """
    takes = f"It takes {plural(len(drawn.steps) - 1, 'step')}."
    drawn = replace(drawn, question=caption.title, sentence=caption.lead, condition=None, verdict=takes)
    if caption.harm is None:
        return drawn
    number, said = caption.harm
    steps = tuple(replace(step, harm=said) if step.number == number else step for step in drawn.steps)
    return replace(drawn, steps=steps)


def _free(name: Path, taken: Collection[Path]) -> Path:
    numbered = (name.with_stem(f"{name.stem}-{number}") for number in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)
