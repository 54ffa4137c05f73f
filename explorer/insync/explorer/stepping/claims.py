"""What is to be examined: a model under bounds, and the claims that are made about its states.

A claim is a property of the model by its name, or a plain Python function of the readable state. The evaluator checks
both; machine code and z3 know the first kind alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from insync.model import Model, ReadableState
from insync.model.errors import UserError
from insync.model.evaluator import evaluate
from insync.model.expressions.graph import Node
from insync.model.given_names import given_list
from insync.properties.explain import explain
from insync.properties.invariants import Invariant, StepInvariant, sentence_of
from insync.properties.registry import default_names, judge

__all__ = ["Claim", "PropertyLike", "ReadableProperty", "asked_names", "claims_of"]

ReadableProperty = Callable[[ReadableState], bool]
"""A property in plain Python: whether a readable state is as it must be. Its docstring says what it means."""

PropertyLike = str | ReadableProperty
"""A property of the model by its name, or a readable one."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that must hold in every reachable state of one model.

    Attributes:
        model: the model.
        name: the property's name, or the function's.
        sentence: what it means.
        symbolic: the invariant and its condition; None for a plain function.
        readable: the function; None for a property.
    """

    model: Model
    name: str
    sentence: str
    symbolic: tuple[Invariant, Node] | None
    readable: ReadableProperty | None

    @property
    def of_steps(self) -> StepInvariant | None:
        """The invariant of steps that it is, if it is one; of a state it then claims something about its steps."""
        found = None if self.symbolic is None else self.symbolic[0]
        return found if isinstance(found, StepInvariant) else None

    def holds(self, codes: tuple[int, ...]) -> bool:
        """Return whether it holds in the state with these codes.

        Raises:
            UserError: the function returns something else than true or false.
        """
        if self.of_steps is not None:
            return self.of_steps.bad_step(self.model, codes) is None
        if self.symbolic is not None:
            return bool(evaluate(self.symbolic[1], codes))
        assert self.readable is not None
        answer: object = self.readable(self.model.decode(codes))
        if not isinstance(answer, bool):
            message = (
                f"The property {self.name} returns {answer!r} ({type(answer).__name__}); a function of the readable "
                f"state returns True where the state is as it must be, and False where it is not."
            )
            raise UserError(message)
        return answer

    def reason(self, codes: tuple[int, ...]) -> str:
        """Say why it does not hold in the state with these codes."""
        if self.symbolic is not None:
            return explain(self.model, self.symbolic[0], codes) or ""
        said = f": {self.sentence}" if self.sentence else "; its docstring would say here what it means."
        return f"{self.name} is false in the last state{said}"


def claims_of(model: Model, properties: Sequence[PropertyLike] | None = None) -> list[Claim]:
    """Return what is claimed of a model by properties, in the order given; None names `default_names`.

    type_ok is left out: it is about steps, and everything that takes steps checks it.

    Raises:
        UserError: an unknown name, something that is neither name nor function, or two of one name.
    """
    wanted = default_names(model) if properties is None else given_list("properties", properties)
    claims = [claim for given in wanted for claim in _claims(model, given)]
    unique: dict[str, Claim] = {}
    for claim in claims:
        other = unique.setdefault(claim.name, claim)
        if other.readable is not claim.readable:
            message = f"{model.name}: two different properties are named {claim.name!r}; rename one."
            raise UserError(message)
    return list(unique.values())


def asked_names(model: Model, properties: Sequence[PropertyLike] | None) -> list[str]:
    """Return the name of each property that is asked for, type_ok as well; `claims_of` has accepted them."""
    wanted = default_names(model) if properties is None else properties
    return [given if isinstance(given, str) else getattr(given, "__name__", "<lambda>") for given in wanted]


def _claims(model: Model, given: object) -> list[Claim]:
    if isinstance(given, str):
        judged = judge(model, [given])
        pairs = zip(judged.invariants, judged.nodes, strict=True)
        return [Claim(model, found.name, found.sentence, (found, node), None) for found, node in pairs]
    if not callable(given):
        message = (
            f"{model.name}: {given!r} is not a property; give the name of one, or a function of the readable state."
        )
        raise UserError(message)
    name = getattr(given, "__name__", "<lambda>")
    if not name.isidentifier():
        message = (
            f"{model.name}: the property {given!r} has no name to be reported by; write it with `def name(state)`."
        )
        raise UserError(message)
    return [Claim(model, name, sentence_of(given), None, given)]
