"""libtacet-trusted, loaded."""
from __future__ import annotations

from tacet._native import Native
from tacet.trusted._trusted import ffi, lib  # type: ignore[import-not-found]

native = Native(ffi, lib)
