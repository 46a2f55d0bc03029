# SPDX-License-Identifier: Apache-2.0
"""A person's device in the local model: a reward leaves it clipped, randomised, and once for each ticket."""
from __future__ import annotations

import base64
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacet._native import Handle
from tacet.ledger import Ledger
from tacet.errors import Conflict, InvalidValue, Unsupported
from tacet.study import BaseStudy, Suggestion, _arms, _by_coordinate
from tacet.trusted._lib import ffi, lib, native
from tacet.trusted.outsourced import randomizer


class Device(Handle):
    """Randomises rewards before they leave, and remembers every report in its ledger: the same ticket gives the same
    bits, whoever asks again.

    >>> device = Device("device.ledger.db", eps=1, range=(0, 1), budget_eps=10)         # doctest: +SKIP
    >>> device.report("ticket-1", 0.7)                                               # doctest: +SKIP
    2.16
    >>> device.observe(study.suggest(), 0.7)                                         # doctest: +SKIP
    """

    def __init__(
        self,
        ledger: str | Path,
        *,
        eps: float,
        range: tuple[float, float] = (0.0, 1.0),
        randomizer_name: str = "hybrid",
        budget_eps: float | None = None,
    ) -> None:
        """`eps` is that of one report, `budget_eps` what all reports of this device may cost together (one report's, if
        left out)."""
        self.eps, self.range, self.randomizer = eps, range, randomizer_name
        settings = ffi.new("tacet_ledger_settings *")
        lib.tacet_ledger_settings_defaults(settings)
        settings.accounting, settings.delta = lib.TACET_ACCOUNTING_BASIC, 0.0
        settings.eps = (eps if budget_eps is None else budget_eps) * (1 + 1e-9)
        settings.use_stored = budget_eps is None and Path(ledger).exists()
        book = ffi.new("tacet_ledger **")
        self._ldp = ffi.new("tacet_ldp *")
        randomizer(self._ldp, randomizer_name, eps, range)
        native.call(lib.tacet_device_ledger_open, book, str(ledger).encode(), settings)
        self._book = book[0]
        self._to_whom = ffi.new("char[]", b"the collector")
        self._memory, self._store = ffi.new("tacet_device_ledger *"), ffi.new("tacet_device_store *")
        lib.tacet_device_ledger_init(self._memory, self._store, self._book, self._to_whom)
        out = ffi.new("tacet_device **")
        try:
            native.call(lib.tacet_device_open, out, self._ldp, self._store)
        except Exception:
            lib.tacet_ledger_close(self._book)
            raise
        self.ledger = Path(ledger)
        self.clipped = False
        super().__init__(out[0], self._shut, "device")

    def _shut(self, pointer: Any) -> None:
        lib.tacet_device_close(pointer)
        lib.tacet_ledger_close(self._book)

    def report(self, ticket: str, reward: float) -> float:
        """What may be sent instead of the reward. The ticket is charged before anything is drawn; asked again, it gives
        the same number."""
        out = ffi.new("tacet_device_answer *")
        native.call(lib.tacet_device_report, self._pointer, out, ticket.encode(), float(reward))
        self.clipped = bool(out.clipped)
        return float(out.report)

    @staticmethod
    def choose(weights: Sequence[int]) -> int:
        """The arm to play by public weights (`GET …/weights`) and a coin of this device: nobody is asked or told."""
        out = ffi.new("size_t *")
        native.call(lib.tacet_device_choose, out, [int(w) for w in weights], len(weights))
        return int(out[0])

    def observe(self, suggestion: Suggestion, reward: float) -> float:
        """Randomises the reward of a local study's suggestion and reports it; gives what was sent."""
        self.agree(suggestion._study)
        report = self.report(suggestion.ticket, reward)
        suggestion._tell(report, "observed", lambda: suggestion._study._observe(suggestion.ticket, report))
        return report

    def failed(self, suggestion: Suggestion) -> float:
        """The evaluation failed. What is sent is noise about the middle of the range, so that nothing shows."""
        return self.observe(suggestion, (self.range[0] + self.range[1]) / 2)

    def agree(self, study: BaseStudy) -> None:
        """Refuses a study that asks for reports of another randomiser: one that asks for more does not get it."""
        if study.trust != "local":
            raise Conflict(f"study {study.name} is not of the local model: it would take bare rewards")
        definition = study.definition
        asked = (definition["options"]["randomizer"], definition["budget"]["eps"], *definition["prior"]["reward"])
        if asked != (self.randomizer, self.eps, *self.range):
            raise Conflict(
                f"study {study.name} asks for {asked[0]} reports of eps {asked[1]} and range {asked[2]} to {asked[3]}; "
                "this device gives what it was opened with, and nothing was sent"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(eps={self.eps:g}, range={self.range})"

    def _repr_html_(self) -> str:
        return Ledger(self.ledger)._repr_html_()


class StatisticsDevice(Device):
    """A device of a local study with policy `statistics`: its arms, the one it plays and the reward all stay here. What
    leaves is the number of one of 256 public directions, with pure eps.

    >>> device = StatisticsDevice("device.ledger.db", eps=1, budget_eps=10)              # doctest: +SKIP
    >>> s = device.suggest(study, arms)                                              # doctest: +SKIP
    >>> device.observe(s, reward(s.params))                                          # doctest: +SKIP
    113.0
    """

    def __init__(
        self,
        ledger: str | Path,
        *,
        eps: float,
        range: tuple[float, float] = (0.0, 1.0),
        budget_eps: float | None = None,
    ) -> None:
        super().__init__(ledger, eps=eps, range=range, randomizer_name="sphere", budget_eps=budget_eps)

    def suggest(self, study: BaseStudy, arms: Any) -> Suggestion:
        """Takes a round of the study and chooses, here, among arms (one a row) by the study's public card."""
        self._pointer  # noqa: B018 - refuses a device that is closed
        self.agree(study)
        rows, card = _arms(arms), _opened(study._model()["model"])
        dims = lib.tacet_statistics_card_dim(card)
        if len(rows[0]) != dims:
            raise InvalidValue(f"an arm of this study has {dims} coordinates")
        points, coin = ffi.new("double[]", [value for row in rows for value in row]), ffi.new("tacet_simrng *")
        lib.tacet_simrng_init(coin, secrets.randbits(64), 0)
        chosen = ffi.new("size_t *")
        native.call(lib.tacet_statistics_card_choose, card, chosen, coin, points, dims, len(rows))
        point = rows[chosen[0]]
        suggestion = study.suggest()
        suggestion.params = _by_coordinate(point)
        suggestion._chosen = (card, point)
        return suggestion

    def report(self, ticket: str, reward: float) -> float:
        raise Unsupported("a report of this device is of a point and its reward: observe(suggestion, reward)")

    def observe(self, suggestion: Suggestion, reward: float) -> float:
        """Reports the chosen arm and its reward together, randomised; gives what was sent."""
        self._pointer  # noqa: B018
        if suggestion._chosen is None:
            raise InvalidValue("this suggestion is of another device: its arm is not known here")
        self.agree(suggestion._study)
        card, point = suggestion._chosen
        out = ffi.new("tacet_device_answer *")
        native.call(
            lib.tacet_statistics_report, card, self._ldp, self._store, out, suggestion.ticket.encode(), suggestion.index,
            ffi.new("double[]", point), float(reward),
        )  # fmt: skip
        self.clipped, report = bool(out.clipped), float(out.report)
        suggestion._tell(report, "observed", lambda: suggestion._study._observe(suggestion.ticket, report))
        return report


def _opened(text: str) -> Any:
    """A card of the service, from its text."""
    content = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    out = ffi.new("tacet_statistics_card **")
    native.call(lib.tacet_statistics_card_open, out, ffi.from_buffer(content), len(content))
    return ffi.gc(out[0], lib.tacet_statistics_card_free)
