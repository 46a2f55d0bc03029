#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""terminal.py TRANSCRIPT ANSWERS COMMAND… - a person at a terminal, for tests.

ANSWERS has a line for each question: words of the question, a tab, what is typed. The next answer is typed when its words
have been printed since the last one and the cursor waits behind '> '. Exits with the command's code, or with 9 where a
question does not come in 60 seconds, or the command waits for more than there is."""
import os
import pty
import select
import sys
import time

transcript, answers, command = sys.argv[1], sys.argv[2], sys.argv[3:]
questions = [line.rstrip("\n").split("\t") for line in open(answers, encoding="utf-8") if line.strip()]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
said, since, end = "", "", time.monotonic() + 60
while True:
    ready = select.select([terminal], [], [], 0.5)[0]
    try:
        text = os.read(terminal, 65536).decode("utf-8", "replace") if ready else ""
    except OSError:  # the other end is closed
        break
    if ready and not text:
        break
    said, since = said + text, since + text
    if since.endswith("> ") and questions and questions[0][0] in since:
        os.write(terminal, (questions.pop(0)[1] + "\n").encode())
        since, end = "", time.monotonic() + 60
    if time.monotonic() > end:
        print(f"waited for {questions[0][0] if questions else 'the end'!r}; the terminal says: {since[-600:]!r}", file=sys.stderr)
        os.kill(child, 9)
        break
open(transcript, "w", encoding="utf-8").write(said.replace("\r\n", "\n"))
state = os.waitpid(child, 0)[1]
if questions:
    print(f"was never asked: {questions[0][0]!r}; the terminal says: {said[-600:]!r}", file=sys.stderr)
sys.exit(9 if questions or not os.WIFEXITED(state) else os.WEXITSTATUS(state))
