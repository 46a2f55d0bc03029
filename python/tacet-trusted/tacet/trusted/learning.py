# SPDX-License-Identifier: Apache-2.0
"""Learning from a private log of actions, contexts and rewards: one released model, for any number of predictions."""
from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Sequence

from tacet._native import interruptible
from tacet.errors import Error, InvalidValue
from tacet.model import Model, read_model
from tacet.space import Space
from tacet.trusted._lib import ffi, lib, native
from tacet.trusted.outsourced import _CSpace, _texts, persons_of, warn_few
from tacet.trusted._parts import Parts, is_dask
from tacet.trusted.tallying import Engine, Progress, question_of, rows_of


def learn(
    table: Any,
    *,
    space: Space,
    action: str | Sequence[str],
    reward: str,
    eps: float,
    reward_range: tuple[float, float] = (0.0, 1.0),
    person: str | None = None,
    rows_per_person: int = 0,
    ledger: str | Path | None = None,
    budget_eps: float = 0.0,
    ticket: str = "model",
    new_budget: str | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Model:
    """Learns which action suits which context from the rows of a table, with pure eps, and releases one table of all
    rows: charged first, then drawn. The answer is a `tacet.TableModel`: the rule, what it earns and what it gains, with
    intervals.

    The space names the action columns and the context columns, categories or numbers, which are put into bins;
    `reward` is a column of the table; rewards outside `reward_range` count as its nearer end, without a word. Every row
    needs an action and a reward. Nothing of the space may be fitted on the rows. A whole row is protected, its action
    included. Propensities are not needed: within a context actions are compared as they are. Without a `ledger` it lies
    in the registry of this machine, where the same rows find it again. `out` receives the model as a file. Ctrl-C ends
    it early: what was charged by then is drawn, the same, by the next call with this ticket.

    A `dask.dataframe` stays where it is: its workers add up their partitions, and this process charges and draws, with
    the same result as a frame in one process whatever the partitions. Name the `ledger` then: rows that this machine
    does not see it cannot know again. `progress` is called with the fraction that is done.

    With `person`, a column that says whose row it is, the first `rows_per_person` rows of each person are learnt from
    and the charge is for all of them: the claim is then about persons.

    >>> model = learn(df, space=space, action="variant", reward="bought", eps=1)   # doctest: +SKIP
    >>> model.best(age=60)                                                                          # doctest: +SKIP
    {'variant': 'B'}
    """
    _CSpace(space)  # refuses what is none
    actions = [action] if isinstance(action, str) else list(action)
    contexts = [name for name in space if name not in actions]
    ordered = space.only([*actions, *contexts])
    question = ffi.new("tacet_ab_question *")
    texts = _texts(reward=reward)
    question.reward, question.action_columns, question.eps = texts["reward"], len(actions), eps
    question.lo, question.hi = reward_range
    tell = progress if progress is not None else lambda fraction: None
    dask = is_dask(table)
    if dask and (person is not None) != (rows_per_person > 0):
        raise InvalidValue("person= says whose row it is, and rows_per_person= how many each may have: they go together")
    people = ffi.NULL if dask else persons_of(table, person)
    question.persons, question.rows_per_person = people, rows_per_person
    flag = ffi.new("bool *")
    question.stop = flag
    entry = ffi.new("tacet_contextual_entry *")
    named = _texts(ledger=ledger, new_budget=new_budget, ticket=ticket, to_whom="anyone")
    for name, text in named.items():
        setattr(entry, name, text)
    entry.budget = budget_eps
    few = ffi.new("bool *")
    entry.few = few
    with _CSpace(ordered) as raw_space:
        question.space = raw_space
        if dask:
            engine = Engine(Parts(table, person, rows_per_person), question_of(space, action, reward, reward_range, eps), progress)
            text = interruptible(lambda: _released(engine.open, question, entry, tell, engine.check), flag)
        else:
            rows = rows_of(table, ordered, [reward], len(actions))
            tell(0.2)
            address = ffi.cast("double *", rows.address())
            text = interruptible(
                lambda: _released(
                    lambda log, asked: native.call(lib.tacet_ab_log_open_rows, log, address, len(rows), asked), question, entry, tell
                ),
                flag,
            )
    warn_few(few)
    if out is not None:
        Path(out).write_text(text, encoding="utf-8")
    tell(1.0)
    return read_model(text)


def _released(begin: Callable[[Any, Any], None], question: Any, entry: Any, tell: Progress, check: Callable[[], None] = lambda: None) -> str:
    log, model, text = ffi.new("tacet_ab_log **"), ffi.new("tacet_ab_model **"), ffi.new("char **")
    begin(log, question)
    try:
        tell(0.4)
        native.call(lib.tacet_ab_log_release, log[0], model, entry)
        tell(0.9)
        native.call(lib.tacet_ab_model_encode, model[0], text)
        return native.take(text[0])
    except Error:
        check()
        raise
    finally:
        lib.tacet_ab_model_free(model[0])
        lib.tacet_ab_log_free(log[0])
