# SPDX-License-Identifier: Apache-2.0
"""libtacet, loaded."""
from __future__ import annotations

from tacet._native import Native
from tacet._open import ffi as ffi
from tacet._open import lib as lib

native = Native(ffi, lib)
