"""Entries of the catalogue by what an operator saw, `lost after power failure`, or by Kafka's method, `makeLeader`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from insync.kafka.defects import LEFT_OUT, Defect, LeftOut, all_defects

__all__ = ["Match", "by_symptom"]

_MOST = 10
_NOISE = frozenset(
    {
        *("a", "an", "the", "of", "and", "or", "in", "on", "to", "is", "are", "was", "were", "after", "when", "with"),
        *("for", "it", "its", "my", "our", "by", "at", "from", "has", "have", "had", "no", "not", "kafka", "topic"),
        *("partition", "setting", "ticket", "known"),
    }
)
_SAME = (
    ("lost lose loses losing loss missing disappear disappeared vanished gone", "lost"),
    ("power outage flushed flush unflushed unclean-shutdown", "flush"),
    ("failure failures fail fails failed crash crashes crashed dies die died killed kill oom down", "crash"),
    ("leaderless leader-none without-a-leader nobody-leads offline", "leaderless"),
    ("duplicate duplicates duplicated twice", "twice"),
    ("stuck forever ever hang hangs never blocked blockage", "never"),
    ("restart restarts restarted restarting rolling roll rolls rolled", "restart"),
    ("reassign reassigned reassignment reassignments cruise", "reassign"),
    ("diverge diverges diverged divergence differ differs different part corrupt corrupted", "diverge"),
    ("elect elected election elections elects", "elect"),
    ("consumer consumers reads read reader", "consumer"),
    ("disk disks directory directories jbod", "directory"),
    ("truncate truncates truncated truncation truncating", "truncate"),
    ("zookeeper zk", "zookeeper"),
    ("replica replicas follower followers", "replica"),
    ("lower lowers lowered lowering reduced", "lowered"),
    ("urp underreplicated under-replicated", "under-replicated"),
    ("split-brain splitbrain isolated netsplit", "split-brain"),
    ("shrink shrinks shrank shrunk shrinking flap flaps flapping", "shrink"),
    ("backward decrease decreases decreased regress regresses regressed regression", "backwards"),
)
_STEMS = {word: stem for words, stem in _SAME for word in words.split()}
_PHRASES = (
    (r"\bno(?:body)? (?:leader|leads)\b|\bleader:? (?:none|-1)\b|\bwithout (?:a )?leader\b", " leaderless "),
    (r"\bpower (?:failure|loss|outage|cut)\b|\bnot flushed\b|\bpage cache\b", " flush "),
    (r"\bsplit[- ]brain\b|\btwo (?:leaders|controllers)\b|\bpartitioned\b|\bcut off\b", " split-brain "),
    (r"\bnetwork partitions?\b", " split-brain "),
    (r"\bunder[- ]?replicated\b|\b(?:out of|outside|leaves?|left|not in) (?:the )?isr\b", " under-replicated "),
    (r"\bnot_?\s?enough_?\s?replicas\w*", " refused "),
    (r"\bkafka_?storage_?\w*", " directory "),
    (r"\boffset_?\s?out_?\s?of_?\s?range\w*", " consumer reset earliest "),
    (r"\bout_?\s?of_?\s?order_?\s?sequence\w*", " producer sequence "),
    (r"\bend offset\b|\bhigh watermark\b", " watermark "),
    (r"\b(?:go(?:es|ing|ne)?|went|moves?|moved|jump(?:s|ed)?|steps?) back(?:wards?)?\b", " backwards "),
)
_OF_PROPERTY = {
    "no_acknowledged_record_is_lost": "lost",
    "electable_replicas_are_complete": "lost",
    "running_replicas_have_a_leader": "leaderless",
    "a_leader_is_there": "leaderless",
    "a_dead_leader_is_replaced": "leaderless never",
    "reassignments_can_end": "reassign never",
    "records_are_stored_once": "twice",
    "leaders_know_their_followers": "diverge",
    "no_divergence": "diverge",
    "watermark_never_goes_back": "watermark backwards",
    "never_two_leaders_in_an_epoch": "split-brain",
    "reassignments_keep_redundancy": "under-replicated",
    "running_is_back_in_isr": "under-replicated never",
    "slow_followers_stay_out": "under-replicated shrink",
}
_ALSO = {
    "C-2": "split-brain zombie",
    "C-3": "split-brain lowered incident min.insync.replicas",
    "C-6": "restart rack",
    "C-10": "refused",
    "L-2": "under-replicated",
    "L-4": "under-replicated",
    "L-5": "under-replicated",
    "N-02": "reassign crash",
    "Q-18": "split-brain",
    "R-48": "split-brain",
    "R-63": "producer sequence",
}
"""What else operators call what they see of an entry, or would see without it."""


@dataclass(frozen=True, slots=True)
class Match:
    """An entry that fits a symptom.

    Attributes:
        entry: the entry; one that is left out is not modelled.
        score: how many of the words it has; words of its title count twice.
    """

    entry: Defect | LeftOut
    score: int


def by_symptom(words: Sequence[str]) -> list[Match]:
    """Return the entries that have the most of some words, the best first; none if no entry has any.

    A class or a method of Kafka that an entry cites is a word of it: `Partition.makeLeader` has `makeLeader` too.
    Mutants are left out, as nobody can have seen one.
    """
    wanted = _stems(" ".join(words))
    code = {part for word in re.findall(r"[\w.]+", " ".join(words).lower()) for part in word.split(".")}
    found = []
    every: list[Defect | LeftOut] = [*all_defects().values(), *LEFT_OUT]
    for entry in every:
        if entry.name.startswith("M") or entry.ticket.startswith("mutant") or not wanted:
            continue
        title, all_words = _stems(_symptom(entry)), _stems(_text(entry))
        hits = len((wanted & all_words) | (code & _cited(entry)))
        if hits:
            found.append(Match(entry, 2 * hits + len(wanted & title)))
    enough = max((match.score for match in found), default=0) // 2
    ranked = sorted(found, key=lambda match: (-match.score, _rank(match.entry)))
    return [match for match in ranked if match.score > enough][:_MOST]


def _rank(entry: Defect | LeftOut) -> int:
    """Settings before defects of releases, and what is not modelled last."""
    return 3 if isinstance(entry, LeftOut) else "CRNLQ".find(entry.name[0])


def _symptom(entry: Defect | LeftOut) -> str:
    """Return what somebody sees who meets an entry: its title, and what the property that it breaks is about."""
    seen = "" if isinstance(entry, LeftOut) else _OF_PROPERTY.get(entry.breaks, "")
    return f"{entry.title} {entry.ticket} {seen} {_ALSO.get(entry.name, '')}"


def _text(entry: Defect | LeftOut) -> str:
    more = entry.reason if isinstance(entry, LeftOut) else f"{entry.story} {entry.affected}"
    return f"{_symptom(entry)} {more}"


def _cited(entry: Defect | LeftOut) -> set[str]:
    """Return the classes and methods that an entry cites, in small letters: names with a capital after a small one."""
    fix = "" if isinstance(entry, LeftOut) else entry.fix
    finding = "" if entry.finding is None else f"{entry.finding.title} {entry.finding.harm}"
    return {name.lower() for name in re.findall(r"\w*[a-z][A-Z]\w*", f"{_text(entry)} {fix} {finding}")}


def _stems(text: str) -> set[str]:
    text = text.lower()
    for pattern, instead in _PHRASES:
        text = re.sub(pattern, instead, text)
    words = re.findall(r"[a-z0-9][a-z0-9.\-=]*", text)
    return {_STEMS.get(word.strip(".-"), word.strip(".-")) for word in words} - _NOISE
