# SPDX-License-Identifier: Apache-2.0
"""test_board.py - the study board in a browser."""
import json
import math
import os
import tempfile
import time

from harness import (CSS, Keys, NASTY, Server, ab_study, ask, closing, contextual_study, local_study, log_in, press, run, says, space_study,
                     text, until)
from test_desk import check_looks, complaints


def play(url, token, study, rounds, left_open=0, context=False):
    """Rounds of a client over HTTPS: each is suggested and reported, the last ones stay open."""
    for i in range(rounds + left_open):
        status, made, _ = ask(url, "POST", f"/v1/studies/{study}/suggestions", token, {"context": [i % 10 / 10]} if context else {})
        assert status == 201, made
        if i < rounds:
            value = 1 - abs(made["action"][0] - 0.6)
            if not context:
                value = report_ends()[value > 0.6]
            status, said, _ = ask(url, "POST", f"/v1/studies/{study}/observations", token, {"ticket": made["ticket"], "value": value})
            assert status == 200, said


ENDS = {}


def report_ends(eps=4):
    """A report of the least reward and one of the largest, as the device's own program makes them."""
    if eps not in ENDS:
        with tempfile.TemporaryDirectory() as folder:
            found = set()
            for i in range(60):
                said = run("device", "report", "--ticket", str(i), "--value", str(i % 2), "--range", "0:1", "--eps", str(eps),
                           "--ledger", os.path.join(folder, "l.db"), *(["--budget-eps", "800"] if i == 0 else []), "--json")
                found.add(json.loads(said)["report"])
                if len(found) == 2:
                    break
            ENDS[eps] = sorted(found)
    return ENDS[eps]


def tab(driver, name):
    press(driver, name, "nav.tabs")


def fill_rounds(server, study, count):
    """A log of so many rounds, by sixteen clients at once."""
    token = server.token("owner", study, "filler")
    import concurrent.futures
    import http.client
    import ssl
    from urllib.parse import urlparse
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

    def work(part):
        where = urlparse(server.url)
        link = http.client.HTTPSConnection(where.hostname, where.port, context=context, timeout=30)
        head = {"Authorization": "Bearer " + token}

        def send(path, body):
            link.request("POST", f"/v1/studies/{study}/{path}", json.dumps(body), head)
            return json.loads(link.getresponse().read())
        for i in range(part):
            made = send("suggestions", {})
            send("observations", {"ticket": made["ticket"], "value": report_ends()[i % 2]})
    report_ends()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(work, [count // 16] * 16))


def test_an_owner_sees_rounds_tickets_and_tokens_and_text_stays_text(driver):
    with closing(Server()) as server:
        server.study(local_study())
        owner = server.token("owner", None, NASTY)
        device = server.token("device", "slides", "phone " + NASTY[:40])
        server.start()
        play(server.url, device, "slides", 12, left_open=2)
        log_in(driver, server.url, owner)
        says(driver, "14 of 20000 rounds used")
        says(driver, f"Made up {NASTY}")
        says(driver, "phone " + NASTY[:40])  # who holds the open tickets
        assert driver.title != "owned" and not driver.find_elements(CSS, "img[src=x]")
        says(driver, "best predicted")
        says(driver, "rounds of one person")
        play(server.url, device, "slides", 1)
        says(driver, "15 of 20000 rounds used")  # without reloading
        tab(driver, "Posterior")
        says(driver, "Every point of the domain")
        assert driver.find_element(CSS, "svg.chart")
        tab(driver, "Rounds")
        until("rows", lambda: len(driver.find_elements(CSS, ".list tbody tr")) > 20)
        tab(driver, "Releases")
        press(driver, "Make a release")
        says(driver, "Download release 1")
        tab(driver, "Ledger")
        says(driver, "each device")
        tab(driver, "Tokens")
        says(driver, "phone")
        label = until("the label's field", lambda: driver.find_element(CSS, "input[maxlength='60']"))
        label.send_keys(NASTY)
        press(driver, "Make a token")
        says(driver, "it is not shown again")
        made = driver.find_element(CSS, ".secret").text
        assert ask(server.url, "GET", "/v1/studies/slides", made)[0] == 200, "the token that was made is good"
        rows = driver.find_elements(CSS, "tbody tr")
        number = rows[-1].find_elements(CSS, "td")[0].text
        driver.find_element(CSS, f"button[aria-label='Renew token {number}']").click()
        until("another text", lambda: driver.find_element(CSS, ".secret").text != made)
        renewed = driver.find_element(CSS, ".secret").text
        driver.find_element(CSS, f"button[aria-label='End token {number}']").click()
        until("the row is gone", lambda: not driver.find_elements(CSS, f"button[aria-label='End token {number}']"))
        until("the token is refused", lambda: ask(server.url, "GET", "/v1/studies/slides", renewed)[0] == 401)
        assert driver.title != "owned" and not driver.find_elements(CSS, "img[src=x]")


def test_an_owner_ends_open_tickets_after_being_asked_and_their_reports_are_refused(driver):
    with closing(Server()) as server:
        server.study(local_study())
        owner, device = server.token("owner"), server.token("device", "slides", "phone")
        server.start()
        tickets = [ask(server.url, "POST", "/v1/studies/slides/suggestions", device, {})[1]["ticket"] for _ in range(4)]
        report = lambda t: ask(server.url, "POST", "/v1/studies/slides/observations", device, {"ticket": t, "value": report_ends()[0]})[0]
        held = lambda: len(ask(server.url, "GET", "/v1/studies/slides/tickets", owner)[1]["tickets"])
        log_in(driver, server.url, owner)
        one = until("a button", lambda: driver.find_element(CSS, "button[aria-label='End the ticket of round 2']"))
        one.click()
        says(driver, "Refuse its report?")
        assert held() == 4, "nothing ends before the second press"
        play(server.url, device, "slides", 1)  # a round meanwhile: the question stays
        time.sleep(1.5)
        until("the button", lambda: "Refuse its report?" in text(driver))
        driver.find_element(CSS, "button[data-sure]").click()
        until("one ended", lambda: held() == 3)
        until("its row is gone", lambda: not driver.find_elements(CSS, "button[aria-label='End the ticket of round 2']"))
        assert report(tickets[1]) == 410 and report(tickets[0]) == 200
        press(driver, "End all open tickets")
        driver.find_element(CSS, "nav.tabs button").send_keys(Keys.TAB)  # looking elsewhere takes it back
        until("the question is gone", lambda: not driver.find_elements(CSS, "button[data-sure]"))
        assert held() == 2
        press(driver, "End all open tickets")
        press(driver, "for good: their reports are refused")
        until("all ended", lambda: held() == 0)
        assert report(tickets[2]) == 410 and report(tickets[3]) == 410
        assert "Archive the study" in text(driver)


def test_a_wrong_token_a_device_and_an_analyst_see_what_they_may(driver):
    with closing(Server()) as server:
        server.study(local_study())
        server.study(local_study("others"))
        analyst, device = server.token("analyst", "slides"), server.token("device", "slides")
        server.start()
        log_in(driver, server.url, "tacet_wrong")
        says(driver, "there is no such token")
        log_in(driver, server.url, device)
        says(driver, "the board is for owners and analysts")
        log_in(driver, server.url, analyst)
        says(driver, "Who holds them is shown to owners")
        assert "others" not in text(driver), "a study of which the token is not"
        assert not any(b.text == "Tokens" for b in driver.find_elements(CSS, "nav.tabs button"))
        assert "Archive" not in text(driver)
        # The page's own session, asked for what the role may not: the routes refuse, not the page.
        asked = driver.execute_async_script("""
            const done = arguments[0];
            (async () => {
              const guard = (await (await fetch('/v1/session')).json()).guard;
              const head = {'X-Tacet-Guard': guard};
              const code = async (m, p, h) => (await fetch(p, {method: m, headers: h, body: m === 'POST' ? '{}' : undefined})).status;
              done([await code('GET', '/v1/tokens', head), await code('GET', '/v1/studies/slides/tickets', head),
                    await code('GET', '/v1/studies/others', head), await code('POST', '/v1/studies/slides/suggestions', head),
                    await code('GET', '/v1/studies', head), await code('GET', '/v1/studies', {}), await code('POST', '/v1/studies/slides/archive', head),
                    await code('POST', '/v1/studies/slides/expiry', head)]);
            })();""")
        assert asked == [403, 403, 403, 403, 200, 403, 403, 403], asked
        assert driver.execute_script("return document.cookie") == "", "no script reads the session"


def test_an_expired_session_and_a_withdrawn_token_lead_back_to_the_login(driver):
    with closing(Server("--session-minutes", "0.06")) as server:
        server.study(local_study())
        owner = server.token("owner")
        server.start()
        log_in(driver, server.url, owner)
        says(driver, "rounds used")
        says(driver, "The session has ended", 20)  # nobody touched the page
        driver.find_element(CSS, "input[name=token]").send_keys(owner, Keys.ENTER)
        says(driver, "rounds used")


def test_the_server_is_killed_and_comes_back_while_the_board_is_open(driver):
    with closing(Server()) as server:
        server.study(local_study())
        owner = server.token("owner")
        server.start()
        log_in(driver, server.url, owner)
        says(driver, "0 of 20000 rounds used")
        server.program.kill()
        says(driver, "the server is away")
        server.program.start()
        says(driver, "Log in")
        driver.find_element(CSS, "input[name=token]").send_keys(owner, Keys.ENTER)
        says(driver, "0 of 20000 rounds used")


def test_a_contextual_study_has_slices_and_its_rewards_are_shown_to_nobody(driver):
    with closing(Server()) as server:
        server.study(contextual_study())
        owner = server.token("owner")
        server.start()
        play(server.url, owner, "doses", 102, context=True)
        log_in(driver, server.url, owner)
        says(driver, "102 of 400 rounds used")
        drawn = ask(server.url, "GET", "/v1/studies/doses/figures/variants", owner)[1]
        words = [w for s in drawn["series"] for w in s["words"]]
        groups = drawn["y"]["levels"]
        until("every group", lambda: [t.text for t in driver.find_elements(CSS, "svg.chart .tick text")][:len(groups)] == groups)
        assert sorted(t.get_attribute("textContent") for t in driver.find_elements(CSS, "svg.chart .spot title")) == sorted(words)
        check_looks(driver, "board-contextual")
        tab(driver, "Posterior")
        says(driver, "for the context that is set above")
        before = driver.find_element(CSS, "svg.chart").get_attribute("outerHTML")
        driver.execute_script("document.querySelector('input[type=range]').focus()")
        for _ in range(5):  # the slider keeps the focus while the picture is drawn anew
            time.sleep(0.2)
            until("the slider has the focus", lambda: driver.switch_to.active_element.get_attribute("type") == "range")
            driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        until("another slice", lambda: driver.find_element(CSS, "svg.chart").get_attribute("outerHTML") != before)
        time.sleep(0.3)

        def both():  # mean and error; the last step of the slider may still be drawn, and takes the list with it
            if len(driver.find_elements(CSS, "svg.chart rect")) != 2 * 441:
                driver.find_elements(CSS, "section select")[1].send_keys("context 1")
                time.sleep(1)
            return len(driver.find_elements(CSS, "svg.chart rect")) == 2 * 441
        until("two columns", both)
        tab(driver, "Rounds")
        says(driver, "are shown to nobody")
        events = ask(server.url, "GET", "/v1/studies/doses/events", owner)[1]["events"]
        assert len(events) == 102 and not any("value" in e or "index" in e for e in events)


def play_space(server, token, rounds):
    """Rounds over the space: adam with a rate near .01 is best."""
    send = lambda path, body: until(path, lambda: (lambda a: a if a[0] in (200, 201) else None)(ask(server.url, "POST", f"/v1/studies/recipe/{path}", token, body)))[1]
    for i in range(rounds):  # a busy server says 503, and the same key gets the same round
        made = send("suggestions", {"key": f"round-{i}"})
        p = made["point"]
        value = max(0, 1 - abs(math.log10(p["rate"]) + 2) / 2) * (1 if p["optimizer"] == "adam" else 0.3)
        send("observations", {"ticket": made["ticket"], "value": value})


def test_a_study_over_a_space_is_shown_in_its_own_units_and_its_best_is_the_release_s(driver):
    with closing(Server()) as server:
        server.study(space_study())
        owner = server.token("owner")
        server.start()
        play_space(server, owner, 300)
        best = ask(server.url, "GET", "/v1/studies/recipe/best", owner)[1]
        released = ask(server.url, "POST", "/v1/studies/recipe/releases", owner, {})[1]["release"]
        assert released["point"] == best["point"]
        log_in(driver, server.url, owner)
        tile = until("the tile", lambda: driver.find_element(CSS, "[data-best]"))
        assert json.loads(tile.get_attribute("data-best")) == best["point"]
        point = best["point"]
        assert f"rate {float(format(point['rate'], '.4g')):g}" in tile.text, tile.text
        for name in ("layers", "optimizer", "since"):  # a level by its name, a date as one
            assert f"{name} {point[name]}" in tile.text, (name, tile.text)
        assert f"{best['mean']:.4g}" in tile.text
        # The posterior: through the best point, powers of ten under the log column, levels and dates by name.
        tab(driver, "Posterior")
        says(driver, "rate, log scale")
        marks = lambda: [t.text for t in driver.find_elements(CSS, "svg.chart .tick text")]
        until("powers of ten", lambda: {"0.0001", "0.001", "0.01", "0.1", "1"} <= set(marks()))
        chosen = driver.find_elements(CSS, "section select")[2]  # the optimizer's, after the two of the axes
        assert [o.text for o in chosen.find_elements(CSS, "option")] == ["sgd", "adam", "lion <b>"]
        until("the best point's level", lambda: chosen.find_element(CSS, "option:checked").text == point["optimizer"])
        assert driver.find_element(CSS, "input[type=date]").get_attribute("value") == point["since"]
        first = driver.find_elements(CSS, "section select")[0]
        first.send_keys("optimizer")
        until("levels", lambda: {"sgd", "adam", "lion <b>"} <= set(marks()))
        driver.find_elements(CSS, "section select")[1].send_keys("since")
        until("two columns", lambda: len(driver.find_elements(CSS, "svg.chart rect")) == 3 * 21)
        until("dates", lambda: any(m.startswith("2023-") or m.startswith("2024-") for m in marks()))
        title = driver.find_element(CSS, "svg.chart rect title").get_attribute("textContent")
        assert title.startswith("optimizer sgd, since 2023-01-01: "), title
        # A link leads to the same view; a round to what was tried.
        link = driver.current_url
        assert "#recipe/posterior?x=2&y=3" in link, link
        driver.get("about:blank")
        driver.get(link)
        until("the same view", lambda: len(driver.find_elements(CSS, "svg.chart rect")) == 3 * 21)
        tab(driver, "Rounds")
        event = next(e for e in ask(server.url, "GET", "/v1/studies/recipe/events?after=590", owner)[1]["events"] if e["kind"] == "suggested")
        says(driver, f"optimizer {event['point']['optimizer']}, since {event['point']['since']}")
        driver.find_element(CSS, f"button[aria-label='Details of round {event['number']}']").click()
        says(driver, f"Round {event['number']}")
        details = driver.find_element(CSS, "[data-round]").text
        assert event["point"]["since"] in details and "observed" in details, details
        assert not driver.find_elements(CSS, "b"), "a level's name became markup"
        for name in ("Overview", "Posterior", "Rounds"):
            tab(driver, name)
            until("the tab", lambda: driver.find_element(CSS, "nav.tabs [aria-current=page]").text == name)
            time.sleep(0.4)
            check_looks(driver, f"board-space-{name.lower()}")
        complaints(driver)


def test_an_ab_study_says_whether_one_may_stop_and_what_it_hides(driver):
    with closing(Server("--address-rate", "100000")) as server:
        server.study(ab_study())
        owner = server.token("owner")
        server.start()
        log_in(driver, server.url, owner)
        says(driver, "Not yet: nothing has been released")
        sums = {"blue": 0.2, "green": 0.25, "red <b>": 0.8}
        shown = 0
        while shown < 1000:  # the first epoch has 750 tickets, the second 225
            for one in ask(server.url, "POST", "/v1/studies/button/suggestions", owner, {"count": 64})[1]["suggestions"]:
                shown += 1
                value = float(shown * 0.618034 % 1 < sums[one["point"]["colour"]])
                assert ask(server.url, "POST", "/v1/studies/button/observations", owner, {"ticket": one["ticket"], "value": value})[0] == 200
        status = ask(server.url, "GET", "/v1/studies/button", owner)[1]
        pairs = {(p["arm"], p["over"]): p for p in status["test"]["pairs"]}
        least = min(pairs["red <b>", other]["lower"] for other in ("blue", "green"))
        assert least > 0, status["test"]
        says(driver, f"Yes: red <b> earns at least {float(format(least, '.3g')):g} more than any other arm.")
        until("every arm", lambda: sorted(t.text for t in driver.find_elements(CSS, "svg.chart .tick text") if t.text[:1].isalpha()) == sorted(sums))
        said = [t.get_attribute("textContent") for t in driver.find_elements(CSS, "svg.chart .spot title")]
        assert said == [f"{a['arm']}: {a['mean']:.4g}, from {a['lower']:.4g} to {a['upper']:.4g}" for a in status["test"]["arms"]], said
        check_looks(driver, "board-ab")
        tab(driver, "Posterior")
        until("the other arms", lambda: sorted(t.text for t in driver.find_elements(CSS, "svg.chart .tick text") if t.text[:1].isalpha()) == ["blue", "green"])
        row = until("the table", lambda: next(r.text for r in driver.find_elements(CSS, "tbody tr") if r.text.startswith("red <b> blue")))
        one = pairs["red <b>", "blue"]
        assert all(f"{float(format(one[name], '.3g')):g}" in row for name in ("difference", "lower", "upper")), (row, one)
        check_looks(driver, "board-ab-pairs")
        # The label: word for word what the command writes.
        tab(driver, "Label")
        says(driver, "What an attacker can reach")
        path = os.path.join(server.folder, "status.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(status, f)
        written = run("disclose", path)
        flat = lambda words: " ".join(words.split())
        for part in driver.find_elements(CSS, ".label p"):
            assert flat(part.text) in flat(written), part.text
        assert "guessing blindly" in driver.find_element(CSS, ".label svg.odds").text
        check_looks(driver, "board-label")
        assert not driver.find_elements(CSS, "b"), "an arm's name became markup"
        complaints(driver)


def test_two_columns_have_contours_and_their_error_beside_them_and_a_round_closes_no_list(driver):
    with closing(Server()) as server:
        server.study({**local_study("map"), "domain": {"points": [[i / 7, j / 5] for i in range(8) for j in range(6)]}})
        owner = server.token("owner")
        server.start()
        play(server.url, owner, "map", 20)
        log_in(driver, server.url, owner)
        says(driver, "20 of 20000 rounds used")
        driver.get(server.url + "/#map/posterior?x=0&y=1")
        driver.refresh()
        until("both pictures", lambda: len(driver.find_elements(CSS, "svg.chart")) == 2)
        until("contours", lambda: len(driver.find_elements(CSS, "svg.chart path.contour")) >= 2)
        names = [t.text for t in driver.find_elements(CSS, "svg.chart text.name")]
        points = ask(server.url, "GET", "/v1/studies/map/posterior", owner)[1]["points"]
        for kind, field_ in (("mean", "mean"), ("error", "sd")):
            values = [p[field_] for p in points]
            assert any(n.startswith(f"{kind}, from {min(values):.4g} (faint) to {max(values):.4g}") for n in names), (kind, names)
        select, before = driver.find_elements(CSS, "section select")[1], driver.find_element(CSS, "svg.chart").get_attribute("outerHTML")
        select.click()
        play(server.url, owner, "map", 1)
        until("another picture", lambda: driver.find_element(CSS, "svg.chart").get_attribute("outerHTML") != before)
        assert select.is_displayed() and driver.switch_to.active_element == select, "the list was drawn anew"
        select.send_keys(Keys.ESCAPE)
        check_looks(driver, "board-map")
        tab(driver, "Rounds")
        until("the contours are gone", lambda: not driver.find_elements(CSS, "svg.chart path.contour"))
        select = until("the list", lambda: driver.find_element(CSS, "section select"))
        play(server.url, owner, "map", 1)
        says(driver, "45")
        assert select.is_displayed(), "the list was drawn anew"
        complaints(driver)


def test_a_local_study_over_a_space_is_shown_in_its_own_units(driver):
    with closing(Server()) as server:
        server.study(space_study(trust="local"))
        owner = server.token("owner")
        server.start()
        for i in range(12):
            made = ask(server.url, "POST", "/v1/studies/recipe/suggestions", owner, {})[1]
            assert ask(server.url, "POST", "/v1/studies/recipe/observations", owner, {"ticket": made["ticket"], "value": report_ends(8)[i % 2]})[0] == 200
        best = ask(server.url, "GET", "/v1/studies/recipe/best", owner)[1]
        log_in(driver, server.url, owner)
        tile = until("the tile", lambda: driver.find_element(CSS, "[data-best]"))
        assert json.loads(tile.get_attribute("data-best")) == best["point"]
        tab(driver, "Posterior")
        says(driver, "rate, log scale")
        mean = {tuple(p["at"]): p["mean"] for p in ask(server.url, "GET", "/v1/studies/recipe/posterior", owner)[1]["points"]}
        assert max(mean.values()) == best["mean"] and len(mean) > 200
        assert len(driver.find_elements(CSS, "svg.chart .spot")) == len(mean)
        check_looks(driver, "board-space-local")
        complaints(driver)


def test_ten_thousand_rounds_stay_smooth(driver):
    with closing(Server("--address-rate", "100000")) as server:
        server.study(local_study("many", count=10))
        owner = server.token("owner")
        server.start()
        fill_rounds(server, "many", 10000)
        log_in(driver, server.url, owner)
        says(driver, "10000 of 20000 rounds used", 60)
        measure = """
            const done = arguments[0], gaps = [], list = document.querySelector('.list:not(.short)');
            let last = performance.now(), steps = 0;
            const work = [];
            new PerformanceObserver((l) => l.getEntries().forEach((e) => work.push(e.duration))).observe({type: 'longtask'});
            const frame = (now) => {
              gaps.push(now - last); last = now;
              if (list) list.scrollTop = (steps * 5237) % list.scrollHeight;
              if (++steps < 120) requestAnimationFrame(frame);
              else { gaps.sort((a, b) => a - b); done({median: gaps[60], p95: gaps[114], rows: document.querySelectorAll('.list tbody tr').length, long: work.length}); }
            };
            requestAnimationFrame(frame);"""
        tab(driver, "Rounds")
        says(driver, "Reports were randomised")
        until("the rows", lambda: len(driver.find_elements(CSS, ".list tbody tr")) > 10)
        found = driver.execute_async_script(measure)
        tab(driver, "Overview")
        says(driver, "What it costs")
        over = driver.execute_async_script(measure)
        print(f"        10,000 rounds: a frame takes {found['median']:.0f} ms while the table scrolls (95 in 100 below {found['p95']:.0f} ms); on the overview {over['median']:.0f} ms")
        assert found["rows"] < 100, "rows out of sight are in the document"
        # The promise is a frame under 50 ms; a machine that does other things gets three times that.
        assert found["median"] < 50 and over["median"] < 50 and found["p95"] < 150, (found, over)
        assert ask(server.url, "GET", "/v1/studies/many", owner)[1]["observed"] == 10000


def test_the_board_passes_the_checks_light_and_dark_narrow_and_wide(driver):
    with closing(Server()) as server:
        server.study(local_study())
        owner = server.token("owner", None, "Ada")
        device = server.token("device", "slides", "phone of the ward")
        server.start()
        play(server.url, device, "slides", 30, left_open=3)
        log_in(driver, server.url, owner)
        says(driver, "33 of 20000 rounds used")
        for name in ("Overview", "Posterior", "Rounds", "Releases", "Ledger", "Label", "Tokens"):
            tab(driver, name)
            until("the tab", lambda: driver.find_element(CSS, "nav.tabs [aria-current=page]").text == name)
            time.sleep(0.4)
            check_looks(driver, f"board-{name.lower()}")
        # The order of focus follows the page: from the skip link through the chooser and the tabs into the content.
        driver.get(server.url + "/")
        says(driver, "rounds used")
        order = []
        for _ in range(10):
            driver.switch_to.active_element.send_keys(Keys.TAB)
            order.append(driver.switch_to.active_element.tag_name)
        assert order[:3] == ["a", "select", "button"], order
        complaints(driver)


def labelled(driver, words):
    """The field with this label."""
    label = until(f"the label {words!r}", lambda: next(e for e in driver.find_elements(CSS, "main label") if e.text.startswith(words)))
    return driver.find_element(CSS, f"#{label.get_attribute('for')}")


def test_a_study_is_previewed_made_and_extended(driver):
    with closing(Server()) as server:
        server.study(local_study())
        owner, one = server.token("owner"), server.token("owner", "slides")
        server.start()
        log_in(driver, server.url, one)
        says(driver, "rounds used")
        assert "New study" not in text(driver), "a token of one study makes no other"
        press(driver, "Log out")
        log_in(driver, server.url, owner)
        tab(driver, "New study")
        labelled(driver, "Name").send_keys("made")
        labelled(driver, "Columns").send_keys("rate log 0.0001 1\nlayers integer 1 8\nkind category sgd adam\nsince date 2023-01-01 2024-12-31")
        make = next(b for b in driver.find_elements(CSS, "main button") if b.text == "Create it")
        assert not make.is_enabled(), "nothing is made unseen"
        press(driver, "Preview")
        definition = {"name": "made", "trust": "central", "direction": "maximize", "budget": {"eps": 1}, "rounds": 1000, "prior": {"reward": [0, 1]},
                      "domain": {"space": {"columns": [{"name": "rate", "kind": "log", "bounds": [0.0001, 1]}, {"name": "layers", "kind": "integer", "bounds": [1, 8]},
                                                       {"name": "kind", "kind": "category", "levels": ["sgd", "adam"]}, {"name": "since", "kind": "date", "bounds": ["2023-01-01", "2024-12-31"]}]}}}
        status, dry, _ = ask(server.url, "POST", "/v1/studies?dry_run=true", owner, definition)
        assert status == 200, dry
        outlook = dry["outlook"]
        says(driver, f"{outlook['points']} points")
        says(driver, f"about {float(format(outlook['gain'], '.2g')):g} more than a point at random")
        says(driver, f"A point is played {outlook['each']} rounds" if outlook["each"] > 1 else "the first answer needs one round")
        assert ask(server.url, "GET", "/v1/studies/made", owner)[0] == 404
        check_looks(driver, "board-new")
        until("the button", make.is_enabled)
        make.click()
        says(driver, "0 of 1000 rounds used")
        assert "#made/overview" in driver.current_url or driver.find_element(CSS, "select option:checked").text == "made"
        assert ask(server.url, "GET", "/v1/studies/made", owner)[1]["definition"]["domain"]["space"] == dry["definition"]["domain"]["space"]
        complaints(driver)
        tab(driver, "New study")  # what the server refuses, it says
        labelled(driver, "Name").send_keys("Not A Name")
        press(driver, "Preview")
        until("the refusal", lambda: any(e.text for e in driver.find_elements(CSS, "form .notice.bad")))
        driver.get(server.url + "/#slides/overview")
        driver.refresh()
        rounds = labelled(driver, "Rounds in all")
        rounds.clear()
        rounds.send_keys("30000")
        press(driver, "Extend")
        says(driver, "of 30000 rounds used")
        assert ask(server.url, "GET", "/v1/studies/slides", owner)[1]["rounds_left"] == 30000
