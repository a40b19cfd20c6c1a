/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The predictor that a user asks for, by the name that it has in the table: --method NAME, and
 * method = NAME in jetwattd's policy.
 */
#ifndef JETWATT_TUNE_METHOD_H
#define JETWATT_TUNE_METHOD_H

#include <argp.h>
#include "model/predictor.h"

/* --method of a predictor that predicts. Its input is a const struct jetwatt_predictor *, which
 * stays as it is where the option is not given. */
extern const struct argp jetwatt_method_argp;

/* Properties by which the table is listed. */
int jetwatt_method_any(const struct jetwatt_predictor *by);
int jetwatt_method_predicts(const struct jetwatt_predictor *by);
int jetwatt_method_learns(const struct jetwatt_predictor *by);
int jetwatt_method_sizes(const struct jetwatt_predictor *by);
/* It needs no references, and a fit is quick. */
int jetwatt_method_light(const struct jetwatt_predictor *by);

/* The names of those with a property, behind @lead: "--method auto, nn or powertrain". Return:
 * @buf. */
char *jetwatt_method_list(char *buf, size_t len, const char *lead,
			  int (*with)(const struct jetwatt_predictor *by));

/* Return: the predictor of this name; NULL after saying that there is none. */
const struct jetwatt_predictor *jetwatt_method_find(const char *name);
/* The same, and one that predicts: NULL also after saying that it does not. */
const struct jetwatt_predictor *jetwatt_method_to_fit(const char *name);

#endif
