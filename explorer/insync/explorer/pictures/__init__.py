"""Internal: pictures of traces, described independently of a renderer, and their renderers.

`picture` makes the description of a trace, with the parts of the last state that its reason is about.
`formats` is the table of formats: `page` renders a self-contained HTML page, `svg` one SVG, and `markup` Markdown and
Mermaid. `step` draws one step as SVG and one state as an HTML table. `static/` holds style sheets and the script of
pages.
"""
