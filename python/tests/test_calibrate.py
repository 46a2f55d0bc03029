# SPDX-License-Identifier: Apache-2.0
"""Calibration: the numbers of the C library, checked against the definition, and its errors as exceptions."""
from __future__ import annotations

import math

import pytest

import tacet


def tail(x: float) -> float:
    return 0.5 * math.erfc(x / math.sqrt(2))


def delta_of_gaussian(sigma: float, eps: float) -> float:
    """Balle, Wang 2018, Theorem 8, for sensitivity 1."""
    return tail(-0.5 / sigma + eps * sigma) - math.exp(eps) * tail(0.5 / sigma + eps * sigma)


@pytest.mark.parametrize(("eps", "delta"), [(0.1, 1e-6), (1, 1e-5), (3, 1e-5), (8, 1e-9)])
def test_the_gaussian_noise_is_as_small_as_its_definition_allows(eps: float, delta: float) -> None:
    sigma = float(tacet.calibrate.gaussian(eps=eps, delta=delta))
    assert delta_of_gaussian(sigma, eps) <= delta * (1 + 1e-6)
    assert delta_of_gaussian(sigma * 0.999, eps) > delta


def test_it_prints_sigma() -> None:
    assert "sigma = 3.73064" in str(tacet.calibrate.gaussian(eps=1, delta=1e-5))
    for k in range(1, 60):  # what is printed is itself private
        noise = tacet.calibrate.gaussian(eps=k / 7, delta=1e-6)
        shown = dict(word.split(" = ") for word in str(noise).split(", ") if " = " in word)
        assert float(shown["sigma"]) >= noise.sigma and float(shown["for eps"]) >= noise.eps


def test_euclidean_noise_with_a_delta_is_smaller_than_pure_noise() -> None:
    assert tacet.calibrate.l2(eps=1, delta=1e-5, dims=3).scale < 1
    assert tacet.calibrate.laplace(eps=1).scale == pytest.approx(1)


def test_two_releases_cost_more_than_one_and_less_than_twice() -> None:
    sigma = float(tacet.calibrate.gaussian(eps=1, delta=1e-5))
    assert 1 < tacet.calibrate.compose([sigma, sigma], delta=1e-5) < 2


@pytest.mark.parametrize("eps", [-1, 0, float("nan"), float("inf")])
def test_an_eps_that_is_none_is_refused_by_name(eps: float) -> None:
    with pytest.raises(tacet.InvalidValue) as caught:
        tacet.calibrate.gaussian(eps=eps, delta=1e-5)
    assert caught.value.status == "INVALID"
    assert "eps" in caught.value.text
    assert isinstance(caught.value, (tacet.Error, ValueError))


def test_a_text_is_no_number() -> None:
    with pytest.raises(TypeError):
        tacet.calibrate.gaussian(eps="1", delta=1e-5)  # type: ignore[arg-type]
