# SPDX-License-Identifier: Apache-2.0
"""Studies: in this process, over HTTPS, from devices; and everything that may go wrong with a handle."""
from __future__ import annotations

import os
import pickle
import threading
import traceback
import warnings
from pathlib import Path
from typing import Any, Callable

import pytest

import tacet
from tacet import trusted

WHO = {"age": 44, "sex": "F"}
Serve = Callable[..., tuple[str, str, Path]]


def test_ask_and_tell_without_a_server(store: Path) -> None:
    with trusted.Study(store, "dose") as study:
        s = study.suggest(person="p-17", context=WHO)
        assert list(s.params) == ["mg"] and 5 <= s.params["mg"] <= 200
        s.observe(0.7)
        s.observe(0.7)
        with pytest.raises(tacet.Conflict):
            s.observe(0.8)
        study.suggest(context={"age": 20, "sex": "M"}).failed()
        study.suggest(context=WHO).observe(3.0)
        assert study.trials[-1].clipped
        frame = study.trials_dataframe()
        assert list(frame.state) == ["observed", "failed", "observed"]
        assert list(frame.columns[:4]) == ["number", "state", "value", "params_mg"]
        status = study.status()
        assert status["suggested"] == 3 and "observed" not in status  # who has reported is private
        assert study.account()["budget_eps"] == 2
        with pytest.raises(tacet.StateError):
            study.release()
        assert "dose" in study._repr_html_()


def test_a_key_repeats_the_answer(store: Path) -> None:
    with trusted.Study(store, "dose") as study:
        first = study.suggest(context=WHO, key="k")
        assert study.suggest(context=WHO, key="k").ticket == first.ticket
        with pytest.raises(tacet.Conflict):
            study.suggest(context={**WHO, "age": 45}, key="k")


@pytest.mark.parametrize(
    "context", [None, {"age": 44}, {"age": 44, "sex": "X"}, {**WHO, "more": 1}, {"age": float("nan"), "sex": "F"}, [1.0]]
)
def test_a_context_that_is_none_is_refused(store: Path, context: Any) -> None:
    with trusted.Study(store, "dose") as study, pytest.raises(tacet.InvalidValue):
        study.suggest(context=context)


def test_over_https_as_in_this_process(serve: Serve) -> None:
    url, token, ca = serve()
    with tacet.Client(url, token=token, ca=ca) as client:
        assert {study["name"] for study in client.studies()} == {"dose", "taste"}
        study = client.study("dose")
        s = study.suggest(person="p-17", context=WHO)
        assert 5 <= s.params["mg"] <= 200
        s.observe(0.7)
        assert study.look(s.ticket)["state"] == "observed"
        study.suggest(context=WHO).failed()
        with pytest.raises(tacet.InvalidValue, match="sex"):
            study.suggest(context={"age": 44, "sex": "X"})
        with pytest.raises(tacet.NotFound):
            client.study("nosuch")
        assert list(study.trials_dataframe().state) == ["observed", "failed"]
        assert "dose" in study._repr_html_() and "dose" in client._repr_html_()
        assert len(study.suggest(count=3, context=WHO)) == 3
        with pytest.raises(tacet.StateError):  # the best depends on who it is for
            study.best
        with pytest.raises(tacet.InvalidValue):
            s2 = study.suggest(context=WHO)
            s2.observe(float("nan"))


def test_a_role_may_do_what_it_may(serve: Serve) -> None:
    url, token, ca = serve("analyst", "dose")
    study = tacet.Client(url, token=token, ca=ca).study("dose")
    with pytest.raises(tacet.Denied):
        study.suggest(context=WHO)
    assert study.account()["budget_eps"] == 2


def test_a_device_reports_for_a_local_study(serve: Serve, tmp_path: Path) -> None:
    url, token, ca = serve("device")
    study = tacet.Client(url, token=token, ca=ca).study("taste")
    s = study.suggest()
    with pytest.raises(tacet.Unsupported, match="must not leave"):
        s.observe(0.4)
    with trusted.Device(tmp_path / "device.db", eps=2, budget_eps=4) as device:
        report = device.observe(s, 0.4)
        assert report != 0.4
        assert device.report(s.ticket, 0.4) == report  # the same bits again
        with pytest.raises(tacet.Conflict):
            device.report(s.ticket, 0.5) if False else device.agree(tacet.Client(url, token=token, ca=ca).study("dose"))
        device.failed(study.suggest())
        with pytest.raises(tacet.BudgetExceeded):
            device.report("third", 0.5)
    with pytest.raises(tacet.StateError, match="closed"):
        device.report("more", 0.5)
    with trusted.Device(tmp_path / "other.db", eps=1) as other, pytest.raises(tacet.Conflict, match="nothing was sent"):
        other.observe(study.suggest(), 0.4)
    assert tacet.Ledger(tmp_path / "device.db").eps == pytest.approx(4)


def test_owners_see_every_round_and_devices_their_own(serve: Serve, store: Path, tmp_path: Path) -> None:
    url, token, ca = serve("device")
    mine = tacet.Client(url, token=token, ca=ca).study("taste")
    with trusted.Device(tmp_path / "device.db", eps=2, budget_eps=4) as device:
        report = device.observe(mine.suggest(), 0.4)
    mine.suggest()
    with pytest.raises(tacet.Denied):
        mine.trials_dataframe(everyone=True)
    url, token, ca = serve("owner")
    owner = tacet.Client(url, token=token, ca=ca).study("taste")
    assert owner.trials_dataframe().empty
    assert owner.expire(older=3600) == 0 and owner.expire(number=3) == 1 and owner.expire(number=3) == 0
    frame = owner.trials_dataframe(everyone=True)
    assert list(frame.state) == ["observed", "expired"] and list(frame.number) == [1, 3]
    assert frame.value[0] == report and frame.params_x1[0] in (0.0, 0.5, 1.0)
    assert frame.datetime_complete[0] >= frame.datetime_start[0] and str(frame.datetime_start.dt.tz) == "UTC"
    dose = tacet.Client(url, token=token, ca=ca).study("dose")
    dose.suggest(context=WHO).observe(0.7)
    seen = dose.trials_dataframe(everyone=True)
    assert list(seen.state) == ["suggested"] and seen.value.isna().all() and "context_age" not in seen
    with trusted.Study(store, "taste") as here:
        assert list(here.trials_dataframe(everyone=True).state) == ["observed", "expired"]


def test_many_events_come_in_pages(store: Path) -> None:
    with trusted.Study(store, "dose") as study:
        for _ in range(510):
            study.suggest(context=WHO).observe(0.5)
        assert len(study.trials_dataframe(everyone=True)) == 510


ROUTES = {
    "name": "routes", "trust": "local", "policy": "statistics", "budget": {"eps": 4}, "rounds": 500,
    "domain": {"lower": [0, 0], "upper": [1, 1]}, "prior": {"lengthscale": 0.3, "reward": [0, 1]},
}  # fmt: skip
ARMS = [[0.1, 0.2], [0.5, 0.5], [0.9, 0.4]]


def test_a_device_keeps_its_arms_and_reports_a_direction(store: Path, serve: Serve, tmp_path: Path) -> None:
    trusted.Study.create(store, ROUTES).close()
    url, token, ca = serve("device", "routes")
    study = tacet.Client(url, token=token, ca=ca).study("routes")
    with trusted.StatisticsDevice(tmp_path / "device.db", eps=4, budget_eps=12) as device:
        s = device.suggest(study, ARMS)
        assert list(s.params.values()) in ARMS and s.index == 1
        report = device.observe(s, 0.7)
        assert report == int(report) and 0 <= report < 256
        assert device.observe(s, 0.7) == report  # the same bits again
        with trusted.Study(store, "routes") as here:
            device.failed(device.suggest(here, ARMS))
            with pytest.raises(tacet.InvalidValue, match="another device"):
                device.observe(here.suggest(), 0.5)
        with pytest.raises(tacet.InvalidValue, match="2 coordinates"):
            device.suggest(study, [[0.5]])
        with pytest.raises(tacet.Unsupported):
            device.report("ticket", 0.5)
        with pytest.raises(tacet.Conflict, match="nothing was sent"):
            device.suggest(tacet.Client(url, token=serve("device")[1], ca=ca).study("taste"), ARMS)
        device.observe(device.suggest(study, ARMS), 0.1)
        with pytest.raises(tacet.BudgetExceeded):
            device.observe(device.suggest(study, ARMS), 0.1)
    assert tacet.Ledger(tmp_path / "device.db").eps == pytest.approx(12)
    with pytest.raises(tacet.StateError, match="closed"):
        device.suggest(study, ARMS)


def test_the_token_is_in_no_traceback(serve: Serve, tmp_path: Path) -> None:
    url, token, ca = serve("device", "dose")
    client = tacet.Client(url, token=token, ca=ca, patience=0.1)
    failures: list[BaseException] = []
    for ask in (client.studies, lambda: client.study("taste"), lambda: pickle.dumps(client), lambda: _away(token, ca)):
        try:
            ask()
        except Exception as error:
            failures.append(error)
    assert len(failures) == 3
    for error in failures:
        everything = traceback.TracebackException.from_exception(error, capture_locals=True)
        for frame in everything.stack:  # this test's own frame knows the token
            if frame.filename != __file__:
                assert token not in "".join(map(str, (frame.locals or {}).values()))
        assert token not in str(error) and token not in repr(client)


def _away(token: str, ca: Path) -> None:
    tacet.Client("https://127.0.0.1:9", token=token, ca=ca, patience=0).studies()


def test_strangers_are_not_trusted(serve: Serve, tmp_path: Path) -> None:
    url, token, _ = serve()
    with pytest.raises(tacet.Denied, match="not trusted"):
        tacet.Client(url, token=token).studies()
    with pytest.raises(tacet.Denied):
        tacet.Client(url, token="tacet_" + "A" * 40, ca=_).studies()
    with pytest.raises(tacet.InvalidValue):
        tacet.Client("http://127.0.0.1", token=token)
    with pytest.raises(tacet.NotFound):
        tacet.Client(url, token=token, ca=tmp_path / "none.pem")


def test_two_threads_share_a_study(store: Path) -> None:
    with trusted.Study(store, "dose") as study:
        failures: list[BaseException] = []

        def work() -> None:
            try:
                for _ in range(20):
                    study.suggest(context=WHO).observe(0.5)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert study.status()["suggested"] == 40 and [t.state for t in study.trials] == 40 * ["observed"]
        assert len({trial.ticket for trial in study.trials}) == 40


def test_a_closed_study_and_a_pickled_one_are_refused(store: Path) -> None:
    study = trusted.Study(store, "dose")
    s = study.suggest(context=WHO)
    for handle in (study, s):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(handle)
    study.close()
    with pytest.raises(tacet.StateError, match="closed"):
        study.suggest(context=WHO)
    with pytest.raises(tacet.StateError, match="closed"):
        s.observe(0.5)


def test_a_child_opens_its_own_and_noise_does_not_repeat(store: Path, tmp_path: Path) -> None:
    study = trusted.Study(store, "dose")
    device = trusted.Device(tmp_path / "a.db", eps=0.5, budget_eps=50, randomizer_name="laplace")
    before = device.report("parent-0", 0.5)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - in the child
        words = "failed"
        try:
            for use in (study.status, lambda: device.report("child", 0.5)):
                try:
                    use()
                    os._exit(1)
                except tacet.StateError as error:
                    assert "before the fork" in str(error)
            with trusted.Device(tmp_path / "b.db", eps=0.5, budget_eps=50, randomizer_name="laplace") as own:
                words = ",".join(repr(own.report(f"child-{i}", 0.5)) for i in range(20))
            with trusted.Study(store, "dose") as again:
                again.suggest(context=WHO).observe(0.5)
        finally:
            os.write(write, words.encode())
            os._exit(0)
    os.close(write)
    text = b""
    while part := os.read(read, 4096):
        text += part
    os.waitpid(child, 0)
    theirs = [float(word) for word in text.decode().split(",")]
    ours = [before] + [device.report(f"parent-{i}", 0.5) for i in range(1, 20)]
    assert len(set(theirs) | set(ours)) == 40
    assert study.status()["suggested"] == 1  # the child's
    study.close()
    device.close()


def learning(folder: Path, name: str = "best", **more: Any) -> trusted.Study:
    return trusted.Study.create(
        folder, name=name, space=tacet.Space(x=tacet.Real(0, 1)), eps=20, delta=1e-5, candidates=9, rounds=600, **more
    )


def test_a_study_learns_and_releases_a_model(tmp_path: Path) -> None:
    study = learning(tmp_path / "s")
    with pytest.raises(tacet.StateError, match="nothing was released"):
        study.best_params
    study.optimize(lambda params: 1 - abs(params["x"] - 0.7), 300)
    events = study._events(0)["head"]
    assert study.best.params == study.best_params == study.release().point
    assert study.best_value == study.release().mean and study.best.sd > 0 and study.best.eps == pytest.approx(20)
    assert study._events(0)["head"] == events + 2  # of the two releases alone
    assert "estimated value" in study.best._repr_html_()
    release = study.release()
    assert release.model is not None and release.point is not None and release.mean is not None
    assert abs(release.model.best()["x"] - 0.7) < 0.26 and abs(release.point["x"] - 0.7) < 0.26
    assert abs(release.mean - 0.9) < 0.3 and 0 < (release.sd or 0) < 1
    assert "point" in release._repr_html_()


RANGES = [(1e-4, 1), (1e-5, 0.1), (1e-3, 10), (0.01, 100), (1e-6, 0.01), (0.1, 0.9), (3, 7), (1e-8, 1e8), (1, 1000),
          (0.3, 30), (0.07, 0.7)]  # fmt: skip


@pytest.mark.parametrize("low, high", RANGES)
def test_the_best_of_a_log_range_lies_within_it(tmp_path: Path, low: float, high: float) -> None:
    study = trusted.Study.create(
        tmp_path / "s", name="log", space=tacet.Space(rate=tacet.Log(low, high)), eps=20, delta=1e-5, candidates=16, rounds=200
    )
    study.optimize(lambda params: 0.5, 100)
    model = study.release().model
    assert model is not None
    assert low <= model.best()["rate"] <= high
    for grid in range(2, 40):  # every candidate is a row that the model takes, its ends among them
        rates = [candidate["rate"] for candidate in model.candidates(grid)]
        assert (min(rates), max(rates)) == (low, high)
        assert len(model.predict({"rate": rates})) == grid


def test_several_at_once_and_open_tickets_stop_nobody(tmp_path: Path) -> None:
    with learning(tmp_path / "s") as study:
        held = study.suggest(count=8)
        assert len(held) == 8 and len({s.ticket for s in held}) == 8
        for _ in range(20):
            for s in study.suggest(count=8):
                s.observe(0.5)
        assert study.suggest(wait=5).state == "open"
        for wrong in (0, 65):
            with pytest.raises(tacet.InvalidValue):
                study.suggest(count=wrong)


def test_a_study_whose_tickets_are_all_open_waits_for_reports(tmp_path: Path) -> None:
    with learning(tmp_path / "s", known={"x": [0.1, 0.9], "value": [0.2, 0.4]}, open_most=8) as study:
        held: list[Any] = []
        while more := study.suggest(count=64):
            held += more
        with pytest.raises(tacet.StateError, match="open"):
            study.suggest()
        with pytest.raises(tacet.StateError, match="open"):  # all are this thread's: nobody reports
            _impatient(study)
        for s in held:
            s.observe(0.5)
        assert study.suggest(wait=5).state == "open"


def _impatient(study: trusted.Study) -> None:
    with study._reported:
        held = study._trials
        study._trials = []  # as if another process had them
    try:
        study.suggest(wait=0.3)
    finally:
        study._trials = held


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_study_optimizes_by_itself(tmp_path: Path, jobs: int) -> None:
    study = trusted.Study.create(
        tmp_path / "s", name="own", space=tacet.Space(x=tacet.Real(0, 1)), eps=20, delta=1e-5, candidates=9, rounds=60
    )
    seen: list[tuple[int, int]] = []

    def objective(params: dict[str, Any]) -> float | None:
        if params["x"] < 0.2:
            raise ZeroDivisionError
        return float("nan") if params["x"] > 0.9 else params["x"]

    study.optimize(objective, 100, n_jobs=jobs, catch=(ZeroDivisionError,), progress=lambda *at: seen.append(at))
    assert seen == [(i, 100) for i in range(1, 61)]  # the rounds were over
    assert {trial.state for trial in study.trials} == {"observed", "failed", "last"}
    again = learning(tmp_path / "s")
    with pytest.raises(ZeroDivisionError):
        again.optimize(objective, 500, n_jobs=jobs)
    assert not any(trial.state == "open" for trial in again.trials)


def test_a_person_whose_rounds_are_used_up_is_warned_of_once(tmp_path: Path) -> None:
    study = learning(tmp_path / "s", person_rounds=2)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for _ in range(6):
            study.suggest(person="me").observe(0.5)
            study.suggest().observe(0.5)
    assert len(heard) == 1 and "person 'me' has taken more than 2 rounds, and NOTHING IS LEARNT" in str(heard[0].message)


def test_a_reopened_study_knows_its_rounds(tmp_path: Path) -> None:
    with learning(tmp_path / "s") as study:
        taken = study.suggest(count=3)
        taken[0].observe(0.4)
    with trusted.Study(tmp_path / "s", "best") as again:
        mine = again.suggest()
        mine.observe(0.25)
        frame = again.trials_dataframe()
    assert list(frame.params_x) == [s.params["x"] for s in [*taken, mine]]
    assert list(frame.state) == ["observed", "open", "open", "observed"]
    assert frame.value[3] == 0.25 and frame.value[:3].isna().all()  # rewards of a central study are shown to nobody


def test_what_is_public_already_goes_in_first(tmp_path: Path) -> None:
    known = {"x": [0.0, 0.25, 0.5, 0.75, 1.0], "value": [0.0, 0.1, 0.2, 0.9, 0.3], "sd": [0.05] * 5}
    study = learning(tmp_path / "s", known=known)
    assert [row[1] for row in study.definition["prior"]["earlier"]] == known["value"]
    study.optimize(lambda params: 1 - abs(params["x"] - 0.7), 300)
    model = study.release().model
    again = learning(tmp_path / "s", name="again", begin_with=model)
    assert len(again.definition["prior"]["earlier"]) == 9
    for wrong in ({"known": {"x": [0.5]}}, {"known": {"x": [7.0], "value": [1.0]}}):
        with pytest.raises(tacet.InvalidValue):
            learning(tmp_path / "s", name="wrong", **wrong)
    with pytest.raises(tacet.NotFound):
        learning(tmp_path / "s", name="wrong", begin_with=tmp_path / "none.json")


def test_a_device_chooses_by_public_weights():
    trusted = pytest.importorskip("tacet.trusted")
    assert {trusted.Device.choose([0, 7, 0]) for _ in range(20)} == {1}
    assert {trusted.Device.choose([1, 0, 1]) for _ in range(200)} == {0, 2}  # one of them missing: 2^-199
    with pytest.raises(tacet.InvalidValue):
        trusted.Device.choose([0, 0])
