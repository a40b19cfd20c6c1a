// SPDX-License-Identifier: LGPL-2.1-only
/* Adds processes to the BPF map followed, and removes processes that have ended. */
#include "lib/followed.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/process_tree.h"

int jetwatt_followed_add(int fd, uint32_t tgid)
{
	uint32_t *tgids = NULL, one = 1;
	int nr, i;

	nr = jetwatt_process_tree(tgid, &tgids);
	for (i = 0; i < nr; i++) {
		if (bpf_map_update_elem(fd, &tgids[i], &one, BPF_NOEXIST) && errno != EEXIST) {
			nr = -errno;
			break;
		}
		/* The BPF program does not see an exit before the process is in the map. */
		if (!jetwatt_process_alive(tgids[i]))
			bpf_map_delete_elem(fd, &tgids[i]);
	}
	free(tgids);
	return nr < 0 ? nr : 0;
}

void jetwatt_followed_remove_ended(int fd)
{
	uint32_t tgid, next, state;
	int err = bpf_map_get_next_key(fd, NULL, &tgid);

	for (; !err; tgid = next) {
		err = bpf_map_get_next_key(fd, &tgid, &next);
		if (!bpf_map_lookup_elem(fd, &tgid, &state) && state == 2 &&
		    !jetwatt_process_alive(tgid))
			bpf_map_delete_elem(fd, &tgid);
	}
}
