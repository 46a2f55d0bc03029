# SPDX-License-Identifier: Apache-2.0
"""Services without the command line: keys, stores of studies, who may ask, and a server in this process."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, Sequence

from tacet._native import Handle
from tacet.display import table
from tacet.trusted._lib import ffi, lib, native

_HOSTS = ("localhost", "127.0.0.1", "::1")


def server_keys(folder: str | Path, *, hosts: Sequence[str] = _HOSTS, days: int = 365) -> Path:
    """Makes the keys of a server, signed by an authority of its own; gives the authority's file, for the clients. Keys
    in use are not replaced (Conflict).

    >>> ca = server_keys("server-keys/", hosts=["studies.example.org"])               # doctest: +SKIP
    """
    _keys(lib.tacet_keys_server, folder, hosts, days, "tacet server")
    return Path(folder) / "ca.pem"


def desk_keys(folder: str | Path, *, hosts: Sequence[str] = _HOSTS, days: int = 365, name: str = "tacet study") -> Path:
    """Makes the keys of a desk, and the folder for its modeler, which it gives: certificate, token, authority.

    >>> hand_over = desk_keys("keys/")                                                # doctest: +SKIP
    """
    _keys(lib.tacet_keys_curator, folder, hosts, days, name)
    return Path(folder) / "modeler"


def _keys(make: Any, folder: str | Path, hosts: Sequence[str], days: int, authority: str) -> None:
    texts = [ffi.new("char[]", str(text).encode()) for text in (folder, authority, *hosts)]
    listed = ffi.new("const char *[]", texts[2:])
    request = ffi.new("tacet_keys_request *")
    request.folder, request.authority, request.hosts, request.host_count, request.days = *texts[:2], listed, len(hosts), days
    native.call(make, request)


class Store:
    """A store of studies, a folder or postgresql://…: what is in it, who may ask, whether it holds together.

    >>> store = Store("studies/")                                                     # doctest: +SKIP
    >>> token = store.token("device", study="dose", days=30)                          # doctest: +SKIP
    """

    def __init__(self, place: str | Path) -> None:
        self.place = str(place)
        self._text = ffi.new("char[]", self.place.encode())
        self._place = ffi.new("tacet_store_place *", {"store": self._text})

    def _told(self, function: Any, *arguments: Any) -> list[dict[str, Any]]:
        answer = json.loads(native.returned(function, self._place, *arguments))
        return list(next(iter(answer.values())))

    def studies(self) -> list[dict[str, Any]]:
        """Name, trust, state and counts of each."""
        return self._told(lib.tacet_store_list)

    def archive(self, study: str) -> None:
        """Ends a study, for good."""
        native.call(lib.tacet_store_archive, self._place, study.encode())

    def expire(self, study: str, *, older: int = 0, token: int = 0) -> int:
        """Gives up open tickets that are so many seconds old, of the token with this number or of all; how many."""
        out = ffi.new("uint64_t *")
        native.call(lib.tacet_store_expire, out, self._place, study.encode(), older, token)
        return int(out[0])

    def token(
        self,
        role: Literal["device", "analyst", "owner"],
        *,
        study: str | None = None,
        label: str = "",
        days: float = 0.0,
        open_most: int = 0,
        rounds_most: int = 0,
    ) -> str:
        """Makes a token, for one study or for all; its text is told once, here. `days`: how long it is good (0: until it
        is withdrawn); `open_most`, `rounds_most`: its quotas."""
        kept = {"role": ffi.new("char[]", role.encode()), "label": ffi.new("char[]", label.encode())}
        if study is not None:
            kept["study"] = ffi.new("char[]", study.encode())
        fields = {**kept, "days": days, "open_most": open_most, "rounds_most": rounds_most}
        request, out = ffi.new("tacet_token_request *", fields), ffi.new("char[47]")
        native.call(lib.tacet_store_token, out, self._place, request)
        return native.text(out)

    def tokens(self) -> list[dict[str, Any]]:
        """Every token without its text: id, role, study, label, created, expires, quotas."""
        return self._told(lib.tacet_store_tokens)

    def renew(self, number: int, *, days: float = 0.0, grace: int = 0) -> str:
        """Another text for a token; the old one is good for `grace` seconds still."""
        out = ffi.new("char[47]")
        native.call(lib.tacet_store_token_renew, out, self._place, number, days, grace)
        return native.text(out)

    def withdraw(self, number: int) -> None:
        """A token is good no longer."""
        native.call(lib.tacet_store_token_drop, self._place, number)

    def check(self) -> list[dict[str, Any]]:
        """Reads everything and verifies the ledgers. Corrupt names the first thing that is wrong."""
        return self._told(lib.tacet_store_check)

    def backup(self, folder: str | Path) -> None:
        """Copies a store in a folder into another one, which is made, while servers run."""
        native.call(lib.tacet_store_backup, self.place.encode(), str(folder).encode())

    def __repr__(self) -> str:
        return f"Store({self.place!r})"

    def _repr_html_(self) -> str:
        rows = [(s["name"], s["trust"], s["state"], s["suggested"]) for s in self.studies()]
        return table(["study", "trust", "state", "suggested"], rows, self.place)


class Server(Handle):
    """The service of docs/API.md in this process, with threads of its own, until it is closed.

    >>> with Server("studies/", keys="server-keys/", listen="127.0.0.1:0") as server:   # doctest: +SKIP
    ...     client = tacet.Client(server.url, token=token, ca="server-keys/ca.pem")
    """

    def __init__(
        self, store: str | Path, *, keys: str | Path, listen: str = "127.0.0.1:8443", rate: float = 20000.0
    ) -> None:
        """`keys`: the folder of `server_keys`. `rate`: requests a second of a token."""
        settings = ffi.new("tacet_server_settings *")
        lib.tacet_server_defaults(settings)
        self._texts = [ffi.new("char[]", str(text).encode()) for text in (store, keys, listen)]
        settings.store.store, settings.keys, settings.listen = self._texts
        settings.store.create, settings.rate = True, rate
        out = ffi.new("tacet_server **")
        native.call(lib.tacet_server_start, out, settings)
        super().__init__(out[0], lib.tacet_server_stop, "server")
        self.store = Store(store)
        self.url = f"https://{listen.rpartition(':')[0]}:{lib.tacet_server_port(out[0])}"

    def __repr__(self) -> str:
        return f"Server({self.url!r}{', closed' if self.closed else ''})"

    def _repr_html_(self) -> str:
        return table(["server", self.url], []) + self.store._repr_html_()
