"""Sphinx's configuration for the documentation site; `build.py` calls it, and docs/adr/0013 says why Sphinx."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version as installed_version
from typing import Any

from pygments.lexers.special import TextLexer

from navigation import sections
from sidebar import sidebar

project = "insync"
version = release = installed_version("insync")
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
napoleon_google_docstring = True
napoleon_numpy_docstring = False

default_role = "code"  # docstrings have code between single backticks
smartquotes_action = "q"  # quotes alone: two hyphens begin an option or an arrow
highlight_language = "text"
pygments_style = "default"
pygments_dark_style = "monokai"

html_theme = "furo"
html_title = "insync"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_show_search_summary = False  # a page from a folder may not read the others
html_static_path = ["static"]
html_css_files = ["insync.css"]


def _for_every_reader(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Say the level of the sidebar's headings, and let who has no mouse scroll what is wider than its place."""
    for part, plain, said in (
        ("furo_navigation_tree", 'role="heading"', 'role="heading" aria-level="2"'),
        ("body", "<pre>", '<pre tabindex="0">'),
        ("body", '<div class="picture">', '<div class="picture" tabindex="0">'),
    ):
        if isinstance(context.get(part), str):
            context[part] = context[part].replace(plain, said)


def _without_the_tree(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Keep the theme from making the list of all pages, which takes two thirds of the time."""
    context.pop("toctree", None)


def _with_our_sidebar(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the list that `sidebar` makes in place of it."""
    titles, inside = app.env.titles, app.env.toctree_includes
    link = partial(app.builder.get_relative_uri, page)
    made = sidebar(page, sections(), inside, lambda name: str(titles[name].astext()), link)
    context["furo_navigation_tree"] = made


def setup(app: Any) -> None:
    """Join in where Sphinx writes a page, before the theme and after it; Pygments has no colours for some languages."""
    app.add_lexer("tla", TextLexer)
    app.add_lexer("mermaid", TextLexer)
    app.connect("html-page-context", _without_the_tree, priority=100)
    app.connect("html-page-context", _with_our_sidebar, priority=800)
    app.connect("html-page-context", _for_every_reader, priority=900)
