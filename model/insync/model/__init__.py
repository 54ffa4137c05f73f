"""Public: the words to write a model with, and `find_model`; the modules of this package are internal.

    model (Python) --tracing--> expression graph --> evaluator, machine code, z3, exports

`define` has the class `Model`. `tracing` runs its methods, written in the words of `language`, on the symbolic values
of `domains`. The result is a program: expressions of `expressions`, whose meaning `evaluator` defines. `symmetry`
permutes members of sorts. `abstraction` makes abstract states for coverage, `lints` finds what is probably a mistake,
and `catalogue` finds models by name or file.

Below all of these stands `given_names` (lists of names that users give).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from insync.model.catalogue import find_model
from insync.model.define import Model
from insync.model.domains.bounds import Bound, Bounds, BoundValues, Setting, Settings, Switch, bound
from insync.model.domains.composite import (
    Absent,
    Array,
    Bag,
    Enum,
    Int,
    Option,
    Readable,
    ReadableState,
    Record,
    Seq,
    Set,
    SetOf,
    State,
)
from insync.model.domains.sorts import Index, Range, Subset
from insync.model.domains.values import (
    ANY,
    NONE,
    Anything,
    Bool,
    Condition,
    EnumValue,
    Nothing,
    Num,
    OptionValue,
    SetValue,
)
from insync.model.language.choices import any_of
from insync.model.language.declarations import (
    TailCondition,
    action,
    always_eventually,
    eventually,
    eventually_always,
    initial,
    initially_always,
    invariant,
    leads_to,
    sometimes,
)
from insync.model.language.parts import part
from insync.model.language.presentation import (
    Arrow,
    Demand,
    Drawn,
    GridCell,
    Hardness,
    LogCell,
    LogRecord,
    Mark,
    MarkKind,
    Taken,
)
from insync.model.language.quantifiers import (
    choose,
    count,
    exists,
    filtered,
    for_all,
    max_of,
    min_of,
    sum_of,
    the,
)
from insync.model.language.refinements import refines
from insync.model.language.views import RecordView, StateView, record
from insync.model.language.vocabulary import (
    And,
    If,
    Implies,
    Not,
    Or,
    maximum,
    minimum,
    one_of,
    require,
    set_of,
    snapshot,
    when,
)
from insync.model.tracing.predicates import step_invariant
from insync.runtime.errors import DomainError, GuardError, InternalError, ModelError, UserError

if TYPE_CHECKING:
    from insync.model.language.sequence_views import BagView, SeqView
    from insync.model.language.set_views import SetOfView

__all__ = [
    "ANY",
    "NONE",
    "Absent",
    "And",
    "Anything",
    "Array",
    "Arrow",
    "Bag",
    "BagView",
    "Bool",
    "Bound",
    "BoundValues",
    "Bounds",
    "Condition",
    "Demand",
    "DomainError",
    "Drawn",
    "Enum",
    "EnumValue",
    "GridCell",
    "GuardError",
    "Hardness",
    "If",
    "Implies",
    "Index",
    "Int",
    "InternalError",
    "LogCell",
    "LogRecord",
    "Mark",
    "MarkKind",
    "Model",
    "ModelError",
    "Not",
    "Nothing",
    "Num",
    "Option",
    "OptionValue",
    "Or",
    "Range",
    "Readable",
    "ReadableState",
    "Record",
    "RecordView",
    "Seq",
    "SeqView",
    "Set",
    "SetOf",
    "SetOfView",
    "SetValue",
    "Setting",
    "Settings",
    "State",
    "StateView",
    "Subset",
    "Switch",
    "TailCondition",
    "Taken",
    "UserError",
    "action",
    "always_eventually",
    "any_of",
    "bound",
    "choose",
    "count",
    "eventually",
    "eventually_always",
    "exists",
    "filtered",
    "find_model",
    "for_all",
    "initial",
    "initially_always",
    "invariant",
    "leads_to",
    "max_of",
    "maximum",
    "min_of",
    "minimum",
    "one_of",
    "part",
    "record",
    "refines",
    "require",
    "set_of",
    "snapshot",
    "sometimes",
    "step_invariant",
    "sum_of",
    "the",
    "when",
]

_LATER = {"BagView": "sequence_views", "SeqView": "sequence_views", "SetOfView": "set_views"}
"""Classes that annotations name, and the modules that define them; they are loaded when a model is traced."""


if not TYPE_CHECKING:  # a checker of types would take every name for one that is there

    def __getattr__(name: str) -> object:
        """Load a class of a view with the module that defines it."""
        if name not in _LATER:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        found = getattr(importlib.import_module(f"{__name__}.language.{_LATER[name]}"), name)
        globals()[name] = found
        return found
