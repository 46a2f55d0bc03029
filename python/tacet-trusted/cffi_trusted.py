# SPDX-License-Identifier: Apache-2.0
"""The C functions of libtacet-trusted that the package `tacet.trusted` calls, as CFFI's API mode wants them.

Declarations are those of include/tacet, narrowed to what is used; the compiler checks them against the real headers.
"""
from pathlib import Path

from cffi import FFI

from native import located  # setup.py makes it importable

ffi = FFI()
ffi.cdef((Path(__file__).resolve().parent / "trusted.cdef").read_text())
ffi.set_source(
    "tacet.trusted._trusted", "#include <stdlib.h>\n#include <string.h>\n#include <tacet/trusted.h>\n", **located("tacet-trusted")
)
