"""Compilation by LLVM: IR text to object code for this machine, and object code to functions in this process."""

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

from insync.runtime.cache import load_object, save_object
from insync.runtime.errors import InternalError, UserError

__all__ = ["Library", "compile_module", "llvm_version", "machine_key", "object_code"]


# The order of instructions before registers are assigned. LLVM's own for x86-64 takes cubic time in blocks of thousands
# of instructions, as an assignment at an index of a large array makes them, and the code is no faster.
llvm.set_option("", "-pre-RA-sched=list-burr")


class Code(StrEnum):
    """How much LLVM optimises; the results of the code are the same.

    FAST is for long searches. QUICK compiles in a tenth of the time and runs a fifth to a half slower, which suits many
    small state spaces of different models, as in the tests of this project.
    """

    FAST = "fast"
    QUICK = "quick"


# Unused engines. LLVM does one thing at a time, so freeing an engine may wait for a compilation in another thread.
# They are freed when the next library is made.
_unused: list[llvm.ExecutionEngine] = []


class Library:
    """The functions of one piece of object code, which stays loaded as long as one of them is referenced."""

    def __init__(self, code: bytes) -> None:
        _unused.clear()
        empty = llvm.parse_assembly("")
        self._engine = llvm.create_mcjit_compiler(empty, _target_machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        weakref.finalize(self, _unused.append, self._engine).atexit = False

    def function(self, name: str, arguments: int) -> Callable[..., int]:
        """Return a function of `arguments` 64-bit numbers with a 64-bit result; it runs without the GIL."""
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
        key: identifies the module.
        text: generates its IR; called only if the module must be compiled.

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
    """Return the kind of code that INSYNC_CODE names in the environment; FAST if it is not set.

    Raises:
        UserError: INSYNC_CODE names no kind of code.
    """
    name = os.environ.get("INSYNC_CODE") or Code.FAST
    try:
        return Code(name)
    except ValueError:
        kinds = " or ".join(repr(kind.value) for kind in Code)
        message = f"INSYNC_CODE is {name!r}: it chooses the kind of machine code; set it to {kinds}, or to nothing."
        raise UserError(message) from None


def object_code(text: str) -> bytes:
    """Return the object code of an IR module for this machine, of the kind that `wanted` returns.

    Raises:
        InternalError: LLVM does not accept the IR.
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
    # The standard -O2 pipeline takes four times as long and makes no faster code: the generated IR repeats no
    # instruction, has no calls worth inlining heuristics, and already uses full vector registers. Without combining
    # instructions searches are some 5 % slower (benchmarks/README.md). NewGVN fails on an assertion of LLVM for the
    # loops of the store.
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    if code is Code.FAST:
        passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2)))
    made: bytes = machine.emit_object(module)
    return made


def _target_machine(code: Code = Code.FAST) -> llvm.TargetMachine:
    """Return a new target machine: an engine takes ownership of its own."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    name, features = _host()
    # Without optimisation LLVM selects instructions one by one, which saves most of the time.
    opt = 2 if code is Code.FAST else 0
    return target.create_target_machine(cpu=name, features=features, opt=opt, codemodel="jitdefault", jit=True)


@cache
def _host() -> tuple[str, str]:
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # not available on every system: LLVM then uses the name alone
        features = ""
    return llvm.get_host_cpu_name(), features


def llvm_version() -> str:
    """Return the version of LLVM, such as 20.1.8."""
    return ".".join(map(str, llvm.llvm_version_info))


@cache
def machine_key() -> str:
    """Return a short key of this machine and compiler: object code fits only where the key is the same."""
    parts: Sequence[object] = (llvmlite.__version__, llvm.llvm_version_info, llvm.get_process_triple(), _host())
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
