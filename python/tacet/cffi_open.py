# SPDX-License-Identifier: Apache-2.0
"""The C functions of libtacet that the package `tacet` calls, as CFFI's API mode wants them.

Declarations are those of include/tacet, narrowed to what is used: "..." leaves a struct's other fields to the
compiler, which checks every line here against the real headers. Nothing of the gate and nothing trusted is in
libtacet, so nothing of it can be called from here.
"""
import sys
from pathlib import Path

from cffi import FFI

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from native import located  # noqa: E402

ffi = FFI()
ffi.cdef((Path(__file__).resolve().parent / "open.cdef").read_text())
ffi.set_source("tacet._open", "#include <stdlib.h>\n#include <tacet/open.h>\n", **located("tacet"))

if __name__ == "__main__":
    ffi.compile(verbose=True)
