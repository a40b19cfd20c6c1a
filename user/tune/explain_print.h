/* SPDX-License-Identifier: GPL-2.0-only */
/* optimize --explain: the reasons in words, and as JSON. */
#ifndef JETWATT_TUNE_EXPLAIN_PRINT_H
#define JETWATT_TUNE_EXPLAIN_PRINT_H

#include <stddef.h>

#include "out/json.h"
#include "plan/explain.h"

void jetwatt_explain_print(const struct jetwatt_explain *e, const struct jetwatt_mode *mode,
			   const struct jetwatt_prediction *p, double budget_w);
/* An object "explain". */
void jetwatt_explain_json(const struct jetwatt_explain *e, const struct jetwatt_mode *mode,
			  struct jetwatt_json *j);

#endif
