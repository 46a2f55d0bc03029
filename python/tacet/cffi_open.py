# SPDX-License-Identifier: Apache-2.0
"""The C functions of libtacet that the package `tacet` calls, as CFFI's API mode wants them.

Declarations are those of include/tacet, narrowed to what is used: "..." leaves a struct's other fields to the
compiler, which checks every line here against the real headers. Nothing of the gate and nothing trusted is in
libtacet, so nothing of it can be called from here.
"""
from pathlib import Path

from cffi import FFI

from native import located  # setup.py makes it importable

ffi = FFI()
ffi.cdef((Path(__file__).resolve().parent / "open.cdef").read_text())
ffi.set_source("tacet._open", "#include <stdlib.h>\n#include <tacet/open.h>\n", **located("tacet"))
