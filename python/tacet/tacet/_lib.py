# SPDX-License-Identifier: Apache-2.0
"""libtacet, loaded."""
from __future__ import annotations

from tacet._native import Native, load_backend

load_backend()
from tacet._open import ffi as ffi  # noqa: E402
from tacet._open import lib as lib  # noqa: E402

native = Native(ffi, lib)
