"""tacet.trusted: for whoever holds the records. Linked to libtacet-trusted; everything here may see private data."""
from __future__ import annotations

from tacet.trusted._lib import native as _native

__version__: str = _native.text(_native.lib.tacet_version())
