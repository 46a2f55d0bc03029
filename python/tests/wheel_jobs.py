# SPDX-License-Identifier: Apache-2.0
"""The jobs that an installed wheel must do by itself: run by tests/python/wheels.sh and tools/wheels-check in an
environment that has nothing but Python. Prints what it did; fails where a library of the machine was loaded that the
wheels should have brought."""
from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import tacet

work = Path(tempfile.mkdtemp())
os.environ["TACET_STATE"] = str(work / "state")
print(tacet.calibrate.gaussian(eps=1, delta=1e-5))
print(tacet.plan("local", eps=[1, 4], effect=0.1, given=2000))
if len(sys.argv) > 1 and sys.argv[1] == "open":
    try:
        import tacet.trusted  # noqa: F401
    except ImportError:
        print("tacet.trusted cannot be imported")
        sys.exit(0)
    sys.exit("tacet alone has trusted code")

from tacet import trusted  # noqa: E402

space = tacet.Space(age=tacet.Real(18, 90, unit=5), sex=tacet.Category("F", "M"), dose=tacet.Real(5, 200, unit=10))
rows = range(300)
people = {"age": [20 + i * 7 % 60 for i in rows], "sex": ["FM"[i % 2] for i in rows], "dose": [5 + i * 11 % 190 for i in rows]}
release = trusted.curate(people, space=space, eps=3, values_unprotected=True, out=work / "release", ledger=work / "ledger.db")
print("released:", release.manifest.noise)

trusted.desk_keys(work / "keys")
with trusted.Desk(release, keys=work / "keys", ledger=work / "ledger.db", listen="127.0.0.1:0") as desk:
    url = desk.start(lambda row: people["dose"][row] / 200)
    run = tacet.Modeler(url, keys=work / "keys" / "modeler", state=work / "run")
    print("a search over HTTPS:", run.search(queries=6))
    run.close()

study = trusted.Study.create(work / "studies", name="tuning", space=tacet.Space(rate=tacet.Log(1e-4, 1)), eps=8, delta=1e-6, rounds=200)
study.optimize(lambda params: 1 - params["rate"], 100)
print("a study:", study.best)
print("a simulation:", trusted.plan("outsourced", eps=[1, 8], trials=4, candidates=60, queries=6))

log = {"variant": ["AB"[i % 2] for i in range(4000)], "kind": ["new" if i % 3 else "old" for i in range(4000)],
       "bought": [float(i % 2 and i % 5 == 0) for i in range(4000)]}  # fmt: skip
shop = tacet.Space(variant=tacet.Category("A", "B"), kind=tacet.Category("new", "old"))
model = trusted.learn(log, space=shop, action="variant", reward="bought", eps=3, out=work / "model.json")
print("learnt:", model.best(kind="new"))

names: dict[str, object] = {}
for block in re.findall(r"```python\n(.*?)```", Path("README.md").read_text(), re.S):
    exec(block, names)
print("the README's Python: done")

loaded = {Path(line.split()[-1]) for line in Path("/proc/self/maps").read_text().splitlines() if ".so" in line}
own = Path(tacet.__file__).resolve().parent.parent
system = ("ld-linux", "libc.", "libm.", "libdl.", "librt.", "libpthread.", "libresolv.", "libgcc_s.", "libstdc++.", "libnss", "libutil.")
python = {p for p in loaded if "lib-dynload" in p.parts or p.name.startswith("libpython")}
# What Python's own modules load (_ssl, _bz2, …) is Python's.
pythons_own = ("libssl.", "libcrypto.", "libz.", "libbz2.", "liblzma.", "libffi.", "libsqlite3.", "libexpat.", "libuuid.")
strange = [p for p in loaded - python if own not in p.parents and not p.name.startswith((*system, *pythons_own))]
bundled = [p for p in loaded if ".libs" in str(p.parent)]
if strange or not bundled or any("libtacet" in p.name and own not in p.parents for p in loaded):
    sys.exit(f"loaded from outside the wheels: {sorted(map(str, strange))}")
print(f"{len(bundled)} libraries from the wheels, none of the machine's but the C library's")
