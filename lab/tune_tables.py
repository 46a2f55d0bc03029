#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tune_tables.py FOLDER: tables of real tuning problems for `tacet-lab simulate tune --world table`, from scikit-learn's
own data: 800 random settings each, trained on few rows, a value in [0, 1] for each held-out row (more is better)."""
from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

SETTINGS, RANGE = 800, 320.0


def svm_wine(u):
    return make_pipeline(StandardScaler(), SVC(C=10 ** (5 * u[0] - 2), gamma=10 ** (5 * u[1] - 4),
                                               kernel=("rbf", "poly", "sigmoid")[int(3 * u[2])]))  # fmt: skip


def knn(model):
    def make(u):
        return make_pipeline(PCA(1 + int(9 * u[2])), model(
            n_neighbors=1 + int(40 * u[0]), p=1 + 2 * u[1], weights=("uniform", "distance")[int(2 * u[3])]))  # fmt: skip
    return make


def pca_ridge(u):
    return make_pipeline(PCA(1 + int(9 * u[0])), Ridge(alpha=10 ** (7 * u[1] - 4), fit_intercept=u[2] > 0.2))


TABLES = {
    "svm_wine": (load_wine, 60, svm_wine, 3, True),
    "knn_cancer": (load_breast_cancer, 150, knn(KNeighborsClassifier), 4, True),
    "knn_diabetes": (load_diabetes, 120, knn(KNeighborsRegressor), 4, False),
    "pca_ridge": (load_diabetes, 60, pca_ridge, 3, False),
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name, (load, rows, make, d, classes) in TABLES.items():
        X, y = load(return_X_y=True)
        rng = np.random.default_rng(7)
        order = rng.permutation(len(y))
        train, held = order[:rows], order[rows:]
        with (folder / f"{name}.csv").open("w") as file:
            file.write(",".join([f"x{j}" for j in range(d)] + [f"r{i}" for i in range(len(held))]) + "\n")
            for _ in range(SETTINGS):
                u = rng.random(d)
                predicted = make(u).fit(X[train], y[train]).predict(X[held])
                values = predicted == y[held] if classes else 1 - np.minimum(np.abs(predicted - y[held]) / RANGE, 1)
                file.write(",".join([f"{x:.6f}" for x in u] + [f"{float(v):.6g}" for v in values]) + "\n")
        print(folder / f"{name}.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
