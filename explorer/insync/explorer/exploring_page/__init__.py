"""Internal: exploration of a model in a browser.

`server` serves the page to this machine alone. `tabs` executes the commands of the page, with an exploration for each
tab. `page/` has what the browser loads.
"""
