# SPDX-License-Identifier: Apache-2.0
"""What both packages share around a CFFI library: errors as exceptions, texts, handles that close.

A handle belongs to the process that opened it, is closed once, and cannot be pickled: each of these is refused with
its reason.
"""
from __future__ import annotations

import importlib.util
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Self, TypeVar

from tacet.errors import StateError, of_status

Result = TypeVar("Result")


def load_backend() -> None:
    """What the extensions need of cffi at run time. A wheel brings it along (tools/wheels), for where cffi is not
    installed; an installed one is taken first."""
    if importlib.util.find_spec("_cffi_backend") is not None:
        return
    for path in Path(__file__).parent.glob("_backend/_cffi_backend.*.so"):
        spec = importlib.util.spec_from_file_location("_cffi_backend", path)
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            sys.modules["_cffi_backend"] = module
            spec.loader.exec_module(module)
            return


def in_python(message: str) -> str:
    """The C library's words speak of options, as its programs have them: here they are keyword arguments."""
    message = re.sub(r"'tacet ([a-z ]+?)(?: --[^']*)?'", lambda found: f"the command tacet {found[1]}", message)
    message = message.replace("--i-know-this-is-not-private allows it", "only the command tacet curate makes it")
    return re.sub(r"--([a-z][a-z-]*)", lambda found: found[1].replace("-", "_") + "=", message)


class Native:
    """A CFFI library, with its statuses turned into exceptions."""

    def __init__(self, ffi: Any, lib: Any) -> None:
        self.ffi = ffi
        self.lib = lib

    def call(self, function: Callable[..., int], *arguments: Any) -> None:
        """Calls a function whose last argument is a tacet_error, and raises what it says."""
        error = self.ffi.new("tacet_error *")
        status = function(*arguments, error)
        if status != 0:
            self.fail(status, error)

    def fail(self, status: int, error: Any) -> None:
        name = self.text(self.lib.tacet_status_name(status))
        message = self.text(error.message)
        raise of_status(name, in_python(message) or name.lower())

    def text(self, pointer: Any) -> str:
        """A C string as text; it stays the library's."""
        return bytes(self.ffi.string(pointer)).decode("utf-8", "replace")

    def take(self, pointer: Any) -> str:
        """A C string from malloc as text; it is freed."""
        try:
            return self.text(pointer)
        finally:
            self.lib.free(pointer)

    def number(self, function: Callable[..., int], *arguments: Any) -> float:
        """Calls a function that gives one number by its first argument."""
        out = self.ffi.new("double *")
        self.call(function, out, *arguments)
        return float(out[0])

    def returned(self, function: Callable[..., int], *arguments: Any) -> str:
        """Calls a function that gives a text from malloc by its first argument."""
        out = self.ffi.new("char **")
        self.call(function, out, *arguments)
        return self.take(out[0])

    def returned_by(self, function: Callable[..., int], handle: Any, *arguments: Any) -> str:
        """The same, of a function whose first argument is a handle."""
        out = self.ffi.new("char **")
        self.call(function, handle, out, *arguments)
        return self.take(out[0])


class Handle:
    """A C object: closed once, used by the process that opened it."""

    def __init__(self, pointer: Any, free: Callable[[Any], None], name: str) -> None:
        self._held = pointer
        self._free = free
        self._pid = os.getpid()
        self._name = name

    @property
    def _pointer(self) -> Any:
        if self._held is None:
            raise StateError(f"this {self._name} is closed")
        if os.getpid() != self._pid:
            raise StateError(f"this {self._name} was opened before the fork: open another one in this process")
        return self._held

    @property
    def closed(self) -> bool:
        return self._held is None

    def close(self) -> None:
        """Gives back what it holds. Closing again does nothing."""
        held, self._held = getattr(self, "_held", None), None
        if held is not None and os.getpid() == self._pid:
            self._free(held)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(f"a {self._name} cannot be pickled: it is open in this process; open it again where it is needed")


def interruptible(call: Callable[[], Result], stop: Any) -> Result:
    """Runs a long C call beside the main thread, so that Ctrl-C is noticed: `stop`, a `bool *` that the call looks at,
    is set then, the call is waited for, and KeyboardInterrupt goes on its way."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    result: list[Result] = []
    failure: list[BaseException] = []
    done = threading.Event()  # not join(): one that Ctrl-C interrupts takes a running thread for ended (3.11)

    def work() -> None:
        try:
            result.append(call())
        except BaseException as error:  # handed to the caller's thread
            failure.append(error)
        finally:
            done.set()

    threading.Thread(target=work, name="tacet", daemon=True).start()
    interrupted: KeyboardInterrupt | None = None
    while not done.is_set():
        try:
            done.wait(0.2)
        except KeyboardInterrupt as error:
            interrupted = error
            stop[0] = True
    if interrupted is not None:
        raise interrupted
    if failure:
        raise failure[0]
    return result[0]
