// SPDX-License-Identifier: GPL-2.0-only
#include "follow.h"

#include <signal.h>

#define TURN_MS 200

/* From the terminal a command of ours has got the signal as well. */
static void pass_on(struct jetwatt_watch *w)
{
	if (!w->stop_by_tty && !w->child.gone)
		kill(w->pid, w->stop);
	w->stop = 0;
}

int jetwatt_follow(struct jetwatt_watch *w, double for_s, void (*each)(void *arg), void *arg)
{
	uint64_t begun = jetwatt_watch_now();

	while (!w->ended && !w->failed) {
		jetwatt_watch_run(w, TURN_MS);
		if (each)
			each(arg);
		if (w->stop && !w->child.pid)
			break;
		if (w->stop)
			pass_on(w);
		if (for_s > 0 && (jetwatt_watch_now() - begun) * 1e-9 >= for_s)
			break;
	}
	if (w->failed)
		return jetwatt_watch_why(w);
	return 0;
}

int jetwatt_follow_exit(const struct jetwatt_watch *w)
{
	return w->child.gone ? jetwatt_child_exit(&w->child) : 0;
}
