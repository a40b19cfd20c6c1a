/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics of the kernel module without jetwattd: energy and power from the hwmon device, which every
 * user may read, the rail graph, clocks and temperatures from the netlink family, and the series that
 * other drivers provide in sysfs. If the family has no temperature, that of the hottest thermal zone is
 * read from sysfs. No request needs a capability.
 */
#ifndef JETWATT_EXPORTER_TELEMETRY_H
#define JETWATT_EXPORTER_TELEMETRY_H

#include <stddef.h>

#include "jetwatt.h"

/**
 * struct exporter_telemetry - sources of the metrics
 * @sys: directory of sysfs, normally "/sys"
 * @series: reader of the series in sysfs
 * @module: connection to the module's netlink family; NULL: none, for instance because this process is
 *	in another network namespace
 */
struct exporter_telemetry {
	const char *sys;
	struct jetwatt_sysfs *series;
	struct jetwatt *module;
};

/* Prepare the sources. The module may be loaded later. Return: 0; -ENOMEM. */
int exporter_telemetry_open(struct exporter_telemetry *t, const char *sys);

/**
 * exporter_telemetry_write() - read all sources and write their metrics
 * @t: the sources
 * @open: 1: OpenMetrics; 0: text format of Prometheus
 * @text: receives the metrics; JETWATTD_RESPONSE_MAX bytes
 * @len: receives the length, in bytes
 *
 * Return: 0; -ENODEV: there is no hwmon device of the module with an energy of the total; -EMSGSIZE:
 * the metrics do not fit in @text; other negative errno.
 */
int exporter_telemetry_write(struct exporter_telemetry *t, int open, char *text, size_t *len);

void exporter_telemetry_close(struct exporter_telemetry *t);

#endif
