# SPDX-License-Identifier: Apache-2.0
"""The modeler of the outsourced model: searches a curator's release for the best row, one question at a time."""
from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Sequence

from tacet._lib import ffi, lib, native
from tacet._native import Handle
from tacet.display import guarantee, table
from tacet.errors import InvalidValue, StateError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


MOVED = " moved by one unit"  # of which eps is: any other change costs more


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

    def frame(self, path: str | Path) -> pd.DataFrame:
        """A release.csv of this manifest: columns by name in their own units, levels as levels, dates as dates. A number
        whose released flag says that it was missing is missing here, and the flag is no column."""
        import numpy as np
        import pandas as pd

        frame = pd.read_csv(path, index_col="row", keep_default_na=False)
        for column in self.fields["space"]["columns"]:
            name, flag = column["name"], column["name"] + " missing"
            if column["kind"] == "date":
                days = np.array(frame[name], dtype="datetime64[D]")  # noise may lead to any year from 1 on
                frame[name] = days.astype("datetime64[s]")
            elif column["kind"] == "category":
                frame[name] = pd.Categorical(frame[name].astype(str), categories=column["levels"])
            if isinstance(column.get("missing"), dict) and column["missing"].get("flag"):
                frame[name] = frame[name].where(frame.pop(flag) == "no")
        return frame

    def _said(self) -> str:
        return f"{guarantee(self, MOVED)}. {self.claim}" if self.private else "NOT DIFFERENTIALLY PRIVATE"

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("mechanism", self.fields["mechanism"]),
            ("guarantee", self._said()),
            ("rows", str(self.rows)),
            ("questions", str(self.queries)),
            ("noise", self.noise),
            ("protects", self.protects),
            ("does not cover", self.uncovered),
        ]  # fmt: skip

    def __repr__(self) -> str:
        return f"Manifest({self.rows} rows, {self._said()})"

    def _repr_html_(self) -> str:
        return table(["release", ""], self._facts())


class Best:
    """The best row that was measured, of which holder, and what the model would try or recommend.

    >>> run.best.row, run.best.value                        # doctest: +SKIP
    (1655, 29.91)
    """

    def __init__(self, raw: Any, place: Callable[[int], tuple[str, int]]) -> None:
        self.holder, self.row = place(raw.best_row)
        self.value: float = raw.best_value
        recommended = place(raw.recommended_row) if raw.predicted else (None, None)
        self.recommended_holder, self.recommended_row = recommended
        self.recommended_mean: float | None = raw.recommended_mean if raw.predicted else None
        self.recommended_sd: float | None = raw.recommended_sd if raw.predicted else None
        self.informs = native.text(lib.tacet_modeler_words(raw.knowledge.log_bayes_factor)) if raw.known else None

    def __repr__(self) -> str:
        return f"Best(row={self.row}, value={self.value:g})"

    def _repr_html_(self) -> str:
        rows = [("best row measured", self.row), ("its value", f"{self.value:g}")]
        if self.recommended_row is not None:
            known = f" ± {self.recommended_sd:.2g}" if self.recommended_sd else ", as measured"
            rows.append(("recommended row", f"{self.recommended_row}: {self.recommended_mean:.3g}{known}"))
        return table(["search", ""], rows)


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


class _Release:
    """What one holder released: its manifest as the library has it, and the rows."""

    def __init__(self, remote: Any, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        raw, text, rows = ffi.new("tacet_manifest *"), ffi.new("char **"), ffi.new("double **")
        native.call(lib.tacet_remote_fetch, remote, raw, text, rows, str(folder).encode())
        self.path = folder / "release.csv"
        self.raw = ffi.gc(raw, lib.tacet_manifest_clear)
        self.rows = ffi.gc(rows[0], lib.free)
        self.manifest = Manifest(native.take(text[0]))
        self.text = ffi.new("char[]", self.manifest.text.encode())

    def array(self) -> NDArray[np.float64]:
        import numpy as np

        size = self.raw.rows * self.raw.dims
        return np.frombuffer(ffi.buffer(self.rows, size * 8), dtype=np.float64).reshape(-1, self.raw.dims)


def _close(remotes: Any) -> None:
    for i in range(len(remotes)):
        lib.tacet_remote_close(remotes[i])


class Modeler(Handle):
    """A search over a curator's release, or over those of several curators as one table. With a `state` folder it is kept,
    and goes on where it was.

    >>> run = Modeler("https://localhost:8443", keys="modeler/", state="run1")       # doctest: +SKIP
    >>> run.search(queries=40)                                                        # doctest: +SKIP
    >>> run.best                                                                      # doctest: +SKIP
    Best(row=1204, value=0.93)

    Several holders of the same columns, each with keys of its own, its own eps and its own ledger. One that is away costs
    its own rows only (`absent` says which, and why), and is asked again from time to time. A person who is in several of
    the tables pays in each: the costs add up.

    >>> run = Modeler(["https://a:8443", "https://b:8443"], keys=["a/", "b/"], state="both")    # doctest: +SKIP
    """

    def __init__(
        self,
        url: str | Sequence[str],
        *,
        keys: str | Path | Sequence[str | Path],
        state: str | Path,
        certificate: bool = False,
        patience: float = 60.0,
        poll: float = 0.5,
    ) -> None:
        self.urls: list[str] = [url] if isinstance(url, str) else list(url)
        folders = [keys] if isinstance(keys, (str, Path)) else list(keys)
        if len(folders) != len(self.urls) or not folders:
            raise InvalidValue(f"{len(self.urls)} curators and {len(folders)} folders of keys: each has its own")
        self.state = Path(state)
        self._run = _Run()
        self._run_handle = ffi.new_handle(self._run)
        remotes = ffi.new("tacet_remote *[]", len(self.urls))
        super().__init__(remotes, _close, "modeler")
        self._texts = []
        for i, pair in enumerate(zip(self.urls, folders)):
            settings = ffi.new("tacet_remote_settings *")
            lib.tacet_remote_defaults(settings)
            texts = [ffi.new("char[]", str(text).encode()) for text in pair]
            settings.url, settings.keys = texts
            settings.use_certificate, settings.patience, settings.poll = certificate, patience, poll
            settings.stop, settings.user = lib.tacet_python_stop, self._run_handle
            out = ffi.new("tacet_remote **")
            native.call(lib.tacet_remote_open, out, settings)
            remotes[i] = out[0]
            self._texts += texts
        several = len(self.urls) > 1
        self._releases = [
            _Release(remotes[i], self.state / f"holder-{i + 1}" if several else self.state) for i in range(len(self.urls))
        ]
        self._holders = ffi.new("tacet_session_holder[]", [(r.raw, r.text, r.rows) for r in self._releases])
        self.manifests = [r.manifest for r in self._releases]
        self.manifest = self.manifests[0]
        self.best: Best | None = None
        self.rows: list[int] = []
        self.holders: list[str] = []
        self.values: list[float] = []
        self.failed: list[int] = []
        self.absent: dict[str, str] = {}
        self.end: str | None = None
        self.chance: Chance | None = None
        self.minimize = False

    def release(self) -> NDArray[np.float64]:
        """The released rows, one a row, in scaled units; those of several holders one after the other."""
        import numpy as np

        arrays = [release.array() for release in self._releases]
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

    def to_frame(self) -> pd.DataFrame:
        """The released rows: columns by name in their own units (`Manifest.frame`). Those of several holders stand one
        after the other, and the index says whose a row is."""
        import pandas as pd

        frames = [release.manifest.frame(release.path) for release in self._releases]
        return frames[0] if len(frames) == 1 else pd.concat(frames, keys=self.urls, names=["holder", "row"])

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
            "tacet_status (*)(void *, double *, const char *, size_t, size_t, tacet_error *)",
            ffi.addressof(lib, "tacet_remote_ask"),
        )
        asker.user = self._pointer
        result = ffi.new("tacet_session_result *")
        try:
            native.call(lib.tacet_session_run, result, settings, asker, self._holders, len(self.urls))
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

    def _place(self, row: int) -> tuple[str, int]:
        """Whose row it is, and its number there."""
        local = ffi.new("size_t *", row)
        holder = lib.tacet_session_place(self._holders, len(self.urls), local)
        return self.urls[holder], local[0]

    def _take(self, raw: Any, minimize: bool) -> None:
        places = [self._place(raw.rows[i]) for i in range(raw.count)]
        self.rows = [row for _, row in places]
        self.holders = [holder for holder, _ in places]
        self.values = [raw.values[i] for i in range(raw.count)]
        self.failed = [self._place(raw.failed[i])[1] for i in range(raw.failed_count)]
        gone = [(self.urls[h], raw.holders[h]) for h in range(raw.holder_count)]
        self.absent = {url: native.text(why.message) for url, why in gone if why.status != 0}
        self.best = Best(raw, self._place)
        self.end = native.text(lib.tacet_session_end_name(raw.end))
        self.minimize = minimize
        self.chance = Chance(raw.chance) if raw.compared else None
        self.method = native.text(raw.method)

    def account(self, holder: int = 0) -> dict[str, Any]:
        """A curator's account of what was spent: the first one's, or that of another by its place in `urls`."""
        pointer = lib.tacet_remote_ledger(self._pointer[holder])
        if pointer == ffi.NULL:
            raise StateError("the curator's account cannot be had now")
        return dict(json.loads(native.take(pointer)))

    def trials_dataframe(self) -> pd.DataFrame:
        """What was measured, in order: row and value; of several holders also whose row it is."""
        import pandas as pd

        columns: dict[str, Any] = {"holder": self.holders} if len(self.urls) > 1 else {}
        return pd.DataFrame({**columns, "row": self.rows, "value": self.values})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Values, the best so far, and what the best of as many random rows reaches with a probability of 95 %."""
        from tacet import plots

        return plots.progress(self.values, minimize=self.minimize, ax=ax, chance=self.chance.likely if self.chance else None)

    def __repr__(self) -> str:
        return f"Modeler({', '.join(self.urls)}: {len(self.values)} measured, best {self.best})"

    def _repr_html_(self) -> str:
        rows = [("curator", ", ".join(self.urls)), ("measured", str(len(self.values))), ("best", repr(self.best))]
        rows += [("left out", f"{url}: {why}") for url, why in self.absent.items()]
        return table(["search", ""], rows) + "".join(manifest._repr_html_() for manifest in self.manifests)
