/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * optimize --explain: one function prints the explanation of a mode in words, the other one writes
 * it as JSON.
 */
#ifndef JETWATT_TUNE_EXPLAIN_PRINT_H
#define JETWATT_TUNE_EXPLAIN_PRINT_H

#include <stddef.h>

#include "out/json.h"
#include "plan/explain.h"

/* Print an explanation. @mode, @p: all modes and their predictions; @budget_w: power budget in
 * watts, 0: none. */
void jetwatt_explain_print(const struct jetwatt_explain *e, const struct jetwatt_mode *mode,
			   const struct jetwatt_prediction *p, double budget_w);
/* Write the explanation as the JSON object "explain". */
void jetwatt_explain_json(const struct jetwatt_explain *e, const struct jetwatt_mode *mode,
			  struct jetwatt_json *j);

#endif
