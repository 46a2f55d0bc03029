# SPDX-License-Identifier: Apache-2.0
"""The modeler of the outsourced model: searches a curator's release for the best row, one question at a time."""
from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from tacet._lib import ffi, lib, native
from tacet._native import Handle
from tacet.display import guarantee, table
from tacet.errors import InvalidValue, StateError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


class Manifest:
    """What a release says of itself: mechanism, guarantee, noise, and what is protected, in words.

    >>> Manifest.load("release/manifest.json").eps          # doctest: +SKIP
    3.0
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.fields: dict[str, Any] = json.loads(text)
        encoded = text.encode()
        raw = ffi.new("tacet_manifest *")
        native.call(lib.tacet_manifest_decode, raw, encoded, len(encoded))
        try:
            self.rows: int = raw.rows
            self.queries: int = raw.queries
            self.eps: float = raw.eps
            self.person = (raw.person_rows, raw.person_eps, raw.person_delta) if raw.person_rows else None
            self.delta: float = raw.delta
            self.sigma: float = raw.sigma
            self.private: bool = raw.is_private
            self.eps_any_change: float = raw.eps_at[3]
            self.claim = native.take(lib.tacet_manifest_claim(raw))
            self.protects = native.take(lib.tacet_manifest_protects(raw))
            self.noise = native.take(lib.tacet_manifest_noise(raw))
            self.uncovered = native.take(lib.tacet_manifest_uncovered(raw))
        finally:
            lib.tacet_manifest_clear(raw)

    @classmethod
    def load(cls, path: str | Path) -> Manifest:
        return cls(Path(path).read_text(encoding="utf-8"))

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("mechanism", self.fields["mechanism"]),
            ("guarantee", f"{guarantee(self)}. {self.claim}" if self.private else "NOT DIFFERENTIALLY PRIVATE"),
            ("rows", str(self.rows)),
            ("questions", str(self.queries)),
            ("noise", self.noise),
            ("protects", self.protects),
            ("does not cover", self.uncovered),
        ]  # fmt: skip

    def __repr__(self) -> str:
        said = f"{guarantee(self)}. {self.claim}" if self.private else "NOT DIFFERENTIALLY PRIVATE"
        return f"Manifest({self.rows} rows, {said})"

    def _repr_html_(self) -> str:
        return table(["release", ""], self._facts())


class Best:
    """The best row that was measured, and what the model would try or recommend.

    >>> run.best.row, run.best.value                        # doctest: +SKIP
    (1655, 29.91)
    """

    def __init__(self, raw: Any) -> None:
        self.row: int = raw.best_row
        self.value: float = raw.best_value
        self.recommended_row: int | None = raw.recommended_row if raw.predicted else None
        self.recommended_mean: float | None = raw.recommended_mean if raw.predicted else None
        self.recommended_sd: float | None = raw.recommended_sd if raw.predicted else None
        self.informs = native.text(lib.tacet_modeler_words(raw.knowledge.log_bayes_factor)) if raw.known else None

    def __repr__(self) -> str:
        return f"Best(row={self.row}, value={self.value:g})"


class Chance:
    """What random rows would have done, told from those that were asked at random and true whatever the law of the
    values: the best of `queries` random rows is as good as `likely` with a probability of `likely_share`. `better` of the
    `chosen` rows are better than all random ones; random rows do that with a probability of at most `by_luck`."""

    def __init__(self, raw: Any) -> None:
        self.queries: int = raw.queries
        self.likely: float = raw.likely
        self.likely_share: float = raw.likely_share
        self.chosen: int = raw.chosen
        self.better: int = raw.better
        self.by_luck: float = raw.by_luck

    def __repr__(self) -> str:
        return f"Chance({self.queries} random rows reach {self.likely:g} in {100 * self.likely_share:.0f} %, luck {self.by_luck:.2g})"


class _Run:
    """What the callbacks of one search share. An exception inside one of them, or Ctrl-C, ends the search after the
    question in hand and is raised at its end."""

    def __init__(self) -> None:
        self.progress: Callable[[int, int], object] | None = None
        self.failure: BaseException | None = None


def _keep(kind: Any, error: BaseException, trace: Any) -> None:
    """Keeps what a callback raised, wherever in it."""
    while trace is not None:
        user = trace.tb_frame.f_locals.get("user")
        if user is not None:
            ffi.from_handle(user).failure = error
            return
        trace = trace.tb_next


@ffi.def_extern(error=True, onerror=_keep)  # type: ignore[misc]
def tacet_python_stop(user: Any) -> bool:
    return ffi.from_handle(user).failure is not None


@ffi.def_extern(onerror=_keep)  # type: ignore[misc]
def tacet_python_progress(done: int, total: int, best_row: int, best_value: float, user: Any) -> None:
    run: _Run = ffi.from_handle(user)
    if run.progress is not None and run.failure is None:
        run.progress(done, total)


class Modeler(Handle):
    """A search over a curator's release. With a `state` folder it is kept, and goes on where it was.

    >>> run = Modeler("https://localhost:8443", keys="modeler/", state="run1")       # doctest: +SKIP
    >>> run.search(queries=40)                                                        # doctest: +SKIP
    >>> run.best                                                                      # doctest: +SKIP
    Best(row=1204, value=0.93)
    """

    def __init__(
        self,
        url: str,
        *,
        keys: str | Path,
        state: str | Path,
        certificate: bool = False,
        patience: float = 60.0,
        poll: float = 0.5,
    ) -> None:
        self._texts = [ffi.new("char[]", str(text).encode()) for text in (url, keys)]
        self._settings = ffi.new("tacet_remote_settings *")
        lib.tacet_remote_defaults(self._settings)
        self._run = _Run()
        settings = self._settings
        settings.url, settings.keys = self._texts
        settings.use_certificate, settings.patience, settings.poll = certificate, patience, poll
        self._run_handle = ffi.new_handle(self._run)
        settings.stop, settings.user = lib.tacet_python_stop, self._run_handle
        out = ffi.new("tacet_remote **")
        native.call(lib.tacet_remote_open, out, settings)
        super().__init__(out[0], lib.tacet_remote_close, "modeler")
        self.url = url
        self.state = Path(state)
        raw, text = ffi.new("tacet_manifest *"), ffi.new("char **")
        native.call(lib.tacet_remote_manifest, out[0], raw, text)
        self._raw_manifest = ffi.gc(raw, lib.tacet_manifest_clear)
        self._manifest_text = native.take(text[0])
        self.manifest = Manifest(self._manifest_text)
        self._rows: Any = None
        self.best: Best | None = None
        self.rows: list[int] = []
        self.values: list[float] = []
        self.failed: list[int] = []
        self.end: str | None = None
        self.chance: Chance | None = None
        self.minimize = False

    def release(self) -> NDArray[np.float64]:
        """The released rows, one a row, in the release's coordinates."""
        import numpy as np

        self._fetch()
        size = self.manifest.rows * self._raw_manifest.dims
        return np.frombuffer(ffi.buffer(self._rows, size * 8), dtype=np.float64).reshape(-1, self._raw_manifest.dims)

    def _fetch(self) -> None:
        if self._rows is None:
            self.state.mkdir(parents=True, exist_ok=True)
            out = ffi.new("double **")
            native.call(lib.tacet_remote_release, self._pointer, out, self._raw_manifest, str(self.state).encode())
            self._rows = ffi.gc(out[0], lib.free)

    def search(
        self,
        queries: int = 40,
        *,
        minimize: bool = False,
        seed: int = 1,
        progress: Callable[[int, int], object] | None = None,
    ) -> Best:
        """Asks up to `queries` rows in all, one after the other. Ctrl-C ends it after the question in hand: what was
        measured is kept, and `search` again goes on. `progress(done, total)` is called after each answer."""
        if queries < 1:
            raise InvalidValue("a search needs at least one query")
        self._fetch()
        run = self._run
        run.progress, run.failure = progress, None
        settings = ffi.new("tacet_session_settings *")
        lib.tacet_session_defaults(settings)
        state = ffi.new("char[]", str(self.state).encode())
        settings.state = state
        settings.minimize, settings.queries, settings.seed = minimize, queries, seed
        settings.progress, settings.stop = lib.tacet_python_progress, lib.tacet_python_stop
        settings.user = self._run_handle
        asker = ffi.new("tacet_session_asker *")
        asker.ask = ffi.cast(
            "tacet_status (*)(void *, double *, const char *, size_t, tacet_error *)",
            ffi.addressof(lib, "tacet_remote_query"),
        )
        asker.user = self._pointer
        result = ffi.new("tacet_session_result *")
        try:
            native.call(
                lib.tacet_session_run, result, settings, asker, self._raw_manifest, self._manifest_text.encode(),
                self._rows,
            )  # fmt: skip
        except Exception:
            if run.failure is not None:
                raise run.failure from None
            raise
        try:
            self._take(result, minimize)
        finally:
            lib.tacet_session_result_clear(result)
        if run.failure is not None:
            raise run.failure
        assert self.best is not None
        return self.best

    def _take(self, raw: Any, minimize: bool) -> None:
        self.rows = [raw.rows[i] for i in range(raw.count)]
        self.values = [raw.values[i] for i in range(raw.count)]
        self.failed = [raw.failed[i] for i in range(raw.failed_count)]
        self.best = Best(raw)
        self.end = native.text(lib.tacet_session_end_name(raw.end))
        self.minimize = minimize
        self.chance = Chance(raw.chance) if raw.compared else None
        self.method = native.text(raw.method)

    def account(self) -> dict[str, Any]:
        """The curator's account of what was spent."""
        pointer = lib.tacet_remote_ledger(self._pointer)
        if pointer == ffi.NULL:
            raise StateError("the curator's account cannot be had now")
        return dict(json.loads(native.take(pointer)))

    def trials_dataframe(self) -> pd.DataFrame:
        """What was measured, in order: row and value."""
        import pandas as pd

        return pd.DataFrame({"row": self.rows, "value": self.values})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Values, the best so far, and what the best of as many random rows reaches with a probability of 95 %."""
        from tacet import plots

        return plots.progress(self.values, minimize=self.minimize, ax=ax, chance=self.chance.likely if self.chance else None)

    def __repr__(self) -> str:
        return f"Modeler({self.url!r}, {len(self.values)} measured, best {self.best})"

    def _repr_html_(self) -> str:
        rows = [("curator", self.url), ("measured", str(len(self.values))), ("best", repr(self.best))]
        return table(["search", ""], rows) + self.manifest._repr_html_()
