"""Addresses of states: short texts by which a state is found again in any exploration of its model.

An address has four parts, joined by dashes: a digest of the model under its bounds and settings, the initial state,
the numbers of the actions, and a digest of the state that they lead to. The digests show whether an address belongs to
this model, and whether its steps still lead to the same state after a change of the model.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from insync.explorer.stepping.stepper import Move, Refused, Stepper
from insync.model import Model
from insync.model.evaluator import Codes
from insync.properties.invariants import kept_for, names_within
from insync.runtime.errors import GuardError, UserError

__all__ = ["address_of", "moves_at"]


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_BASE = len(_DIGITS)
_SHAPE = re.compile(r"([0-9a-f]{8})-([0-9a-z]+)-([0-9a-z]*)-([0-9a-f]{4})")
_LONGEST = 60
_HEX = "z"  # the prefix of an initial state in hexadecimal words, if there are too many to be numbered


def model_mark(model: Model) -> str:
    """Return the first part of addresses: a digest of the model under its bounds and settings."""

    def made() -> str:
        cells = [(cell.path, cell.size) for cell in model.program.schema.cells]
        actions = [str(action) for action in model.program.actions]
        return _digest((model.name, sorted(model.identity.items()), names_within(model), cells, actions))[:8]

    return kept_for(model, "mark of its addresses", made)


def address_of(model: Model, moves: Sequence[Move]) -> str:
    """Return the address of the state that moves lead to; the first is (None, an initial state)."""
    width = _width(model)
    steps = "".join(_written(number, width) for number, _ in moves[1:] if number is not None)
    return "-".join([model_mark(model), _initial(model, moves[0][1]), steps, _state_mark(model, moves[-1][1])])


def moves_at(model: Model, stepper: Stepper, address: str) -> list[Move]:
    """Return the moves that lead to the state with an address.

    Raises:
        UserError: the text is no address, or belongs to another model, or its steps are disabled or lead elsewhere.
    """
    text = address.strip()
    parts = _SHAPE.fullmatch(text)
    if parts is None:
        shown = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
        message = f"{shown!r} is not the address of a state; give one that begins with {model_mark(model)}-."
        raise UserError(message)
    if parts[1] != (mark := model_mark(model)):
        message = (
            f"The address {parts[1]}-... is of another model, or of {model.name} under other bounds or settings; those "
            f"of this one begin with {mark}-. Explore that model, or {model.name} as it was then."
        )
        raise UserError(message)
    moves = _followed(model, stepper, _first_state(model, parts[2]), _numbers(model, parts[3]))
    if _state_mark(model, moves[-1][1]) != parts[4]:
        message = (
            f"The steps of this address lead to another state of {model.name} than it was made for: the text was "
            f"changed, or the model was. Go there by its steps."
        )
        raise UserError(message)
    return moves


def _followed(model: Model, stepper: Stepper, start: Codes, numbers: Sequence[int]) -> list[Move]:
    moves: list[Move] = [(None, start)]
    for place, number in enumerate(numbers, start=1):
        label = model.program.actions[number].label
        try:
            moves.append((number, stepper.step(moves[-1][1], number)))
        except (GuardError, Refused):
            message = (
                f"Step {place} of this address, {label!r}, cannot be taken in {model.name}: the text was changed, or "
                f"the model was. Go there by its steps."
            )
            raise UserError(message) from None
    return moves


def _numbers(model: Model, text: str) -> list[int]:
    width, known = _width(model), len(model.program.actions)
    numbers = [int(text[at : at + width], _BASE) for at in range(0, len(text), width)]
    if len(text) % width or any(number >= known for number in numbers):
        message = (
            f"The steps of this address are none of {model.name}: the text is cut off or was changed. Copy it again."
        )
        raise UserError(message)
    return numbers


def _initial(model: Model, codes: Codes) -> str:
    initials = model.program.initials
    place = initials.place_of(codes) if initials.enumerated else None
    if place is not None:
        return _written(place, 1)
    return _HEX + "".join(f"{word:016x}" for word in model.program.schema.pack(codes))


def _first_state(model: Model, text: str) -> Codes:
    """Return the initial state in the second part of an address."""
    initials, schema = model.program.initials, model.program.schema
    if initials.enumerated:
        if (place := int(text, _BASE)) < len(initials):
            return initials[place]
    elif re.fullmatch(f"{_HEX}[0-9a-f]{{{16 * schema.words}}}", text):
        words = [int(text[at : at + 16], 16) for at in range(1, len(text), 16)]
        codes = schema.unpack(words)
        if codes in initials:
            return codes
    message = (
        f"This address begins in none of the initial states of {model.name}: the text is cut off or was changed. Copy "
        "it again."
    )
    raise UserError(message)


def _width(model: Model) -> int:
    """Return the number of characters for the number of an action."""
    return len(_written(max(0, len(model.program.actions) - 1), 1))


def _written(number: int, width: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, _BASE)
        text = _DIGITS[digit] + text
    return text.rjust(width, "0")


def _state_mark(model: Model, codes: Codes) -> str:
    return _digest(model.program.schema.pack(codes))[:4]


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()
