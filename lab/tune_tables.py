#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tune_tables.py FOLDER [SEED]: tables of real tuning problems for `tacet-lab simulate tune --data`, from
scikit-learn's own data: 800 random settings each, trained on few rows, a value in [0, 1] for each held-out row (more is
better). SEED (7) draws the settings and which rows are held out."""
from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeRegressor

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


def svm_digits(u):
    return SVC(C=10 ** (6 * u[0] - 3), gamma=10 ** (5 * u[1] - 6), coef0=u[2], degree=2 + int(3 * u[3]),
               kernel=("rbf", "poly", "sigmoid")[int(3 * u[4])])  # fmt: skip


def tree(model, criteria):
    def make(u):
        return model(max_depth=1 + int(12 * u[0]), min_samples_leaf=1 + int(20 * u[1]), max_features=0.05 + 0.95 * u[2],
                     ccp_alpha=10 ** (4 * u[3] - 5), criterion=criteria[int(2 * u[4])], random_state=1)  # fmt: skip
    return make


TABLES = {
    "svm_wine": (load_wine, 60, svm_wine, 3, True),
    "knn_cancer": (load_breast_cancer, 150, knn(KNeighborsClassifier), 4, True),
    "knn_diabetes": (load_diabetes, 120, knn(KNeighborsRegressor), 4, False),
    "pca_ridge": (load_diabetes, 60, pca_ridge, 3, False),
    "svm_digits": (load_digits, 150, svm_digits, 5, True),
    "knn_wine": (load_wine, 40, knn(KNeighborsClassifier), 4, True),
    "tree_cancer": (load_breast_cancer, 100, tree(DecisionTreeClassifier, ("gini", "entropy")), 5, True),
    "tree_diabetes": (load_diabetes, 150, tree(ExtraTreeRegressor, ("squared_error", "friedman_mse")), 5, False),
}


def main(folder: Path, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name, (load, rows, make, d, classes) in TABLES.items():
        X, y = load(return_X_y=True)
        rng = np.random.default_rng(seed)
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
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 7)
