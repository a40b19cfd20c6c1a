/* SPDX-License-Identifier: GPL-2.0-only */
/* The HTML page of the demo's report. */
#ifndef JETWATT_DEMO_PAGE_H
#define JETWATT_DEMO_PAGE_H

#include <jansson.h>

/**
 * page_write() - write the report as one HTML file
 * @path: file to write
 * @dir: output of tests/demo/guest.sh: run.jsonl and predictions.csv
 * @optimize: JSON result of jetwatt optimize
 * @report: content of report.json
 *
 * Return: 0; or a negative errno.
 */
int page_write(const char *path, const char *dir, const json_t *optimize, const json_t *report);

#endif
