#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The task of `jetwatt predict`, solved with the Gaussian process of scikit-learn.

  peer_sklearn.py PROFILE.csv MODES.csv

Time and power are modelled each by a linear function of the logarithms of the knobs plus a Gaussian
process (Matern-5/2 kernel with a length scale per knob, and noise) for the residual, fitted by
marginal likelihood. Predicts mean and standard deviation of all modes.
"""
import csv
import sys
import time

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel


def rows(path):
    with open(path) as f:
        return np.array([list(map(float, x)) for x in list(csv.reader(f))[1:]])


seen, modes = rows(sys.argv[1]), rows(sys.argv[2])
begun = time.process_time()
x, to = np.log(seen[:, :4]), np.log(modes[:, :4])
mid = x.mean(0)
for c in (4, 5):
    y = np.log(seen[:, c])
    a = np.c_[np.ones(len(x)), x - mid]
    form = np.linalg.lstsq(a, y, rcond=None)[0]
    kernel = ConstantKernel(0.01) * Matern([1.0] * 4, nu=2.5) + WhiteKernel(1e-4)
    gp = GaussianProcessRegressor(kernel, normalize_y=False).fit(x - mid, y - a @ form)
    mean, sd = gp.predict(to - mid, return_std=True)
    mean += np.c_[np.ones(len(to)), to - mid] @ form
print("fit_predict_ms", 1e3 * (time.process_time() - begun))
