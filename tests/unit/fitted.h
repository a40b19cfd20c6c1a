/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The predictors that fit a model, for tests that all of them must pass. nn is not in this list:
 * model_nn.c adds it, for model_estimator.c it is too slow.
 */
#ifndef JETWATT_TESTS_FITTED_H
#define JETWATT_TESTS_FITTED_H

#define FITTED(row)		\
	row(auto)		\
	row(powertrain)		\
	row(linreg)		\
	row(trees)

#endif
