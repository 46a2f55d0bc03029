# SPDX-License-Identifier: Apache-2.0
"""Studies over HTTPS: the suggestion service of docs/API.md.

Every request may be repeated: a suggestion carries a key, and a value is taken once. A service that is away or busy is
asked again for as long as patience lasts. The token is shown by nothing here, tracebacks included.
"""
from __future__ import annotations

import http.client
import json
import logging
import secrets
import ssl
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from tacet._native import in_python
from tacet.display import table
from tacet.errors import Denied, Error, InvalidValue, IOFailed, NotFound, of_status
from tacet.study import BaseStudy

_log = logging.getLogger("tacet.client")

_BY_WORD = {
    "invalid": "INVALID", "unauthorized": "DENIED", "forbidden": "DENIED", "not-found": "NOT_FOUND",
    "method": "UNSUPPORTED", "conflict": "CONFLICT", "state": "STATE", "budget": "BUDGET", "expired": "STATE",
    "too-large": "INVALID", "too-many-requests": "BUSY", "damaged": "CORRUPT", "unavailable": "BUSY",
}  # fmt: skip


class _Secret:
    """A token that nothing prints: not repr, not a traceback that shows variables."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "<token>"

    def __reduce__(self) -> Any:
        raise TypeError("a token is not pickled")


class Client:
    """A suggestion service, and who asks.

    >>> client = Client("https://localhost:8443", token="…", ca="keys/ca.pem")      # doctest: +SKIP
    >>> client.study("dose").suggest(person="p-17").params                            # doctest: +SKIP
    {'mg': 80.0}
    """

    def __init__(self, url: str, *, token: str | Path, ca: str | Path | None = None, patience: float = 10.0) -> None:
        """`token` is its text, or the path of the file that holds it; `ca` the authority that signed the service's
        certificate (the system's authorities, if left out)."""
        parts = urlsplit(url)
        if parts.scheme != "https" or not parts.hostname:
            raise InvalidValue(f"'{url}' is no address of a service: it begins with https://")
        self.url = url.rstrip("/")
        self.patience = patience
        self._token = _Secret(_token_text(token))
        self._host, self._port = parts.hostname, parts.port or 443
        try:
            self._tls = ssl.create_default_context(cafile=str(ca) if ca is not None else None)
        except FileNotFoundError:
            raise NotFound(f"{ca}: there is no such file") from None
        except ssl.SSLError:
            raise InvalidValue(f"{ca}: not a certificate in PEM form") from None
        self._connection: http.client.HTTPSConnection | None = None
        self._lock = threading.Lock()

    def study(self, name: str) -> RemoteStudy:
        """A study of the service, by its name."""
        return RemoteStudy(self, name)

    def studies(self) -> list[dict[str, Any]]:
        """The studies that the token may see."""
        return list(self._request("GET", "/v1/studies")["studies"])

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __reduce__(self) -> Any:
        raise TypeError("a client cannot be pickled: it holds a token and a connection; make another one")

    def _repr_html_(self) -> str:
        rows = [(s["name"], s["trust"], s["state"], s["suggested"], s.get("observed", "private")) for s in self.studies()]
        return table(["study", "trust", "state", "suggested", "observed"], rows)

    def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Asks until there is an answer, or patience ends."""
        deadline, pause = time.monotonic() + self.patience, 0.05
        while True:
            failure: Error
            status, text, failure_text = self._once(method, path, body)
            if failure_text is not None:
                failure = failure_text
            elif status < 300:
                return _object(text)
            else:
                failure = _problem(status, text)
                if status not in (429, 503):
                    raise failure
            if isinstance(failure, Denied) or time.monotonic() + pause > deadline:
                raise failure
            _log.info("%s: asked again in %.2g s", failure, pause)
            time.sleep(pause)
            pause = min(2 * pause, 2.0)

    def _once(self, method: str, path: str, body: dict[str, Any] | None) -> tuple[int, bytes, Error | None]:
        """One request. What goes wrong on the way is returned, not raised: no frame that holds the token is in any
        traceback."""
        with self._lock:
            connection = self._connection or http.client.HTTPSConnection(
                self._host, self._port, context=self._tls, timeout=75
            )
            self._connection = connection
            try:
                connection.request(
                    method, path, None if body is None else json.dumps(body, allow_nan=False),
                    {"Authorization": f"Bearer {self._token._text}", "Content-Type": "application/json"},
                )  # fmt: skip
                answer = connection.getresponse()
                return answer.status, answer.read(), None
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                kind, words = type(error), getattr(error, "verify_message", "") or getattr(error, "strerror", "")
            except BaseException:
                connection.close()
                self._connection = None
                raise
            self._connection = None
        if issubclass(kind, ssl.SSLCertVerificationError):
            return 0, b"", Denied(f"the certificate of {self.url} is not trusted: {words}")
        return 0, b"", IOFailed(f"cannot reach the service at {self.url}: {words or kind.__name__}")


class RemoteStudy(BaseStudy):
    """A study of a service: what its token's role may do.

    >>> study = client.study("dose")                          # doctest: +SKIP
    >>> study.suggest(context={"age": 44}).observe(0.7)       # doctest: +SKIP
    >>> study.trials_dataframe(everyone=True)                 # doctest: +SKIP
    """

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self.name = name
        self._path = f"/v1/studies/{quote(name, safe='')}"
        self._begin(self.status())

    def status(self) -> dict[str, Any]:
        return self._client._request("GET", self._path)

    def account(self) -> dict[str, Any]:
        return self._client._request("GET", self._path + "/ledger")

    def expire(self, *, number: int | None = None, older: float = 0.0) -> int:
        """Gives open tickets up, for owners: that of round `number`, or all that are `older` seconds old. Their reports
        are refused from then on. Gives how many there were."""
        which = {"older": int(older)} if number is None else {"number": number}
        return int(self._client._request("POST", self._path + "/expiry", which)["expired"])

    def archive(self) -> None:
        """Ends the study, for good."""
        self._client._request("POST", self._path + "/archive", {})

    def look(self, ticket: str, wait: float = 0.0) -> dict[str, Any]:
        """The state of a ticket; with `wait`, as soon as it is observed or that many seconds are over."""
        return self._client._request("GET", f"{self._path}/suggestions/{quote(ticket, safe='')}?wait={wait:g}")

    def _ask(self, round: dict[str, Any]) -> dict[str, Any]:
        return self._client._request("POST", self._path + "/suggestions", {"key": secrets.token_hex(16), **round})

    def _observe(self, ticket: str, value: float) -> bool:
        answer = self._client._request("POST", self._path + "/observations", {"ticket": ticket, "value": value})
        return bool(answer.get("clipped", False))

    def _fail(self, ticket: str) -> None:
        self._client._request("POST", self._path + "/observations", {"ticket": ticket, "failed": True})

    def _release(self) -> dict[str, Any]:
        return dict(self._client._request("POST", self._path + "/releases", {})["release"])

    def _best(self) -> dict[str, Any]:
        return self._client._request("GET", self._path + "/best")

    def _events(self, after: int) -> dict[str, Any]:
        return self._client._request("GET", f"{self._path}/events?after={after}")

    def _model(self) -> dict[str, Any]:
        return self._client._request("GET", self._path + "/model")


def _token_text(token: str | Path) -> str:
    text = token
    if isinstance(token, Path):
        try:
            text = token.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise NotFound(f"{token}: there is no such file") from None
    text = str(text).strip()
    if not text or not text.isascii() or any(c.isspace() for c in text):
        raise InvalidValue("a token is one word; a file that holds one is given as a pathlib.Path")
    return text


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise IOFailed("the service's answer is not JSON")
    return value


def _problem(status: int, text: bytes) -> Error:
    """The exception for a problem of RFC 9457."""
    try:
        problem = json.loads(text)
        word, detail = str(problem["type"]).rpartition(":")[2], str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        word, detail = "", f"the service answered {status}"
    return of_status(_BY_WORD.get(word, "IO"), in_python(detail))
