# SPDX-License-Identifier: Apache-2.0
"""Builds tacet._open, which is linked to libtacet alone; everything else is in pyproject.toml."""
from setuptools import setup

setup(cffi_modules=["cffi_open.py:ffi"], options={"bdist_wheel": {"py_limited_api": "cp311"}})
