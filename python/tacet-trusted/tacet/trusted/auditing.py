# SPDX-License-Identifier: Apache-2.0
"""Audits: attacks on a mechanism that say, with confidence, how much it leaks at least."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from tacet.display import table
from tacet.errors import NotFound
from tacet.trusted._lib import ffi, lib, native
from tacet.trusted.outsourced import _Watch


@dataclass(frozen=True)
class Audit:
    """What an attack found: `eps_lower` is a lower bound on eps with the stated confidence.

    >>> audit("gaussian", eps=1).eps_lower                  # doctest: +SKIP
    0.93
    """

    target: str
    summary: str
    eps: float
    delta: float
    eps_lower: float
    confidence: float
    violated: bool
    control: bool

    def _repr_html_(self) -> str:
        rows = [("what", self.summary), ("claimed", f"eps = {self.eps:g}, delta = {self.delta:g}"),
                ("found", f"eps is at least {self.eps_lower:.3g} (confidence {self.confidence:g})"),
                ("verdict", "VIOLATED" if self.violated else "the claim stands")]  # fmt: skip
        return table([f"audit of {self.target}", ""], rows)


def audit_targets() -> dict[str, str]:
    """Every mechanism that can be attacked, with what is run."""
    found: dict[str, str] = {}
    while (target := lib.tacet_audit_target_at(len(found))) != ffi.NULL:
        found[native.text(target.name)] = native.text(target.summary)
    return found


def audit(
    target: str,
    *,
    eps: float = 1.0,
    delta: float = 1e-5,
    runs: int = 100_000,
    seed: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Audit:
    """Attacks a mechanism at a claimed (eps, delta), on made-up neighbours.

    >>> audit("gaussian", eps=1, delta=1e-5).violated       # doctest: +SKIP
    False
    >>> audit("control:half-noise", eps=1).violated         # doctest: +SKIP
    True
    """
    found = lib.tacet_audit_find(target.encode())
    if found == ffi.NULL:
        raise NotFound(f"there is no target '{target}': {', '.join(audit_targets())}")
    watch = _Watch(progress)
    user = ffi.new_handle(watch)
    settings = ffi.new("tacet_audit_settings *")
    lib.tacet_audit_defaults(settings)
    settings.runs, settings.seeded, settings.seed = runs, seed is not None, seed or 0
    settings.progress, settings.user, settings.stop = lib.tacet_python_progress, user, watch.stop
    claim, out = ffi.new("tacet_audit_claim *", [eps, delta]), ffi.new("tacet_audit_result *")
    watch.run(lambda: native.call(lib.tacet_audit_run, out, found, claim, settings))
    return Audit(
        target, native.text(found.summary), eps, out.claimed_delta, out.eps_lower, out.confidence, out.violated,
        found.control,
    )  # fmt: skip
