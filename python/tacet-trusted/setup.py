# SPDX-License-Identifier: Apache-2.0
"""Builds tacet.trusted._trusted, which is linked to libtacet-trusted; everything else is in pyproject.toml."""
import sys
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # native.py: beside this file in a source archive, one folder up in a clone
from native import beside  # noqa: E402

setup(
    cffi_modules=["cffi_trusted.py:ffi"],
    cmdclass={"build_ext": beside("tacet-trusted", "tacet.trusted")},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
