# SPDX-License-Identifier: Apache-2.0
"""Released models: read one, and ask it. It never saw the data, so any number of predictions costs nothing."""
from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping

from tacet._lib import ffi, lib, native
from tacet._native import Handle
from tacet._table import Packed, columns_of
from tacet.display import guarantee, table
from tacet.errors import InvalidValue, NotFound
from tacet.space import Space

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


class Prediction:
    """What a model says of some rows: `mean` (one number a row), `sd` (how far the model errs, about; one number, or one a
    row), and, where the
    actions were left open, `best`: the best action of each row by the names of its columns.

    >>> model.predict(df).mean[:2]                          # doctest: +SKIP
    array([0.41, 0.62])
    """

    def __init__(self, mean: NDArray[np.float64], sd: float | NDArray[np.float64], best: list[dict[str, Any]] | None) -> None:
        self.mean = mean
        self.sd = sd
        self.best = best

    def __len__(self) -> int:
        return len(self.mean)

    def to_frame(self) -> pd.DataFrame:
        """As a pandas frame: the best action's columns, if any, then mean and sd."""
        import pandas as pd

        frame = pd.DataFrame(self.best) if self.best is not None else pd.DataFrame(index=range(len(self.mean)))
        frame["mean"], frame["sd"] = self.mean, self.sd
        return frame

    def __repr__(self) -> str:
        return f"Prediction({len(self)} rows{', with best actions' if self.best is not None else ''})"

    def _repr_html_(self) -> str:
        sds: Any = [self.sd] * len(self) if isinstance(self.sd, float) else self.sd
        first = range(min(len(self), 10))
        rows = [(*(self.best[i].values() if self.best else ()), f"{self.mean[i]:.3g}", f"{sds[i]:.2g}") for i in first]
        head = [*(self.best[0] if self.best else ()), "mean", "sd"]
        return table(head, rows, f"the first 10 of {len(self)} rows" if len(self) > 10 else "")


class Model(Handle):
    """A released model of rewards over actions and contexts.

    >>> model = load_model("model.json")                    # doctest: +SKIP
    >>> model.predict({"age": [30, 60]}).best               # doctest: +SKIP
    [{'variant': 'A'}, {'variant': 'B'}]
    """

    def __init__(self, text: str) -> None:
        encoded = text.encode()
        out = ffi.new("tacet_contextual_model **")
        native.call(lib.tacet_contextual_model_decode, out, encoded, len(encoded))
        super().__init__(out[0], lib.tacet_contextual_model_free, "model")
        self._text = text
        parts = lib.tacet_contextual_model_parts(out[0])
        described = json.loads(text)
        self.eps: float = parts.eps
        self.delta: float = parts.delta
        self.person: tuple[int, float, float] | None = None
        self.private: bool = parts.is_private
        self.records: int = parts.rounds
        self.sd: float = parts.predicted_error
        self.minimize: bool = parts.minimize
        if parts.space:
            self.space = Space.from_json(json.dumps(described["space"]))
        else:
            self.space = _plain_space(parts)
        self.actions: list[str] = list(self.space)
        self.contexts: list[str] = []  # of a study's model; a table (TableModel) has them

    def save(self, path: str | Path) -> None:
        """Writes the file that `tacet predict` reads."""
        Path(path).write_text(self._text, encoding="utf-8")

    def to_json(self) -> str:
        return self._text

    def __reduce__(self) -> Any:  # a model is public text: it may be copied to another process
        return (Model, (self._text,))

    def predict(self, rows: Any) -> Prediction:
        """The mean reward of every row. Rows with the action's columns: of that action; rows with the contexts' columns
        alone: of the best action, which is then in `best`.

        A frame, a mapping of columns, one mapping of values, or an array in the order of the columns."""
        if isinstance(rows, Mapping) and all(_is_one(value) for value in rows.values()):
            rows = {name: [value] for name, value in rows.items()}
        columns = columns_of(rows)
        if columns is not None:
            known = any(name in columns for name in self.actions)
        else:
            known = len(rows) > 0 and hasattr(rows[0], "__len__") and len(rows[0]) == len(self.space)
        table = rows if columns is None else columns
        if known:
            return self._means(self.space._packed(table))
        if not self.contexts:
            raise InvalidValue(f"the model has no contexts: give the columns {', '.join(self.actions)}")
        return self._recommend(self.space.only(self.contexts)._packed(table))

    def _means(self, records: Packed) -> Prediction:
        means = Packed(len(records), 1)
        native.call(
            lib.tacet_contextual_predict_records, self._pointer, _doubles(means), _doubles(records), len(records)
        )
        return Prediction(means.flat(), self.sd, None)

    def _recommend(self, contexts: Packed) -> Prediction:
        raise NotImplementedError

    def _actions_of(self, candidates: Any) -> list[dict[str, Any]]:
        """Candidates by the names of the action's columns."""
        width = len(self.actions)
        numbers = ffi.unpack(candidates.records, candidates.count * candidates.columns)
        return self.space.only(self.actions).rows([numbers[i : i + width] for i in range(0, len(numbers), width)])

    def best(self, grid: int = 33, **context: Any) -> dict[str, Any]:
        """The best action in one context, by the names of its columns."""
        if set(context) != set(self.contexts):
            raise InvalidValue(f"best() takes the model's contexts by name: {', '.join(self.contexts) or 'there are none'}")
        if self.contexts:
            found = self.predict(context).best
            assert found is not None
            return found[0]
        actions = self.candidates(grid)
        means = self.predict({name: [action[name] for action in actions] for name in self.actions}).mean
        return actions[min(range(len(actions)), key=lambda i: float(means[i] if self.minimize else -means[i]))]

    def candidates(self, grid: int = 33) -> list[dict[str, Any]]:
        """The actions that are looked at: every level, and `grid` values of a numeric column."""
        candidates = ffi.new("tacet_contextual_candidates *")
        native.call(lib.tacet_contextual_candidates_make, candidates, self._pointer, grid)
        try:
            return self._actions_of(candidates)
        finally:
            lib.tacet_contextual_candidates_clear(candidates)

    def partial(self, column: str, over: Any, **at: Any) -> pd.DataFrame:
        """Partial dependence: for values of one column the mean reward over the rows of `over`, a PUBLIC table with the
        other columns (those in `at` are held there instead), and `sd`, what it errs by about: the rows' errors have the
        same source, so their average is no smaller than theirs. To draw it: `plot(column, over=rows)`."""
        import pandas as pd

        from tacet import plots

        if column not in self.space:
            raise InvalidValue(f"the model has no column '{column}'")
        values = plots._values(self, column)
        mean, sd = self._partial(column, values, over, at)
        return pd.DataFrame({column: values, "mean": mean, "sd": sd})

    def _partial(self, column: str, values: Any, over: Any, at: Mapping[str, Any]) -> tuple[Any, Any]:
        """Means and errors for values of a column, the others at a value or averaged over rows."""
        import numpy as np

        table = {} if over is None else columns_of(over)
        if table is None:
            raise InvalidValue("partial dependence is over a frame, or a mapping of columns")
        free = [name for name in self.space if name != column and name not in at]
        missing = [name for name in free if name not in table]
        if missing:
            raise InvalidValue(f"the table has no column '{missing[0]}': hold it at a value")
        rows = len(table[free[0]]) if free else 1
        if rows == 0:
            raise InvalidValue("partial dependence is over at least one row")
        cells: dict[str, Any] = {name: [at[name]] * rows for name in at if name in self.space}
        cells.update({name: table[name] for name in free})
        said = [self.predict({**cells, column: [value] * rows}) for value in values]
        return np.array([s.mean.mean() for s in said]), np.array([np.mean(s.sd) for s in said])

    def plot(
        self, column: str | None = None, by: str | None = None, *, over: Any = None, ax: Axes | None = None, **at: Any
    ) -> Axes:
        """The mean over one column, with what the model errs by about; or over two. The title says what is held
        constant, and at what: `plot("age", sex="F")`; `over=rows` averages over them. See `tacet.plots.posterior`."""
        from tacet import plots

        return plots.posterior(self, column, by, over=over, ax=ax, **at)

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("actions", ", ".join(self.actions)),
            ("contexts", ", ".join(self.contexts) or "none"),
            ("learnt from", f"{self.records} rows"),
            ("errs by about", f"{self.sd:.3g}"),
            ("guarantee", guarantee(self) if self.private else "NONE: seeded noise"),
        ]

    def __repr__(self) -> str:
        return f"Model({', '.join(f'{name}: {value}' for name, value in self._facts())})"

    def _repr_html_(self) -> str:
        return table(["released model", ""], self._facts())


def load_model(path: str | Path) -> Model:
    """The model in a file that `tacet learn`, a study or `tacet.trusted.learn` wrote."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFound(f"{path}: there is no such file") from None
    return read_model(text)


def read_model(text: str) -> Model:
    """The model in a text, of whichever kind it is."""
    from tacet.table_model import TableModel

    encoded = text.encode()
    return TableModel(text) if lib.tacet_ab_model_is(encoded, len(encoded)) else Model(text)


def _plain_space(parts: Any) -> Space:
    columns = [
        {"name": f"action{i + 1}", "kind": "real", "bounds": [parts.lower[i], parts.upper[i]]}
        for i in range(parts.action_dim)
    ]
    return Space.from_json(json.dumps({"columns": columns}))


def _is_one(value: Any) -> bool:
    """One cell, not a column of them."""
    return isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or getattr(value, "ndim", 1) == 0


def _doubles(packed: Packed) -> Any:
    return ffi.cast("double *", packed.address())
