# SPDX-License-Identifier: Apache-2.0
"""tacet: optimise what you may not show. Private Bayesian optimisation over the C library libtacet.

This package is for those who see releases, reports and models and never a record: clients of a service, modelers,
whoever predicts from a model, reads a ledger, or plans. What holds records is in another package, `tacet.trusted`
(distribution `tacet-trusted`); without it installed, no trusted code can be imported from here.

>>> import tacet
>>> print(tacet.calibrate.gaussian(eps=1, delta=1e-5))
gaussian noise, sigma = 3.73064, for eps = 1, delta = 1e-05, sensitivity 1
"""
from __future__ import annotations

import logging
from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)  # tacet.trusted may be installed in another folder

from tacet import calibrate
from tacet.client import Client, RemoteStudy
from tacet.disclosing import disclose
from tacet.ledger import Ledger
from tacet.model import Model, Prediction, load_model
from tacet.modeler import Best, Manifest, Modeler
from tacet.planning import Plan, plan
from tacet.space import Category, Date, Integer, Log, Real, Space
from tacet.study import Recommendation, StudyRelease, Suggestion
from tacet.table_model import Estimate, TableModel
from tacet._lib import lib as _lib
from tacet._lib import native as _native
from tacet.errors import (
    BudgetExceeded,
    Busy,
    Conflict,
    Corrupt,
    Denied,
    Error,
    InvalidValue,
    IOFailed,
    NotFound,
    NumericError,
    OutOfMemory,
    Overflow,
    ParseError,
    StateError,
    TimedOut,
    Unsupported,
)

logging.getLogger("tacet").addHandler(logging.NullHandler())  # tacet.study, tacet.client, …: silent unless asked

__version__: str = _native.text(_lib.tacet_version())

__all__ = [
    "Best", "BudgetExceeded", "Busy", "Category", "Client", "Conflict", "Corrupt", "Date", "Denied", "Error",
    "Estimate", "IOFailed", "Integer", "InvalidValue", "Ledger", "Log", "Manifest", "Model", "Modeler", "NotFound", "NumericError",
    "OutOfMemory", "Overflow", "ParseError", "Plan", "Prediction", "Real", "Recommendation", "RemoteStudy", "Space",
    "StateError", "StudyRelease", "Suggestion", "TableModel", "TimedOut", "Unsupported", "calibrate", "disclose", "load_model", "plan",
]  # fmt: skip
