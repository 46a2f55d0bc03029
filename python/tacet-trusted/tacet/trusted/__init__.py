# SPDX-License-Identifier: Apache-2.0
"""tacet.trusted: for whoever holds the records. Linked to libtacet-trusted; everything here may see private data.

>>> from tacet import trusted
>>> release = trusted.curate(df, space=space, eps=3, values_unprotected=True, out="release/")        # doctest: +SKIP
"""
from __future__ import annotations

from tacet.trusted._lib import native as _native
from tacet.trusted.auditing import Audit, audit, audit_targets
from tacet.trusted.device import Device, StatisticsDevice
from tacet.trusted.learning import learn
from tacet.trusted.outsourced import Desk, Release, curate
from tacet.trusted.planning import SimulatedPlan, plan
from tacet.trusted.rehearsing import Rehearsal
from tacet.trusted.serving import Server, Store, desk_keys, server_keys
from tacet.trusted.studies import Study
from tacet.trusted.tallying import Tally, tally
from tacet.trusted.tuning import Chosen, SettingFailed, Tuned, TuneStudy, tune, tune_private

__version__: str = _native.text(_native.lib.tacet_version())
__all__ = [
    "Audit", "Chosen", "Desk", "Device", "Rehearsal", "Release", "Server", "SettingFailed", "SimulatedPlan", "StatisticsDevice", "Store",
    "Study", "Tally", "TuneStudy", "Tuned", "audit", "audit_targets", "curate", "desk_keys", "learn", "plan", "server_keys", "tally", "tune",
    "tune_private",
]  # fmt: skip
