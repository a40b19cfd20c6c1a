// SPDX-License-Identifier: GPL-2.0-only
/*
 * Warns about rails whose shunt resistance is missing in the device tree, and prints the module
 * parameter that sets the resistance, with the values of the hwmon driver, or else 10 mOhm, as a
 * start.
 */
#include "cmd/doctor/doctor.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#define CHIPS_MAX	16

/* Return: shunt resistance that the hwmon driver of the chip uses, in micro-ohms; 0 if the driver
 * does not report it. */
static unsigned int hwmon_shunt_uohm(const struct jetwatt_chip *c, const struct jetwatt_rail *r)
{
	unsigned int uohm = 0;
	char pattern[128];
	glob_t g;
	FILE *f;

	snprintf(pattern, sizeof(pattern), "/sys/bus/i2c/devices/%u-%04x/hwmon/hwmon*/shunt%u_resistor",
		 c->bus, c->addr, r->channel + 1);
	if (glob(pattern, 0, NULL, &g))
		return 0;
	f = fopen(g.gl_pathv[0], "re");
	if (!f || fscanf(f, "%u", &uohm) != 1)
		uohm = 0;
	if (f)
		fclose(f);
	globfree(&g);
	return uohm;
}

void jetwatt_doctor_shunts(struct jetwatt_doctor *d)
{
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	struct jetwatt_chip chip[CHIPS_MAX];
	int chips = jetwatt_chips(d->jw, chip, CHIPS_MAX);
	int rails = jetwatt_rails(d->jw, rail, JETWATT_RAILS_MAX);
	char names[200] = "", values[400] = "", fix[700];
	size_t at = 0, to = 0;

	for (int i = 0; i < rails; i++) {
		const struct jetwatt_chip *c = NULL;
		unsigned int uohm;

		for (int k = 0; k < chips && k < CHIPS_MAX; k++)
			if (chip[k].id == rail[i].chip)
				c = &chip[k];
		if (rail[i].shunt_uohm || !c || at >= sizeof(names) || to >= sizeof(values))
			continue;
		uohm = hwmon_shunt_uohm(c, &rail[i]);
		at += snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "", rail[i].label);
		if (uohm && at < sizeof(names))
			at += snprintf(names + at, sizeof(names) - at, " (hwmon uses %g mOhm)",
				       uohm * 1e-3);
		to += snprintf(values + to, sizeof(values) - to, "%s%u-%04x:%u=%u", to ? "," : "",
			       c->bus, c->addr, rail[i].channel, uohm ? uohm : 10000);
	}
	if (!at)
		return;
	snprintf(fix, sizeof(fix),
		 "find the resistances in the board's schematics, then set them in micro-ohms: echo options jetwatt shunt=%s | sudo tee /etc/modprobe.d/jetwatt-shunt.conf; sudo modprobe -r jetwatt; sudo modprobe jetwatt", values);
	jetwatt_doctor_finding(d, WARN, 0, "shunts", fix,
			       "the device tree has no shunt resistance for %s: only their voltage is measured, and no total includes these rails", names);
}
