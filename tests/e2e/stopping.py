# SPDX-License-Identifier: Apache-2.0
"""stopping.py URL CA TOKEN STUDIES TICKETS - A/B studies in which no arm is better, played over HTTPS by a public that
breaks what a test usually assumes: visitors who come twenty times in a row, each with a habit; traffic that changes
from ticket to ticket; and an arm of which six in ten who do not buy never report. Looks at each status once an epoch,
and prints in how many of each kind an arm was ever called ahead."""
import http.client
import json
import random
import ssl
import sys
import threading
import time
import urllib.parse

LANES, AT_ONCE = 4, 64


class Client:
    def __init__(self, url, ca, token):
        context = ssl.create_default_context(cafile=ca)
        at = urllib.parse.urlparse(url)
        self.line = http.client.HTTPSConnection(at.hostname, at.port, context=context, timeout=60)
        self.headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}

    def ask(self, method, path, body=None):
        """Asks again where the store is busy, for a minute: every request here may be repeated."""
        for _ in range(600):
            self.line.request(method, path, None if body is None else json.dumps(body), self.headers)
            answer = self.line.getresponse()
            said = json.loads(answer.read())
            if answer.status != 503:
                break
            time.sleep(0.1)
        assert answer.status < 300, (path, answer.status, said)
        return said


def visitors_with_habits(rng, ticket, state):
    if ticket % 20 == 0:
        state["habit"] = rng.random()
    return state["habit"]


def traffic_that_alternates(rng, ticket, state):
    return 0.5 if ticket % 2 == 0 else 0.1


def an_arm_that_does_not_report(rng, ticket, state):
    return 0.2


KINDS = (visitors_with_habits, traffic_that_alternates, an_arm_that_does_not_report)


def definition(name, tickets):
    column = {"name": "button", "levels": ["red", "blue"]}
    return {"name": name, "trust": "central", "policy": "ab", "budget": {"eps": 1}, "rounds": tickets,
            "domain": {"space": {"columns": [column]}}, "prior": {"reward": [0, 1]},
            "options": {"open_most": tickets}}  # fmt: skip


def play(client, kind, number, tickets):
    """One study to its end; whether an arm was ever claimed to be ahead."""
    path, rng, state, ticket, claimed = f"/v1/studies/k{kind}-{number}", random.Random(1000 * kind + number), {}, 0, False
    client.ask("POST", "/v1/studies", definition(f"k{kind}-{number}", tickets))
    while ticket < tickets:
        wanted = {"key": f"from-{ticket}", "count": min(AT_ONCE, tickets - ticket)}
        for one in client.ask("POST", path + "/suggestions", wanted)["suggestions"]:
            bought = rng.random() < KINDS[kind](rng, ticket, state)
            silent = kind == 2 and one["index"] == 1 and not bought and rng.random() < 0.6
            ticket += 1
            # A 0 that is reported counts as one that is not: so most are not sent, which takes less time.
            if bought or (kind == 2 and not silent and rng.random() < 0.2):
                client.ask("POST", path + "/observations", {"ticket": one["ticket"], "value": 1 if bought else 0})
        pairs = client.ask("GET", path)["test"]["pairs"]
        claimed = claimed or any(pair["claimed"] for pair in pairs)
    return claimed, client.ask("GET", path)["test"]["tickets"]


def main():
    url, ca, token, studies, tickets = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    todo = [(kind, number) for number in range(studies) for kind in range(len(KINDS))]
    wrong, faults, seen = [0] * len(KINDS), [], [0]

    def lane():
        try:
            client = Client(url, ca, token)
            while todo:
                kind, number = todo.pop()
                claimed, counted = play(client, kind, number, tickets)
                wrong[kind] += claimed
                seen[0] += counted
        except Exception as fault:
            faults.append(repr(fault))

    lanes = [threading.Thread(target=lane) for _ in range(LANES)]
    for one in lanes:
        one.start()
    for one in lanes:
        one.join()
    assert not faults, faults[0]
    print(json.dumps({"studies": studies, "tickets": tickets, "wrong": wrong, "released": seen[0]}))


if __name__ == "__main__":
    main()
