# SPDX-License-Identifier: Apache-2.0
"""How much noise a privacy budget needs, and how much budget a noise spends.

Every result errs on the private side: scales and spent budgets are rounded up, and the number you get is one whose
guarantee was checked with all rounding errors counted.

>>> import tacet
>>> noise = tacet.calibrate.gaussian(eps=1, delta=1e-5)
>>> round(noise.sigma, 3)
3.731
>>> tacet.calibrate.eps_of(sigma=noise.sigma, delta=1e-5) <= 1.0000001
True
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from tacet._lib import ffi, lib, native
from tacet.display import table, up


@dataclass(frozen=True)
class Noise:
    """Noise that gives a stated guarantee: `sigma` is the standard deviation of one coordinate, `scale` the law's own
    parameter. `float(noise)` is sigma."""

    law: str
    sigma: float
    scale: float
    eps: float
    delta: float
    sensitivity: float

    def __float__(self) -> float:
        return self.sigma

    def __str__(self) -> str:
        return (
            f"{self.law} noise, sigma = {up(self.sigma)}, for eps = {up(self.eps)}, delta = {up(self.delta)}, "
            f"sensitivity {self.sensitivity:g}"
        )

    def _repr_html_(self) -> str:
        return table(["noise", self.law], [("sigma", up(self.sigma)), ("eps", up(self.eps)), ("delta", up(self.delta))])


def gaussian(eps: float, delta: float, sensitivity: float = 1.0) -> Noise:
    """The smallest Gaussian noise that is (eps, delta)-DP (Balle, Wang 2018)."""
    sigma = native.number(lib.tacet_calibrate_gaussian, eps, delta, sensitivity)
    return Noise("gaussian", sigma, sigma, eps, delta, sensitivity)


def laplace(eps: float, sensitivity: float = 1.0) -> Noise:
    """Laplace noise of one number: pure eps. Its sensitivity is in the L1 norm."""
    scale = native.number(lib.tacet_calibrate_laplace, eps, sensitivity)
    return Noise("laplace", scale * 2**0.5, scale, eps, 0.0, sensitivity)


def l2(eps: float, delta: float, dims: int, sensitivity: float = 1.0) -> Noise:
    """Euclidean noise of `dims` numbers, density proportional to exp(-|v|/scale), for (eps, delta)."""
    out = ffi.new("tacet_l2 *")
    native.call(lib.tacet_calibrate_l2, out, eps, delta, sensitivity, dims)
    return Noise("l2", out.rms, out.scale, eps, delta, sensitivity)


def eps_of(sigma: float, delta: float, sensitivity: float = 1.0) -> float:
    """The smallest eps at which Gaussian noise of this sigma is (eps, delta)-DP."""
    return native.number(lib.tacet_gaussian_eps, sigma, delta, sensitivity)


def delta_of(sigma: float, eps: float, sensitivity: float = 1.0) -> float:
    """The smallest delta at which Gaussian noise of this sigma is (eps, delta)-DP."""
    return native.number(lib.tacet_gaussian_delta, sigma, eps, sensitivity)


def mu_of(eps: float, delta: float) -> float:
    """The largest mu of Gaussian DP that (eps, delta) allows."""
    return native.number(lib.tacet_gdp_mu, eps, delta)


def compose(sigmas: Sequence[float], delta: float, sensitivities: Sequence[float] | None = None) -> float:
    """eps, at this delta, of several Gaussian releases of the same records together."""
    if sensitivities is None:
        sensitivities = [1.0] * len(sigmas)
    if len(sensitivities) != len(sigmas):
        raise ValueError("there must be as many sensitivities as sigmas")
    mu = native.number(
        lib.tacet_gdp_compose, ffi.new("double[]", list(sigmas)), ffi.new("double[]", list(sensitivities)), len(sigmas)
    )
    return native.number(lib.tacet_gdp_eps, mu, delta)
