"""Internal: options of the commands, in groups.

A command receives each group as one object. `values` has the tools that make such groups, and the types of values;
`task` has limits, engines and walks. `model` is for commands about one model, whose bounds and settings become options,
and `two_models` for those about two. `output` is where results go, annotations (`--github`, `--sarif`) among them, and
refuses files that would be overwritten. `kafka` is a group of its own. `named_models` is `--model` of the commands that
read traces.
"""

from __future__ import annotations
