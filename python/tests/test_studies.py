# SPDX-License-Identifier: Apache-2.0
"""Studies: in this process, over HTTPS, from devices; and everything that may go wrong with a handle."""
from __future__ import annotations

import os
import pickle
import threading
import traceback
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
    with trusted.Device(tmp_path / "device.db", eps=2, budget=4) as device:
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
    with trusted.Device(tmp_path / "device.db", eps=2, budget=4) as device:
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
    with trusted.StatisticsDevice(tmp_path / "device.db", eps=4, budget=12) as device:
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
    device = trusted.Device(tmp_path / "a.db", eps=0.5, budget=50, randomizer_name="laplace")
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
            with trusted.Device(tmp_path / "b.db", eps=0.5, budget=50, randomizer_name="laplace") as own:
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


def test_a_study_learns_and_releases_a_model(tmp_path: Path) -> None:
    study = trusted.Study.create(
        tmp_path / "s", name="best", space=tacet.Space(x=tacet.Real(0, 1)), eps=20, delta=1e-5, candidates=9, rounds=600
    )
    for _ in range(300):
        s = study.suggest()
        s.observe(1 - abs(s.params["x"] - 0.7))
    release = study.release()
    assert isinstance(release, tacet.Model)
    assert abs(release.best()["x"] - 0.7) < 0.26
