"""What `insync kafka patch` says, as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.conformance.documents.replay import describe_replay, replay_entry, verdict_line
from insync.conformance.patches.fixed_trace import FixedTrace
from insync.conformance.patches.patched_jars import PatchedKafka
from insync.conformance.replay import KafkaReplay, KafkaVerdict
from insync.explorer.traces.grid import Paint, Tone

if TYPE_CHECKING:
    from insync.conformance.documents.json_types import PatchObject

__all__ = ["TriedPatch", "describe_patch", "patch_json"]


@dataclass(frozen=True, slots=True)
class TriedPatch:
    """A trace on a release as it is, and its steps on the patched one beside the model with the fix.

    Attributes:
        without: the trace on the release.
        fixed: its steps in the model with the fix, as far as they can be taken there.
        with_it: those on the patched release.
        all_with_it: where the model with the fix cannot take them all, all of them on the patched release, beside the
            model without the fix; else None.
    """

    without: KafkaReplay
    fixed: FixedTrace
    with_it: KafkaReplay
    all_with_it: KafkaReplay | None = None

    @property
    def takes_all(self) -> bool:
        """Whether patched Kafka takes a step that the model with the fix cannot, and what it should mend is there."""
        return self.all_with_it is not None and self.all_with_it.verdict is KafkaVerdict.REPRODUCED

    @property
    def is_fixed(self) -> bool:
        """Whether the defect is there without the patch, and not there with it."""
        reproduced = self.without.verdict is KafkaVerdict.REPRODUCED
        agrees = self.with_it.verdict is KafkaVerdict.AGREES and not self.takes_all
        return reproduced and agrees and self.fixed.holds

    @property
    def is_schedulable(self) -> bool:
        """Whether both took all steps that the harness can take."""
        return KafkaVerdict.NOT_SCHEDULABLE not in (self.without.verdict, self.with_it.verdict)


def describe_patch(patched: PatchedKafka, tried: TriedPatch | None, paint: Paint, width: int) -> str:
    """Return what was compiled, and what came of a trace without the patch and with it."""
    lines = []
    if tried is not None:
        word = paint("fixed", Tone.GOOD) if tried.is_fixed else paint("not shown to be fixed", Tone.BAD)
        lines += [word, "", verdict_line(tried.without, paint), verdict_line(tried.with_it, paint), _property(tried)]
        grid = describe_replay(tried.with_it, tried.fixed.model, paint, width).partition("\n")[2]
        lines += ["", "With the patch:", grid, ""]
    lines.append(f"Patched: {', '.join(patched.patch.paths)} (in {', '.join(patched.artifacts)})")
    lines.append(f"Any trace on it: insync kafka replay TRACE --libs {patched.libs}")
    return "\n".join(lines)


def _property(tried: TriedPatch) -> str:
    holds = f"There {tried.fixed.trace.property} {'holds after each step' if tried.fixed.holds else 'fails'}"
    if tried.fixed.impossible is None:
        return f"{holds}."
    label = tried.fixed.impossible.label
    if tried.takes_all:
        return (
            f"{holds}; the next one, {label}, is not possible with the fix in the model, and Kafka takes all of them."
        )
    return f"{holds}; the next one, {label}, is not possible any more."


def patch_json(patched: PatchedKafka, tried: TriedPatch | None = None) -> str:
    """Return the object for a patch."""
    entry: PatchObject = {
        "patch": str(patched.patch.file),
        "files": list(patched.patch.paths),
        "artifacts": list(patched.artifacts),
        "classes": list(patched.classes),
        "libs": str(patched.libs),
        "fixed": None if tried is None else tried.is_fixed,
    }
    if tried is not None:
        entry["without"] = replay_entry(tried.without)
        entry["with"] = replay_entry(tried.with_it)
        entry["all_with"] = None if tried.all_with_it is None else replay_entry(tried.all_with_it)
        entry["property_holds"] = tried.fixed.holds
        entry["impossible"] = None if tried.fixed.impossible is None else tried.fixed.impossible.label
    return json.dumps(entry, ensure_ascii=False)
