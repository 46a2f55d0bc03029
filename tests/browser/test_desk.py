# SPDX-License-Identifier: Apache-2.0
"""test_desk.py - the curator's desk in a browser."""
import os

from harness import CSS, Curator, Keys, NASTY, ask, browser, close, closing, log_in, press, says, scheme, screen, text, until

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKS = open(os.path.join(HERE, "checks.js"), encoding="utf-8").read()


def value_field(driver):
    return until("the field", lambda: next(e for e in driver.find_elements(CSS, "input[inputmode=decimal]") if e.is_displayed()))


def type_value(driver, words):
    field = value_field(driver)
    field.clear()
    field.send_keys(words, Keys.ENTER)


def test_a_person_answers_three_questions_and_ends_with_the_right_ledger(driver):
    with closing(Curator()) as curator:
        log_in(driver, curator.desk, curator.token)
        says(driver, "No question waits")
        says(driver, "by one unit (alone: 5 in age) at eps = 3, delta = 0, and any other change")  # both numbers
        says(driver, "only at eps = 60")
        assert curator.question("q1", 3)[0] == 202
        says(driver, "row 3")
        says(driver, NASTY + " 3")  # the ID column, and any text in it, as text
        assert driver.title != "owned" and not driver.find_elements(CSS, "img[src=x]")
        first = driver.find_element(CSS, "dl.record dt").text
        assert first == "patient", first
        assert value_field(driver) == driver.switch_to.active_element, "the field has the focus: keyboard first"
        type_value(driver, "0,5")
        says(driver, "use a decimal point")
        type_value(driver, "0.5")
        until("the answer", lambda: curator.answer("q1").get("value") == 0.5)
        assert curator.question("q2", 4)[0] == 202
        says(driver, "row 4")
        type_value(driver, "7")  # outside the range: asked for once more
        says(driver, "7 lies outside 0 to 1")
        assert curator.answer("q2")["status"] == "pending", "a value outside went out unconfirmed"
        press(driver, "Confirm this value")
        until("the confirmed value", lambda: curator.answer("q2").get("value") == 7)
        assert curator.question("q3", 5)[0] == 202
        says(driver, "row 5")
        value_field(driver).send_keys(Keys.ALT, "x", Keys.ALT)
        until("the row that cannot be measured", lambda: curator.answer("q3")["status"] == "failed")
        says(driver, "3 of 12 asked")
        shown = curator.ledger()
        queries = [e for e in shown["list"] if e["ticket"].startswith("query:")]
        assert [e["ticket"] for e in queries] == ["query:q1", "query:q2", "query:q3"]
        assert all(e["answered_by"] for e in queries) and shown["open"] == 0
        assert shown["head"] in until("the head of the ledger", lambda: shown["head"] in text(driver) and text(driver))
        says(driver, "measured value of row 5")
        press(driver, "signed receipt")
        until("the receipt is said", lambda: "receipt was made" in driver.find_element(CSS, ".said[role=status]").get_attribute("textContent"))


def test_a_wrong_token_stays_outside_and_the_modelers_address_has_no_desk(driver):
    with closing(Curator()) as curator:
        log_in(driver, curator.desk, "wrong")
        says(driver, "this is not the desk's token")
        log_in(driver, curator.desk, curator.modeler)  # the modeler's own token is none of the desk's
        says(driver, "this is not the desk's token")
        for path in ("/", "/app.js", "/v1/desk", "/v1/desk/ledger", "/v1/session"):
            assert ask(curator.url, "GET", path, curator.modeler)[0] == 404, path
        for path in ("/v1/desk", "/v1/desk/ledger", "/v1/desk/label", "/v1/desk/receipt", "/v1/desk/questions/q1"):
            assert ask(curator.desk, "GET", path)[0] == 401, path
            assert ask(curator.desk, "GET", path, curator.token)[0] == 401, "a token alone is no session"
        status, made, headers = ask(curator.desk, "POST", "/v1/session", body={"token": curator.token})
        cookie = headers["Set-Cookie"]
        assert status == 201 and all(w in cookie for w in ("__Host-", "HttpOnly", "Secure", "SameSite=Strict", "Path=/"))
        pair = cookie.split(";")[0]
        assert ask(curator.desk, "GET", "/v1/desk", headers={"Cookie": pair})[0] == 403, "a cookie without the guard"
        wrong = ("A" if made["guard"][0] != "A" else "B") + made["guard"][1:]
        assert ask(curator.desk, "GET", "/v1/desk", headers={"Cookie": pair, "X-Tacet-Guard": wrong})[0] == 403, "another guard"
        both = {"Cookie": pair, "X-Tacet-Guard": made["guard"]}
        assert ask(curator.desk, "GET", "/v1/desk", headers=both)[0] == 200
        assert ask(curator.desk, "GET", "/v1/desk", headers=dict(both, **{"Sec-Fetch-Site": "cross-site"}))[0] == 403
        assert ask(curator.desk, "DELETE", "/v1/session", headers=both)[0] == 200
        assert ask(curator.desk, "GET", "/v1/desk", headers=both)[0] == 401, "a session that was ended"
        page = ask(curator.desk, "GET", "/")[2]
        policy = page["Content-Security-Policy"]
        for words in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"):
            assert words in policy, policy
        assert "unsafe" not in policy and page["X-Content-Type-Options"] == "nosniff" and page["Referrer-Policy"] == "no-referrer"


def test_an_expired_session_leads_back_to_the_login(driver):
    with closing(Curator("--session-minutes", "0.05")) as curator:
        log_in(driver, curator.desk, curator.token)
        says(driver, "No question waits")
        curator.question("q1", 1)
        says(driver, "row 1")
        says(driver, "The session has ended", 20)  # nobody touched the page
        assert "row 1" not in text(driver), "a record stays on the page after the session"
        driver.find_element(CSS, "input[name=token]").send_keys(curator.token, Keys.ENTER)
        says(driver, "row 1")


def test_two_desks_answer_at_once_and_one_is_told(driver):
    other = browser()
    try:
        with closing(Curator()) as curator:
            for d in (driver, other):
                log_in(d, curator.desk, curator.token)
                says(d, "No question waits")
            curator.question("q1", 2)
            for d in (driver, other):
                says(d, "row 2")
            value_field(driver).send_keys("0.25")
            value_field(other).send_keys("0.75")
            value_field(driver).send_keys(Keys.ENTER)
            until("the first answer", lambda: curator.answer("q1").get("value") == 0.25)
            # The second desk sees that the question is gone; where it was quicker it is told.
            for field in other.find_elements(CSS, "input[inputmode=decimal]"):
                if field.is_displayed():
                    field.send_keys(Keys.ENTER)
            until("the question is gone", lambda: "was answered already" in text(other) or "No question waits" in text(other))
            assert curator.answer("q1")["value"] == 0.25
            assert len([e for e in curator.ledger()["list"] if e["ticket"] == "query:q1"]) == 1
    finally:
        close(other)


def test_the_server_is_killed_and_comes_back_while_the_page_is_open(driver):
    with closing(Curator()) as curator:
        log_in(driver, curator.desk, curator.token)
        says(driver, "No question waits")
        curator.question("q1", 6)
        says(driver, "row 6")
        curator.program.kill()
        says(driver, "the server is away")
        curator.program.start()
        says(driver, "Log in", 30)  # sessions end with the process
        driver.find_element(CSS, "input[name=token]").send_keys(curator.token, Keys.ENTER)
        says(driver, "row 6")  # what was asked is in the ledger
        type_value(driver, "0.5")
        until("the answer", lambda: curator.answer("q1").get("value") == 0.5)


def test_questions_pile_up_and_the_keyboard_walks_through_them(driver):
    with closing(Curator()) as curator:
        log_in(driver, curator.desk, curator.token)
        says(driver, "No question waits")
        for i in range(7):
            curator.question(f"q{i}", i)
        says(driver, "7 questions wait")
        says(driver, "row 0")
        value_field(driver).send_keys(Keys.ALT, "j", Keys.ALT)
        says(driver, "Question: row 1")
        value_field(driver).send_keys(Keys.ALT, "k", Keys.ALT)
        says(driver, "Question: row 0")
        value_field(driver).send_keys("0.1", Keys.ENTER)
        says(driver, "Question: row 1")


def test_a_command_that_fails_shows_at_the_desk_and_nowhere_else(driver):
    private = ("--eps-output", "1", "--range", "0:1")
    with closing(Curator(outputs=private, values=("--evaluate", "grep -q ',2[0-4],' && echo 0.5"))) as curator:
        log_in(driver, curator.desk, curator.token)
        says(driver, "Values come from a command")
        assert "Could not be measured" not in text(driver)
        curator.question("good", 2)
        until("a value", lambda: "value" in curator.answer("good"))
        assert "Could not be measured" not in text(driver)
        curator.question("bad", 9)
        says(driver, "A row could not be measured")
        rows = driver.find_elements(CSS, "[aria-label='Rows that could not be measured'] tbody tr")
        assert len(rows) == 1 and rows[0].find_elements(CSS, "td")[0].text == "9", [r.text for r in rows]
        good, bad = curator.answer("good"), curator.answer("bad")
        assert "value" in bad and sorted(bad) == sorted(good) and bad["status"] == good["status"], "the modeler cannot tell"
        check_looks(driver, "desk-missed")
    with closing(Curator(values=("--evaluate", "exit 3"))) as curator:  # nothing is randomised: the modeler is told
        log_in(driver, curator.desk, curator.token)
        says(driver, "Values come from a command")
        curator.question("q", 4)
        says(driver, "failed: ")
        assert "Could not be measured" not in text(driver)


def test_the_desk_passes_the_checks_light_and_dark_narrow_and_wide(driver):
    with closing(Curator()) as curator:
        driver.get(curator.desk + "/")
        until("the form", lambda: driver.find_element(CSS, "input[name=token]"))
        assert driver.execute_script(CHECKS) == []
        log_in(driver, curator.desk, curator.token)
        for i in range(7):
            curator.question(f"q{i}", i)
        says(driver, "7 questions wait")
        says(driver, "Head of the chain")
        check_looks(driver, "desk")
        complaints(driver)


def complaints(driver):
    """The browser's own: scripts that failed, what the policy of the page forbade. Statuses are the tests' own business."""
    severe = [line for line in driver.get_log("browser") if line["level"] == "SEVERE" and line["source"] != "network"]
    assert not severe, severe


def check_looks(driver, name):
    """The checks, light and dark, narrow and wide; pictures where they are wanted."""
    pictures = os.environ.get("TACET_PICTURES")
    for dark in (False, True):
        for width in (1280, 375):
            scheme(driver, dark)
            screen(driver, width, 900)
            driver.execute_async_script("setTimeout(arguments[0], 300)")  # charts are drawn anew for another width
            found = driver.execute_script(CHECKS)
            said = [s.text for s in driver.find_elements(CSS, ".notice.bad[role=alert]")]
            said = [s for s in said if s and "the modeler waits" not in s]  # the desk says so itself
            assert not said, (name, dark, width, said)
            if pictures:
                shot(driver, os.path.join(pictures, f"{name}-{'dark' if dark else 'light'}-{width}.png"), width)
            assert found == [], (name, dark, width, found)
    screen(driver, 1280, 900)


def shot(driver, path, width):
    height = min(3000, driver.execute_script("return document.documentElement.scrollHeight"))
    screen(driver, width, height)
    driver.save_screenshot(path)
    screen(driver, width, 900)
