/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Predictors by name: the option --method NAME, and method = NAME in the policy of jetwattd.
 */
#ifndef JETWATT_TUNE_METHOD_H
#define JETWATT_TUNE_METHOD_H

#include <argp.h>
#include "model/predictor.h"

/*
 * Parser of the option --method, for predictors that can predict. The parser's input is a const
 * struct jetwatt_predictor *, which is unchanged if the option is not given.
 */
extern const struct argp jetwatt_method_argp;

/* Properties of a predictor, for jetwatt_method_list(). Return: 1 if the predictor has the
 * property, else 0. */
int jetwatt_method_any(const struct jetwatt_predictor *by);
int jetwatt_method_predicts(const struct jetwatt_predictor *by);
int jetwatt_method_learns(const struct jetwatt_predictor *by);
int jetwatt_method_sizes(const struct jetwatt_predictor *by);
/* Return: 1 if the predictor has a fit, the fit needs no references, and it is fast. */
int jetwatt_method_light(const struct jetwatt_predictor *by);

/*
 * Format the names of the predictors that have a property. With "--method " as @lead, the result
 * is, for example, "--method auto, powertrain, nn or trees". Return: @buf.
 */
char *jetwatt_method_list(char *buf, size_t len, const char *lead,
			  int (*with)(const struct jetwatt_predictor *by));

/* Return: the predictor with the given name; NULL after printing that no predictor has the name. */
const struct jetwatt_predictor *jetwatt_method_find(const char *name);
/* Find a predictor as jetwatt_method_find() does, but return NULL also for a method without a fit,
 * after printing that the method predicts nothing. */
const struct jetwatt_predictor *jetwatt_method_to_fit(const char *name);

#endif
