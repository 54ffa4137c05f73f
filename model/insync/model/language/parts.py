"""Parts of a model: objects that contribute actions, initial methods and properties to the model that holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, overload

from insync.model.language.declarations import ROLE, ActionSpec, InvariantSpec, every_spec
from insync.runtime.errors import ModelError, shown, user_frame

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = ["HeldPart", "PartMethod", "methods_of_part", "part"]

P = TypeVar("P")


@overload
def part(kind: type[P], /) -> P: ...
@overload
def part(kind: type, /, *others: type, which: Callable[[Any], type | None]) -> Any: ...


def part(*kinds: type, which: Callable[[Any], type | None] | None = None) -> Any:
    """Declare a part in the body of a model's class: an object of a class of its own, which the model holds.

    `timer = part(Timer)` makes `self.timer` of a model the object `Timer(self)`. Methods of `Timer` that are marked
    with `@action`, `@initial`, `@invariant` and the like belong to the model, under their own names, as if they stood
    in the place of the declaration. Their `self` is the part. A part is made once for each model, when first used.

    A subclass of the model replaces a part by declaring one of the same name, and removes it by setting the name to
    None.

    Args:
        kinds: the class of the part. Several are alternatives, which may have methods of the same names and parameters.
        which: a function of the model that returns one of these classes, or None if this model has no such part: then
            `self.timer` is None, and what the part would contribute is left out. Without it the first class is taken.
    """
    place = user_frame()
    if not kinds or not all(isinstance(kind, type) for kind in kinds):
        message = f"{place}: part({', '.join(map(shown, kinds))}) takes classes, such as `timer = part(Timer)`."
        raise ModelError(message)
    if which is None and len(kinds) > 1:
        message = f"{place}: part is given {len(kinds)} classes; say which one a model has: part(..., which=function)."
        raise ModelError(message)
    return HeldPart(kinds, which, place)


class HeldPart:
    """A part as an attribute of a model's class; as an attribute of a model it is the object.

    Args:
        kinds: its possible classes.
        which: returns the one that a model has, or None; if there is no function it is the first.
        place: the place of the declaration.
    """

    def __init__(self, kinds: tuple[type, ...], which: Callable[[Any], type | None] | None, place: str) -> None:
        self.kinds, self.place, self.name = kinds, place, ""
        self._which = which

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Model | None, owner: type | None = None) -> Any:
        if model is None:
            return self
        if self.name not in model._parts:
            model._parts[self.name] = self  # until it is made
            try:
                kind = self._kind(model)
                model._parts[self.name] = None if kind is None else kind(model)
            except BaseException:
                del model._parts[self.name]
                raise
        elif model._parts[self.name] is self:
            message = f"{self.place}: the part {self.name!r} is used while it is made; use it in methods only."
            raise ModelError(message)
        return model._parts[self.name]

    def _kind(self, model: Model) -> type | None:
        found = self.kinds[0] if self._which is None else self._which(model)
        if found is not None and found not in self.kinds:
            known = ", ".join(kind.__name__ for kind in self.kinds)
            message = (
                f"{self.place}: `which` of the part {self.name!r} returns {shown(found)}; it must return "
                f"{known} or None."
            )
            raise ModelError(message)
        return found


class PartMethod:
    """A marked method of a part as an attribute of the model's class, where it is the function in the part's class.

    As an attribute of a model it is the method of its part, and None if the model has no part with it.

    Args:
        held: the part.
        kind: the first of its classes that has the method.
        name: the name of the method.
    """

    def __init__(self, held: HeldPart, kind: type, name: str) -> None:
        self.held, self.kind = held, kind
        self._name, self._function = name, getattr(kind, name)
        setattr(self, ROLE, getattr(self._function, ROLE))

    def __get__(self, model: Model | None, owner: type | None = None) -> Any:
        return self._function if model is None else getattr(self.held.__get__(model), self._name, None)


def methods_of_part(held: HeldPart) -> Iterator[tuple[str, PartMethod]]:
    """Yield the marked methods of a part by name, in order of definition, those of alternatives once.

    Raises:
        ModelError: methods of one name differ in kind or in parameters.
    """
    found: dict[str, ActionSpec | InvariantSpec] = {}
    for kind in held.kinds:
        for name, spec in every_spec(kind).items():
            first = found.setdefault(name, spec)
            if type(first) is not type(spec) or first.parameters != spec.parameters:
                message = (
                    f"{spec.place}: {name!r} differs from the method at {first.place}, which the part may have "
                    f"instead; give both the same decorator and the same parameters."
                )
                raise ModelError(message)
            if first is spec:
                yield name, PartMethod(held, kind, name)
