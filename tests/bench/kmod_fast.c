// SPDX-License-Identifier: GPL-2.0-only
/*
 * Not a benchmark: sets short conversions of the chips and HZ samples per second, for
 * batch_guest.sh.
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
