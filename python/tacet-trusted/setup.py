# SPDX-License-Identifier: Apache-2.0
"""Builds tacet.trusted._trusted, which is linked to libtacet-trusted; everything else is in pyproject.toml."""
from setuptools import setup

setup(cffi_modules=["cffi_trusted.py:ffi"], options={"bdist_wheel": {"py_limited_api": "cp311"}})
