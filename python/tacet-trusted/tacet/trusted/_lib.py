# SPDX-License-Identifier: Apache-2.0
"""libtacet-trusted, loaded."""
from __future__ import annotations

from tacet._native import Native
from tacet.trusted._trusted import ffi as ffi
from tacet.trusted._trusted import lib as lib

native = Native(ffi, lib)
