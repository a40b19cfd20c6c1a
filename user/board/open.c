// SPDX-License-Identifier: GPL-2.0-only
/* Open and close a board. */
#include "board/knobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "board/remote.h"

int jetwatt_board_open(struct jetwatt_board **out, const struct jetwatt_board_roots *roots,
		       struct jetwatt_error_text *err)
{
	static const struct jetwatt_board_roots usual;
	struct jetwatt_board *b;
	int rc;

	if (!roots)
		roots = &usual;
	b = calloc(1, sizeof(*b));
	if (!b)
		return jetwatt_error_sys(err, -ENOMEM, "cannot identify the board");
	b->files = jetwatt_sysfs_files_new();
	b->lease = -1;
	b->opener = getpid();
	b->sensors_guardian = b->knobs_guardian = b->remote = -1;
	b->write = roots->write;
	b->arg = roots->arg;
	snprintf(b->sys, sizeof(b->sys), "%s", roots->sys ? roots->sys : "/sys");
	snprintf(b->proc, sizeof(b->proc), "%s", roots->proc ? roots->proc : "/proc");
	snprintf(b->state, sizeof(b->state), "%s",
		 roots->state ? roots->state : "/var/lib/jetwatt");
	snprintf(b->etc, sizeof(b->etc), "%s", roots->etc ? roots->etc : "/etc");

	rc = roots->knobs ? jetwatt_remote_open(b, roots->knobs, err) : 0;
	jetwatt_identity_find(b);
	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_KNOBS && !rc; k++)
		rc = jetwatt_knob_ops(k)->discover(b, k, err);
	if (rc) {
		jetwatt_remote_close(b);
		jetwatt_sysfs_files_free(b->files);
		free(b);
		return rc;
	}
	jetwatt_cooling_find(b);
	*out = b;
	return 0;
}

void jetwatt_board_close(struct jetwatt_board *b)
{
	if (!b)
		return;
	jetwatt_board_sensors_reset(b, NULL);
	jetwatt_lease_release(b);
	jetwatt_guardian_end(b);
	jetwatt_remote_close(b);
	jetwatt_cpuset_free(b);
	jetwatt_sysfs_files_free(b->files);
	free(b);
}
