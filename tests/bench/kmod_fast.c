// SPDX-License-Identifier: GPL-2.0-only
/*
 * No figure: leaves chips and bus so that HZ samples a second can be had.
 *
 *   kmod_fast HZ
 */
#include "bench/kmod.h"

int main(int argc, char **argv)
{
	struct jetwatt *jw;

	if (argc != 2)
		return 2;
	jw = open_module();
	convert_fast();
	configure(jw, atoi(argv[1]), 90);
	jetwatt_close(jw);
	return 0;
}
