"""LLVM: IR text to object code for this machine, and object code to functions in this process."""

from __future__ import annotations

import ctypes
import hashlib
import os
import weakref
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache

import llvmlite
import llvmlite.binding as llvm

from insync.machine.objects import load_object, save_object
from insync.model.errors import InternalError, UserError

__all__ = ["Library", "compile_module", "llvm_version", "machine_key", "object_code"]


class Code(StrEnum):
    """How much time LLVM takes for a module; what is computed is the same.

    FAST serves searches that last. QUICK is compiled in a tenth of the time and runs a fifth to a half slower, which
    suits many small state spaces, each of another model, as in this project's own tests.
    """

    FAST = "fast"
    QUICK = "quick"


# Engines that nobody uses any more. LLVM does one thing at a time, so to free one may mean to wait for a compilation
# that goes on in another thread; that is left to whoever compiles next.
_unused: list[llvm.ExecutionEngine] = []


class Library:
    """Functions of one piece of object code; it stays in this process as long as one of them is in use."""

    def __init__(self, code: bytes) -> None:
        _unused.clear()
        empty = llvm.parse_assembly("")
        self._engine = llvm.create_mcjit_compiler(empty, _target_machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        weakref.finalize(self, _unused.append, self._engine).atexit = False

    def function(self, name: str, arguments: int) -> Callable[..., int]:
        """Return a function of so many 64-bit numbers that gives one; it runs without the interpreter lock."""
        address = self._engine.get_function_address(name)
        if not address:
            message = f"The compiled code has no function {name!r}."
            raise InternalError(message)
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_uint64] * arguments)
        made = kind(address)
        made.library = self  # type: ignore[attr-defined]
        called: Callable[..., int] = made
        return called


def compile_module(key: str, text: Callable[[], str]) -> Library:
    """Return the library of an IR module, from the cache of object code if it is there.

    Args:
        key: the identity of the module.
        text: gives its IR; called only when the module has to be compiled.

    Raises:
        UserError: INSYNC_CODE names no kind of code.
    """
    full_key = f"{key}-{machine_key()}-{wanted()}"
    code = load_object(full_key)
    if code is None:
        code = object_code(text())
        save_object(full_key, code)
    return Library(code)


def wanted() -> Code:
    """Return the kind of code that the environment asks for in INSYNC_CODE: fast where it says nothing.

    Raises:
        UserError: it asks for something else.
    """
    name = os.environ.get("INSYNC_CODE") or Code.FAST
    try:
        return Code(name)
    except ValueError:
        kinds = " or ".join(repr(kind.value) for kind in Code)
        message = f"INSYNC_CODE is {name!r}: it chooses the kind of machine code; set it to {kinds}, or to nothing."
        raise UserError(message) from None


def object_code(text: str) -> bytes:
    """Return the object code of an IR module for this machine; of which kind the environment says, see `wanted`.

    Raises:
        InternalError: LLVM does not accept it.
    """
    code = wanted()
    machine = _target_machine(code)
    try:
        module = llvm.parse_assembly(text)
    except RuntimeError as error:
        message = f"LLVM does not accept the generated code: {error}"
        raise InternalError(message) from error
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    # The standard -O2 pipeline takes four times as long and makes no faster code: what is generated repeats no
    # instruction, has no calls worth a heuristic, and is already as wide as the registers. NewGVN, of use while
    # lowering did repeat some, fails on an assertion of LLVM's own for the loops of the store.
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    if code is Code.FAST:
        passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2)))
    made: bytes = machine.emit_object(module)
    return made


def _target_machine(code: Code = Code.FAST) -> llvm.TargetMachine:
    """A new one each time: an engine takes possession of the one that it is given."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    name, features = _host()
    # Without optimisation LLVM chooses instructions one by one, which is most of what it saves.
    opt = 2 if code is Code.FAST else 0
    return target.create_target_machine(cpu=name, features=features, opt=opt, codemodel="jitdefault", jit=True)


@cache
def _host() -> tuple[str, str]:
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # not known for every system: LLVM then goes by the name alone
        features = ""
    return llvm.get_host_cpu_name(), features


def llvm_version() -> str:
    """Return the version of LLVM, such as 20.1.8."""
    return ".".join(map(str, llvm.llvm_version_info))


@cache
def machine_key() -> str:
    """Return what makes object code of one machine and compiler unfit for another, as a short key."""
    parts: Sequence[object] = (llvmlite.__version__, llvm.llvm_version_info, llvm.get_process_triple(), _host())
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


# The identity of what is compiled: equal structure gives an equal key, in every process.
