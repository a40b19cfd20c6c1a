// SPDX-License-Identifier: GPL-2.0-only
/* Prints the rails and the total that the module reports, in the guest, for tests/trees/check. */
#include <jetwatt.h>
#include <linux/jetwatt.h>

#include <stdio.h>
#include <string.h>

static const struct jetwatt_chip *chip_of(const struct jetwatt_chip *chip, int n, uint32_t id)
{
	for (int i = 0; i < n; i++)
		if (chip[i].id == id)
			return &chip[i];
	return NULL;
}

int main(void)
{
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	struct jetwatt_chip chip[16];
	struct jetwatt_info info;
	struct jetwatt *jw;
	int rails, chips, err = jetwatt_open(&jw);

	if (err) {
		fprintf(stderr, "no jetwatt: %s\n", strerror(-err));
		return 1;
	}
	rails = jetwatt_rails(jw, rail, JETWATT_RAILS_MAX);
	chips = jetwatt_chips(jw, chip, 16);
	err = jetwatt_info(jw, &info);
	if (rails < 0 || chips < 0 || err)
		return 1;
	for (int i = 0; i < rails; i++) {
		const struct jetwatt_chip *c = chip_of(chip, chips, rail[i].chip);
		const char *parent = "-";

		for (int k = 0; k < rails; k++)
			if (rail[k].id == rail[i].parent)
				parent = rail[k].label;
		if (!c)
			return 1;
		printf("rail\t%u-%04x:%u\t%s\t%u\t%s\t%s\t%u\t%u\n", c->bus, c->addr, rail[i].channel,
		       rail[i].label, rail[i].shunt_uohm, parent,
		       rail[i].in_total ? "total" : "-", c->bus_hz, c->refresh_mhz);
	}
	printf("scope\t%s\n", info.total_scope == JETWATT_SCOPE_MODULE ? "module" :
	       info.total_scope == JETWATT_SCOPE_BOARD ? "board" : "partial");
	jetwatt_close(jw);
	return 0;
}
