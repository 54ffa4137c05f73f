"""The class `Model`, which collects and checks the declarations of a class body.

Decorators of `language.declarations` mark its methods, and `tracing` turns the class into a `Program`. Inherited
actions keep their place in the order. A subclass replaces an action by defining one of the same name, and removes it by
setting the name to None.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from insync.model.domains.bounds import Bounds, BoundValues, Settings, choose
from insync.model.domains.composite import MOST_CELLS, Readable, ReadableState, State
from insync.model.domains.open_bounds import OpenMembers
from insync.model.domains.sorts import Index, Range, is_kind, members_of
from insync.model.domains.values import Condition
from insync.model.expressions.graph import Node
from insync.model.expressions.lifted import Lifted
from insync.model.expressions.store import current, graph_of_condition
from insync.model.given_names import NAMED, names_in_class
from insync.model.language.declarations import (
    ROLE,
    ActionSpec,
    action_specs,
    every_spec,
    initial,
    place_of_function,
)
from insync.model.language.parts import HeldPart, methods_of_part
from insync.model.language.presentation import Demand, Drawn, GridCell, Taken, own_columns, own_drawing, own_lifelines
from insync.runtime.errors import (
    FormerName,
    ModelError,
    UserError,
    author_frame,
    closest,
    place_of_class,
    shown,
    user_frame,
)

__all__ = ["DEADLOCK_FREE", "FINAL", "RESERVED", "TYPE_OK", "Model", "former_names_in_words"]

S = TypeVar("S", bound=Index | Range | Enum)

Names = Sequence[str]

if TYPE_CHECKING:
    # Type checkers know this module everywhere; at run time nobody needs the default.
    from typing_extensions import TypeVar as TypeVarWithDefault

    from insync.model.tracing.program import Confinement, Program
    from insync.model.tracing.tracer import ConditionTracer

    StateT = TypeVarWithDefault("StateT", default=Any)
else:
    StateT = TypeVar("StateT")


_NONE: Mapping[str, type] = MappingProxyType({})


class _Body(dict[str, Any]):
    """The names of a class body; an action or invariant must not be defined twice under one name.

    The decorator `@initial` is found even after the body has defined the plain method `initial`.
    """

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        return initial if name == "initial" and inspect.isfunction(found) else found

    def __setitem__(self, name: str, value: Any) -> None:
        old, new = getattr(self.get(name), ROLE, None), getattr(value, ROLE, None)
        if old is not None and new is not None:
            other = old.place.rsplit(":", 1)[1]
            kind = f"two {new.plural}" if type(old) is type(new) else f"{_a(old.word)} and {_a(new.word)}"
            message = f"{new.place}: {kind} are named {name!r}, the other at line {other}; rename one."
            raise ModelError(message)
        if old is not None and callable(value):
            message = f"{_place_of(value)}: {name!r} is also the {old.word} at {old.place}; rename one."
            raise ModelError(message)
        super().__setitem__(name, value)


class ModelMeta(type):
    """Collects and checks the declarations of a model's class body."""

    @classmethod
    def __prepare__(mcs, name: str, bases: tuple[type, ...], /, **rest: Any) -> dict[str, Any]:
        return _Body()

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], /) -> ModelMeta:
        members = _with_parts(bases, body)
        _check_declarations(name, members)
        _check_names(bases, members)
        members.setdefault("name", _snake_case(name))
        made = super().__new__(mcs, name, bases, members)
        declared = getattr(made, "bounds", Bounds())
        twice = [one for one in getattr(made, "settings", ()) if one in declared]
        if twice:
            message = f"{user_frame()}: {name}: {twice[0]!r} is a bound and a setting; rename one."
            raise ModelError(message)
        unknown = [one for one in getattr(made, "unbounded", ()) if one not in declared]
        if unknown:
            known = closest(unknown[0], declared)
            message = f"{user_frame()}: class {name}: unbounded names {unknown[0]!r}, which is no bound of it. {known}"
            raise ModelError(message)
        named = {f"the preset {preset!r}": values for preset, values in members.get("presets", {}).items()}
        named |= {f"the group {title!r}": names for title, names in members.get("option_groups", {}).items()}
        named["rare_options"] = members.get("rare_options", ())
        named["former_names"] = filter(None, members.get("former_names", {}).values())
        for what, names in named.items():
            for one in [each for each in names if each not in declared and each not in getattr(made, "settings", ())]:
                message = f"{user_frame()}: class {name}: {what} names {one!r}; name its own choices."
                raise ModelError(message)
        for one in members.get("action_order", ()):
            if one not in (actions := action_specs(made)):
                known = closest(one, actions)
                message = f"{user_frame()}: class {name}: action_order names {one!r}, which is no action of it. {known}"
                raise ModelError(message)
        return made

    def __call__(cls, *args: Any, **chosen: Any) -> Any:
        made = super().__call__(*args, **chosen)
        if "b" not in vars(made):
            place = place_of_function(inspect.getattr_static(cls, "__init__"))
            message = (
                f"{place}: a model is made with its bounds and settings by name. Declare those in place of this "
                f"__init__, or call super().__init__(**chosen) in it."
            )
            raise ModelError(message)
        vars(made)["_made"] = True
        return made


def _with_parts(bases: tuple[type, ...], body: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a class body with the marked methods of its parts, each in the place of its part.

    Raises:
        ModelError: a method has the name of another member.
    """
    members: dict[str, Any] = {}
    for name, member in body.items():
        members[name] = member
        replaced = next((vars(kind)[name] for base in bases for kind in base.__mro__ if name in vars(kind)), None)
        if isinstance(replaced, HeldPart):
            members |= {each: None for each, _ in methods_of_part(replaced) if each not in body}
        for each, method in methods_of_part(member) if isinstance(member, HeldPart) else ():
            if each in body or members.get(each) is not None:
                role = getattr(method, ROLE)
                message = f"{role.place}: the model that holds this part has another {each!r} in its class; rename one."
                raise ModelError(message)
            members[each] = method
    return members


def _check_declarations(model: str, members: dict[str, Any]) -> None:
    """Refuse attributes of a wrong form: bounds, settings, lists of names, the legend and texts."""
    for attribute in NAMED:
        if attribute in members and (members[attribute] is not None or attribute != "headline"):
            names_in_class(f"{user_frame()}: class {model}: ", attribute, members[attribute])
    bounds, settings = members.get("bounds", Bounds()), members.get("settings", Settings())
    if not isinstance(bounds, Bounds):
        message = f"{user_frame()}: {model}: bounds={bounds!r} must be Bounds(name=Bound(...), ...)."
        raise ModelError(message)
    if not isinstance(settings, Settings):
        message = f"{user_frame()}: {model}: settings={settings!r} must be Settings(name=Setting(...), ...)."
        raise ModelError(message)
    if not isinstance(tells_apart := members.get("tells_apart", ""), str):
        message = f"{user_frame()}: {model}: tells_apart={tells_apart!r} must be a text, such as 'the first leads'."
        raise ModelError(message)
    if not isinstance(title := members.get("name", model), str) or not title:
        message = f"{user_frame()}: {model}: name={title!r} must be a text, such as {_snake_case(model)!r}."
        raise ModelError(message)
    legend = members.get("legend", {})
    texts = [*legend, *legend.values()] if isinstance(legend, Mapping) else [legend]
    if not isinstance(legend, Mapping) or not all(isinstance(text, str) for text in texts) or "" in legend:
        message = f'{user_frame()}: {model}: legend={legend!r} must say of each mark what it means: {{"*": "boss"}}.'
        raise ModelError(message)


def _check_names(bases: tuple[type, ...], members: dict[str, Any]) -> None:
    """Refuse an action or invariant that hides another attribute, or that an ordinary method hides."""
    of_model = any(isinstance(base, ModelMeta) for base in bases)
    for name, member in members.items():
        spec = getattr(member, ROLE, None)
        if of_model and name in FINAL and spec is None:
            message = (
                f"{_place_of(member)}: {name!r} is what every model has already, and no model replaces; rename it."
            )
            raise ModelError(message)
        if spec is not None and (name in RESERVED or hasattr(type, name)):
            message = (
                f"{spec.place}: {_a(spec.word)} cannot be named {name!r}: every model has that already; rename it."
            )
            raise ModelError(message)
        if member is None and name not in members.get("__annotations__", {}) and not name.startswith("_"):
            _refuse_to_remove_nothing(bases, name)
        inherited = next((role for base in bases if (role := getattr(getattr(base, name, None), ROLE, None))), None)
        if inherited is not None and spec is None and member is not None:
            message = (
                f"{_place_of(member)}: {name!r} hides the {inherited.word} at {inherited.place} and is none itself; "
                f"write @{inherited.mark} above it, or {name} = None to remove the {inherited.word}."
            )
            raise ModelError(message)


def _refuse_to_remove_nothing(bases: tuple[type, ...], name: str) -> None:
    """Refuse `name = None` in the body of a variant that inherits nothing of that name."""
    inherited = [each for base in bases for each in every_spec(base)]
    if inherited and not any(hasattr(base, name) for base in bases):
        message = (
            f"{user_frame()}: {name} = None removes nothing, as no {name!r} is inherited. {closest(name, inherited)}"
        )
        raise ModelError(message)


def _returned(found: object) -> str:
    return "a dictionary" if isinstance(found, dict) else shown(found)


def _check_takes_bounds(declare: Callable[..., object]) -> None:
    try:
        inspect.signature(declare).bind(None)
    except TypeError:
        message = f"{place_of_function(declare)}: declare is given the bounds; write `def declare(self, b)`."
        raise ModelError(message) from None


def former_names_in_words(former: Mapping[str, str]) -> str:
    """Return the warning about former names that were given: one sentence or two.

    Args:
        former: the name of today for each; an empty one for what cannot be chosen any more.
    """
    changed, gone = {name: now for name, now in former.items() if now}, [name for name in former if not former[name]]
    sentences = []
    if changed:
        verb, names, go = ("are", "former names", "go") if len(changed) > 1 else ("is", "former name", "goes")
        new = _listed(list(dict.fromkeys(changed.values())))
        sentences.append(f"{_listed(list(changed))} {verb} now {new}; the {names} {go} with the next release.")
    if gone:
        verb, them = ("are", "them") if len(gone) > 1 else ("is", "it")
        sentences.append(f"{_listed(gone)} {verb} gone and {verb} ignored; leave {them} out.")
    return " ".join(sentences)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _a(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _place_of(member: object) -> str:
    return place_of_function(member) if hasattr(member, "__code__") and callable(member) else user_frame()


class Model(Generic[StateT], metaclass=ModelMeta):
    """A deterministic state machine with finite bounds.

    `Model[MyState]` tells a type checker what the methods of a model get as the state: a class of yours that has its
    fields as typed attributes. Nothing depends on it when a model is traced, and plain `Model` accepts any.

    Subclass it, declare `bounds` and `settings`, write `declare`, and mark methods with `@action` and `@invariant`, and
    with `@initial` where there are several initial states.
    An instance is the model under chosen bounds and settings, which its constructor takes by name.

    Attributes:
        name: the name of the model; the class name in snake case unless the class sets it.
        headline: the properties that are checked when none is named; None is every invariant.
        within: invariants; states in which one of them fails are checked, and no step is taken from them.
        tells_apart: why members are not symmetric, for messages; if it is set, none of the sorts is symmetric.
        unbounded: bounds that a proof may leave open, so that it holds for all their values.
        presets: values of bounds and settings that go together, by a name that the constructor takes as `preset`.
        option_groups: bounds and settings by the title of their group in help texts; others follow the groups.
        rare_options: bounds and settings that only `--help-all` shows.
        former_names: names that bounds and settings had in the release before, with their names now, or an empty one
            for what cannot be chosen any more; they are accepted with a warning.
        action_order: actions in the order of the program; those that it does not name follow as they are defined.
        bounds: the sizes that the class declares.
        settings: the choices other than sizes that the class declares.
        legend: the meaning of marks in the cells of the grid; a mark is explained below a grid in which it occurs.
        b: the chosen bounds, as attributes; `b.settings` has the chosen member of each setting's enumeration.

    Raises:
        UserError: a bound that is unknown, of the wrong type or out of range.
        ModelError: the model cannot be traced; the message has the file and line.
    """

    name: ClassVar[str]
    bounds: ClassVar[Bounds] = Bounds()
    settings: ClassVar[Settings] = Settings()
    headline: ClassVar[tuple[str, ...] | None] = None
    legend: ClassVar[Mapping[str, str]] = {}
    within: ClassVar[tuple[str, ...]] = ()
    tells_apart: ClassVar[str] = ""
    unbounded: ClassVar[tuple[str, ...]] = ()
    presets: ClassVar[Mapping[str, Mapping[str, int | str]]] = MappingProxyType({})
    option_groups: ClassVar[Mapping[str, Names]] = MappingProxyType({})
    rare_options: ClassVar[tuple[str, ...]] = ()
    former_names: ClassVar[Mapping[str, str]] = MappingProxyType({})
    action_order: ClassVar[tuple[str, ...]] = ()
    b: BoundValues

    def __init__(self, **chosen: int | str | Enum) -> None:
        self.b = choose(self.name, self.settings, self.bounds, self._with_preset(self._by_present_names(chosen)))
        self._parts: dict[str, Any] = {}
        self._program: Program | None = None  # set by `tracing`
        self._lifted: Lifted | None = None  # set with it
        self._choosing: dict[str, ActionSpec] = {}  # set with it: the actions that have choices
        self._confinement: Confinement | None = None
        self._state: State | None = None
        self._condition: ConditionTracer | None = None  # set where bounds are open
        self._source_suspicions: tuple[str, ...] | None = None  # set by `lints`

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute, but not while an action or a property is traced: it would not be part of the state.

        Raises:
            ModelError: one is traced.
        """
        traced = current.get() is not None or graph_of_condition.get() is not None
        if traced and "_made" in vars(self):  # a model may be made while another one is traced
            message = (
                f"{user_frame()}: self.{name} is assigned while the model is traced, which happens once and not in "
                f"each step. Make {name} a field of the state, and assign s.{name}."
            )
            raise ModelError(message)
        super().__setattr__(name, value)

    def _by_present_names(self, chosen: Mapping[str, int | str | Enum]) -> Mapping[str, int | str | Enum]:
        """Return what is chosen by the names of today, with a warning if it has former ones.

        Raises:
            UserError: a choice is given by both of its names.
        """
        own = {*self.bounds, *self.settings}
        former = {name: now for name, now in self.former_names.items() if name in chosen and name not in own}
        if not former:
            return chosen
        for name, now in former.items():
            if now in chosen:
                message = f"{self.name}: {name} is the former name of {now}, and both are given; leave out {name}."
                raise UserError(message)
            same = [other for other in former if now and former[other] == now]
            if len(same) > 1:
                message = f"{self.name}: {_listed(same)} are former names of {now}; give {now} alone."
                raise UserError(message)
        frame = author_frame()
        while frame is not None and frame.f_back and frame.f_globals.get("__name__", "").startswith("insync."):
            frame = frame.f_back
        place = ("<unknown>", 1) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        warnings.warn_explicit(former_names_in_words(former), FormerName, *place)
        return {now: value for name, value in chosen.items() if (now := former.get(name, name))}

    def _with_preset(self, chosen: Mapping[str, int | str | Enum]) -> Mapping[str, int | str | Enum]:
        """Return what is chosen, over the values of the preset that is named.

        Raises:
            UserError: there is no such preset.
        """
        if not self.presets or "preset" not in chosen:
            return chosen
        given = {name: value for name, value in chosen.items() if name != "preset"}
        preset = self.presets.get(str(chosen["preset"]))
        if preset is None:
            message = f"{self.name} has no preset {chosen['preset']!r}. {closest(str(chosen['preset']), self.presets)}"
            raise UserError(message)
        return {**preset, **given}

    @property
    def identity(self) -> dict[str, int | str]:
        """Bounds and settings as they leave the process: `type(model)(**model.identity)` is the same model."""
        return {**{name: chosen.value for name, chosen in self.b.settings.items()}, **self.b}

    def declare(self, b: BoundValues) -> State:
        """Return the fields of the state and their domains under these bounds."""
        place = place_of_class(type(self))
        message = f"{place}The model {self.name!r} has no state; write `def declare(self, b): return State(...)`."
        raise ModelError(message)

    def initial(self, s: StateT) -> None:
        """Assign the fields that begin with another value than the default: false, lowest, first, none or empty."""

    def remarks(self) -> list[str]:
        """Return remarks for the user about the chosen bounds and settings, one sentence each; none by default."""
        return []

    def grid(self, state: ReadableState) -> Mapping[str, GridCell]:
        """Return the trace grid's cells of a readable state by column, in the order of the columns.

        A cell is a text, or a text for each of its parts (a mapping) or elements (a tuple). The grid shows the texts
        that a step changes. Override it to show a state in your own words, and `legend` to explain their marks.
        """
        return own_columns(self.state, state)

    def step_marks(self, before: ReadableState, after: ReadableState) -> Mapping[str, str]:
        """Return the marks that the trace grid writes beside the cells of a step, by column; none by default.

        Override it for marks that the state after the step does not show, and `legend` to explain them.
        """
        return {}

    def lifelines(self) -> Sequence[str]:
        """Return the lifelines of drawings; by default members of the sorts that are parameters of actions.

        A lifeline and a column of `grid` with the same name stand for the same thing.
        """
        from insync.model.tracing.program import specs_of  # `insync list` does without it

        return own_lifelines(specs_of(self), self.state, self.b)

    def step_drawing(self, steps: Sequence[Taken], label: str) -> Sequence[Drawn]:
        """Return the drawing of the last of some steps: arrows for messages, marks for events on a lifeline.

        By default a step whose parameters are one lifeline is a mark there. A step with two is an arrow from the first
        to the second, in the order of the label. Override it where you know who sends what to whom.

        Args:
            steps: the initial state, then at least one step; the last one is drawn.
            label: that step in words.
        """
        return own_drawing(self.lifelines(), steps[-1], label)

    def demands(self, steps: Sequence[Taken]) -> list[Demand]:
        """Return the events that must happen for these steps to come about; none by default.

        Traces show them below their grid. Override it where some steps are harder to bring about than others.

        Args:
            steps: all steps of a trace, the initial state first.
        """
        return []

    def condition_in_words(self, condition: str) -> str:
        """Return a condition of a step in words, or an empty text where there are none for it, as by default.

        `insync explore` shows the words in place of the condition. Override it for readers who do not know the fields.

        Args:
            condition: the condition in the names of the fields, such as `clock[n1] < 3`.
        """
        return ""

    def abstraction(self, s: StateT) -> Mapping[str, object]:
        """Return the abstraction of a state by which walks count abstract states; by default all of its fields.

        States with equal abstractions are one abstract state. Override it with a dict of fields, conditions and
        numbers, or lists and dicts of these.
        """
        return {name: getattr(s, name) for name in self.state.present}

    def all(self, sort: type[S]) -> list[S]:
        """Return the members of a sort, a range or an enumeration under this model's bounds."""
        if not is_kind(sort):
            message = f"{user_frame()}: self.all(...) takes a sort, a range or an enumeration, not {sort!r}."
            raise ModelError(message)
        found: Any = members_of(sort, self.b)
        members: list[S] = found
        return members if isinstance(found, OpenMembers) else list(members)

    @property
    def state(self) -> State:
        """The bound domain of the state."""
        if self._state is None:
            try:
                declared: object = self.declare(self.b)
            except TypeError as error:
                _check_takes_bounds(self.declare)
                from insync.model.tracing.lifting import refuse_mistaken_call

                refuse_mistaken_call(error)
                raise
            if not isinstance(declared, State):
                place, returned = place_of_function(self.declare), _returned(declared)
                message = f"{place}: declare returns {returned}; it must return State(...)."
                raise ModelError(message)
            bound = declared.bind(self.b)
            vars(self)["_state"] = bound  # also while an action is traced
            if bound.width > MOST_CELLS:
                message = (
                    f"{place_of_function(self.declare)}: a state under {self.identity} takes {bound.width} "
                    f"cells, and at most {MOST_CELLS} are possible. Use smaller bounds."
                )
                raise ModelError(message)
            return bound
        return self._state

    @property
    def program(self) -> Program:
        """The traced program, made at the first access."""
        if self._program is not None:
            return self._program
        from insync.model.tracing.tracer import traced  # `insync list` does without it

        return traced(self, lambda: None)

    def trace_predicate(
        self, predicate: Callable[..., Condition], parameters: Mapping[str, type] | None = None
    ) -> Node:
        """Return the node of a condition on the state, which must hold for all values of its parameters, if any."""
        from insync.model.tracing.tracer import trace_predicate

        trace = trace_predicate if self._condition is None else self._condition
        return trace(self, predicate, parameters or {})

    def decode(self, codes: tuple[int, ...]) -> ReadableState:
        """Return the readable state of these codes."""
        return self.state.decode(codes, 0)

    def decode_after(self, codes: tuple[int, ...], former: tuple[int, ...], state: ReadableState) -> ReadableState:
        """Return the readable state of these codes, sharing its unchanged parts with an earlier state.

        Args:
            codes: the codes.
            former: the codes of the earlier state.
            state: the earlier state; neither it nor the result may be changed.
        """
        after: ReadableState = self.state.decode_after(codes, 0, former, state)
        return after

    def encode(self, readable: Readable) -> tuple[int, ...]:
        """Return the codes of a readable state.

        Raises:
            UserError: a field is missing or has a value outside its domain.
        """
        return tuple(self.state.encode(readable, ""))


DEADLOCK_FREE = "deadlock_free"
"""The name of the invariant that every model has; it is checked if a user names it."""

TYPE_OK = "type_ok"
"""The name of the property that every engine always checks. It is about steps, not a condition on states."""

RESERVED = {name for name in vars(Model) if not name.startswith("_")} | {"b", "bounds", DEADLOCK_FREE, TYPE_OK}
"""The names that no action and no property of a model has."""

FINAL = {"all", "b", "decode", "decode_after", "encode", "identity", "program", "state", "trace_predicate"}
"""Those of them that a model does not replace by an attribute or a method of its own either."""
