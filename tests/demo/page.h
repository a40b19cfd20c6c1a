/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef JETWATT_DEMO_PAGE_H
#define JETWATT_DEMO_PAGE_H

#include <jansson.h>

/**
 * page_write() - the report as one HTML file
 * @dir: what tests/demo/guest.sh left: run.jsonl and predictions.csv
 * @optimize: what jetwatt optimize said
 * @report: the report of the contract
 *
 * Return: 0, negative errno.
 */
int page_write(const char *path, const char *dir, const json_t *optimize, const json_t *report);

#endif
