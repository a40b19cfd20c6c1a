/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parser of the Prometheus text exposition format, version 0.0.4:
 * https://prometheus.io/docs/instrumenting/exposition_formats/, "Text-based format". Metric and label
 * names: https://prometheus.io/docs/concepts/data_model/
 */
#ifndef JETWATT_UTIL_PROMETHEUS_H
#define JETWATT_UTIL_PROMETHEUS_H

#include <stddef.h>

#define JETWATT_PROMETHEUS_NAME_LEN	128
#define JETWATT_PROMETHEUS_LABELS	8

/**
 * struct jetwatt_prometheus_selector - the samples that are added up
 * @metric: name of the metric
 * @label: labels that a sample must have; a sample may have others too. @value is not escaped
 * @labels: number of entries of @label; 0: all samples of the metric
 */
struct jetwatt_prometheus_selector {
	char metric[JETWATT_PROMETHEUS_NAME_LEN];
	struct {
		char name[JETWATT_PROMETHEUS_NAME_LEN], value[JETWATT_PROMETHEUS_NAME_LEN];
	} label[JETWATT_PROMETHEUS_LABELS];
	int labels;
};

/*
 * Parse METRIC or METRIC{LABEL="VALUE",...}. Return: 0; -EINVAL: @text has another form; -E2BIG: a
 * name or a value is too long, or there are too many labels.
 */
int jetwatt_prometheus_select(struct jetwatt_prometheus_selector *s, const char *text);

/**
 * jetwatt_prometheus_sum() - add up the selected samples of an exposition
 * @text: the exposition
 * @len: its length in bytes
 * @s: the samples to add up
 * @sum: receives the sum; NaN or infinite if the value of a selected sample is
 *
 * White space at the beginning or end of a line is ignored. A line that is neither a sample nor
 * empty nor a comment makes the whole exposition invalid, as in Prometheus. The last line must end
 * with a line feed, so that an exposition that ends within a line is refused.
 *
 * Return: number of selected samples, 0 if there are none; -EBADMSG: @text does not have the
 * format.
 */
long jetwatt_prometheus_sum(const char *text, size_t len,
			    const struct jetwatt_prometheus_selector *s, double *sum);

/*
 * Parse a number as the format has it: decimal, with an optional exponent, or NaN, Inf, +Inf or
 * -Inf in any case. Blanks around it are ignored. Return: 0; -EINVAL.
 */
int jetwatt_prometheus_number(const char *text, size_t len, double *v);

#endif
