"""Two traces side by side: the first step in which they differ, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from insync.explorer.products.differences import TraceDifference
from insync.explorer.traces.trace import Trace, TraceStep

__all__ = ["compare_traces"]


def compare_traces(first: Trace, second: Trace) -> TraceDifference:
    """Return the first step in which two traces differ: another step, another state after it, or none at all."""
    number = next(
        (at for at, pair in enumerate(zip_longest(first.steps, second.steps)) if not _alike(*pair)),
        None,
    )
    steps = [None if number is None or number >= trace.length else trace.steps[number] for trace in (first, second)]
    fields: dict[str, tuple[object, object]] = {}
    if steps[0] is not None and steps[1] is not None:
        fields = dict(_fields(steps[0].state, steps[1].state, ""))
    return TraceDifference(
        step=number,
        labels=(_label(steps[0]), _label(steps[1])),
        fields=fields,
        about=_about(first, second),
        lengths=(first.length, second.length),
    )


def _alike(one: TraceStep | None, other: TraceStep | None) -> bool:
    if one is None or other is None:
        return False
    same_step = (one.action, one.parameters) == (other.action, other.parameters)
    return same_step and not any(_fields(one.state, other.state, ""))


def _label(step: TraceStep | None) -> str | None:
    if step is None:
        return None
    if step.action is None or step.label != step.action:
        return step.label
    return f"{step.action}({', '.join(f'{name}={value}' for name, value in step.parameters.items())})"


def _about(first: Trace, second: Trace) -> dict[str, tuple[object, object]]:
    found: dict[str, tuple[object, object]] = {}
    for name, pair in {
        "model": (first.model, second.model),
        "property": (first.property, second.property),
        "loop": (first.loop, second.loop),
        "refused": (first.refused and first.refused.label, second.refused and second.refused.label),
    }.items():
        if pair[0] != pair[1]:
            found[name] = pair
    for name in dict.fromkeys([*first.bounds, *second.bounds]):
        pair = (first.bounds.get(name), second.bounds.get(name))
        if pair[0] != pair[1]:
            found[name] = pair
    return found


def _fields(one: object, other: object, path: str) -> Iterator[tuple[str, tuple[object, object]]]:
    """Yield each innermost part of two readable values that differs, by its path, with the value in each."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in dict.fromkeys([*one, *other]):
            inner = f"{path}.{name}" if path else str(name)
            if name in one and name in other:
                yield from _fields(one[name], other[name], inner)
            else:
                yield inner, (one.get(name), other.get(name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other) and _nested(one, other):
        for place, pair in enumerate(zip(one, other, strict=True)):
            yield from _fields(*pair, f"{path}[{place}]")
    elif type(one) is not type(other) or one != other:
        yield path, (one, other)


def _nested(one: list[object], other: list[object]) -> bool:
    """Return whether lists hold parts worth telling apart, not the members of a set."""
    return all(isinstance(part, Mapping) or part is None for part in [*one, *other])
