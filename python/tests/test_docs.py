# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings that need no data run, and the audit finds out a broken mechanism."""
from __future__ import annotations

import doctest

import pytest

import tacet
import tacet.calibrate
import tacet.errors
import tacet.planning
import tacet.space
from tacet import trusted


@pytest.mark.parametrize("module", [tacet, tacet.calibrate, tacet.errors, tacet.planning, tacet.space])
def test_examples_run(module: object) -> None:
    failed, tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert tried > 0 and failed == 0


@pytest.mark.parametrize("package", [tacet, trusted])
def test_help_of_every_class_has_an_example(package: object) -> None:
    classes = [getattr(package, name) for name in package.__all__ if isinstance(getattr(package, name), type)]  # type: ignore[attr-defined]
    without = [c.__name__ for c in classes if not issubclass(c, Exception) and ">>> " not in (c.__doc__ or "")]
    assert len(classes) > 5 and without == []


@pytest.mark.parametrize("package", [tacet, trusted])
def test_everything_that_a_cell_shows_has_html(package: object) -> None:
    classes = [getattr(package, name) for name in package.__all__ if isinstance(getattr(package, name), type)]  # type: ignore[attr-defined]
    plain = (tacet.space.Column, tacet.Estimate, Exception)  # one line says it all
    assert [c.__name__ for c in classes if not issubclass(c, plain) and not hasattr(c, "_repr_html_")] == []


def test_an_audit_tells_a_sound_mechanism_from_a_broken_one() -> None:
    seen: list[float] = []
    sound = trusted.audit("gaussian", eps=1, runs=4000, seed=1, progress=seen.append)
    assert not sound.violated and sound.eps_lower < 1 and seen
    broken = trusted.audit("control:half-noise", eps=1, runs=20000, seed=1)
    assert broken.violated and broken.control and "VIOLATED" in broken._repr_html_()
    with pytest.raises(tacet.NotFound, match="gaussian"):
        trusted.audit("nosuch")
