"""Internal: a trace as a page, an SVG, Markdown and Mermaid."""
