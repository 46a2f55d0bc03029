# SPDX-License-Identifier: Apache-2.0
"""Studies in this process: ask and tell on a store, without a server and without a token."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Mapping, Sequence

from tacet._native import Handle
from tacet.errors import InvalidValue
from tacet.space import Space
from tacet.study import BaseStudy
from tacet.trusted._lib import ffi, lib, native


class Study(BaseStudy, Handle):
    """A study on a store: the same log, ledger and locks as a server's. Several threads may use one; any number of
    processes, servers among them, may work on one store.

    >>> study = Study.create("studies/", name="dose", space=Space(mg=Real(5, 200)), eps=1, delta=1e-6)   # doctest: +SKIP
    >>> s = study.suggest()                                                                               # doctest: +SKIP
    >>> s.observe(0.7)                                                                                    # doctest: +SKIP
    """

    def __init__(self, store: str | Path, name: str) -> None:
        out = ffi.new("tacet_study **")
        native.call(lib.tacet_study_open, out, str(store).encode(), name.encode())
        Handle.__init__(self, out[0], lib.tacet_study_close, "study")
        self.name = name
        self._begin(self.status())

    @classmethod
    def create(
        cls,
        store: str | Path,
        definition: Mapping[str, Any] | None = None,
        *,
        name: str = "study",
        space: Space | None = None,
        context: Space | None = None,
        eps: float = 1.0,
        delta: float = 0.0,
        policy: str | None = None,
        reward: tuple[float, float] = (0.0, 1.0),
        minimize: bool = False,
        rounds: int = 10000,
        candidates: int | None = None,
        **options: Any,
    ) -> Study:
        """Adds a study to a store, made when missing, and opens it; again with the same definition is harmless.

        A `definition` is that of docs/API.md. Otherwise it is made: over a `space` of points, of which the study
        proposes the best among `candidates` (default: the program's); with a `context` space each round brings what is known of it. `options` are those of the
        definition (`open_most`, `person_rounds`, `ticket_seconds`, …)."""
        if definition is None:
            if space is None:
                raise InvalidValue("a study needs a space, or a definition")
            domain: dict[str, Any] = {"space": json.loads(space.to_json())}
            if candidates is not None:
                domain["candidates"] = candidates
            if context is not None:
                domain["context"] = {"space": json.loads(context.to_json())}
            budget = {"eps": eps} if delta == 0 else {"eps": eps, "delta": delta}
            definition = {
                "name": name, "trust": "central", "policy": policy or ("fixed" if context is None else "contextual"),
                "direction": "minimize" if minimize else "maximize", "rounds": rounds, "budget": budget,
                "domain": domain, "prior": {"reward": list(reward)}, "options": options,
            }  # fmt: skip
        text = json.dumps(definition).encode()
        called = native.returned(lib.tacet_study_create, str(store).encode(), text, len(text))
        return cls(store, called)

    def _text(self, kind: int) -> dict[str, Any]:
        out = ffi.new("char **")
        native.call(lib.tacet_study_text, self._pointer, out, kind)
        return dict(json.loads(native.take(out[0])))

    def status(self) -> dict[str, Any]:
        return self._text(lib.TACET_STUDY_STATUS)

    def account(self) -> dict[str, Any]:
        return self._text(lib.TACET_STUDY_LEDGER)

    def _release(self) -> dict[str, Any]:
        return self._text(lib.TACET_STUDY_RELEASE)

    def _model(self) -> dict[str, Any]:
        return self._text(lib.TACET_STUDY_MODEL)

    def _events(self, after: int) -> dict[str, Any]:
        out = ffi.new("char **")
        native.call(lib.tacet_study_events, self._pointer, out, after)
        return dict(json.loads(native.take(out[0])))

    def _ask(self, round: dict[str, Any]) -> dict[str, Any]:
        raw = ffi.new("tacet_study_round *")
        out = ffi.new("tacet_study_suggestion *")
        kept: list[Any] = []
        context = round.get("context")
        if isinstance(context, dict):
            kept.append(ffi.new("char[]", json.dumps(context).encode()))
            raw.named = kept[-1]
        elif context is not None:
            kept.append(_numbers(context))
            raw.context, raw.context_dim = kept[-1], len(context)
        arms = round.get("decision_set")
        if arms is not None:
            kept.append(_numbers([value for arm in arms for value in arm]))
            raw.points, raw.d, raw.count = kept[-1], len(arms[0]), len(arms)
        for name in ("person", "key"):
            if name in round:
                kept.append(ffi.new("char[]", str(round[name]).encode()))
                setattr(raw, name, kept[-1])
        native.call(lib.tacet_study_suggest, self._pointer, out, raw)
        answer: dict[str, Any] = {"ticket": native.text(out.ticket), "index": out.index}
        answer["action"] = ffi.unpack(out.action, out.action_size)
        if out.point != ffi.NULL:
            answer["point"] = json.loads(native.take(out.point))
        return answer

    def _observe(self, ticket: str, value: float) -> bool:
        taken = ffi.new("tacet_study_taken *")
        native.call(lib.tacet_study_observe, self._pointer, taken, ticket.encode(), value)
        return bool(taken.clipped)

    def _fail(self, ticket: str) -> None:
        native.call(lib.tacet_study_fail, self._pointer, ffi.NULL, ticket.encode())

    def __reduce__(self) -> Any:
        return Handle.__reduce__(self)


def _numbers(values: Sequence[float]) -> Any:
    return ffi.new("double[]", [float(value) for value in values])
