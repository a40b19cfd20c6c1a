// SPDX-License-Identifier: GPL-2.0-only
/*
 * Serves jetwattd's control socket and metrics without a board, with values that tests know.
 *
 *   serve SOCKET [GROUP]
 *
 * GROUP: the group that may read. Runs until SIGTERM or SIGINT. Every 50 ms it counts a minibatch of
 * 100 ms and 2 J, and adds 1.425 J to each energy.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/session.h"
#include "daemon/jetwattd.h"

static volatile sig_atomic_t ended;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

static void rail(struct jetwattd_telemetry *t, uint32_t id, const char *label, unsigned int in_total)
{
	struct jetwatt_rail *r = &t->rail[t->rails++];

	r->id = id;
	r->enabled = 1;
	r->in_total = in_total;
	r->parent = in_total ? UINT32_MAX : 0;
	snprintf(r->label, sizeof(r->label), "%s", label);
}

/* Rails as on an Orin NX: one rail is the total and supplies the others. */
static void board(struct jetwattd *d)
{
	struct jetwattd_telemetry *t = &d->telemetry;

	rail(t, 0, "VDD_IN", 1);
	rail(t, 1, "VDD_CPU_GPU_CV", 0);
	rail(t, 2, "a\"b\\c\n\xff", 0);
	t->scope = "module";
	t->energies = 4;
	for (int i = 1; i < 4; i++)
		t->energy[i].rail = (uint32_t)i - 1;
	t->energy[0].rail = UINT32_MAX;
	t->stats.ticks = 1;
	t->rate_hz = 150;
	jetwatt_telemetry_clear(&t->telemetry);
	t->telemetry.value[JETWATT_TELEMETRY_TEMP_MC] = 45500;
	d->cap.clock = (struct jetwatt_mode){ 8, 1728000, 624750000, 3199000000, 0 };
	d->act.mode = d->cap.clock;
	d->act.applied = 1;
	d->cap.budget_w = 30;
	d->cap.mean_w = 28.5;
	d->doing = JETWATTD_HOLDING;
	d->pid = 4711;
	d->expect_ms = 100;
	d->expect_w = 28;
	strcpy(d->key, "0123456789abcdef");
	d->count.jobs = 3;
}

int main(int argc, char **argv)
{
	struct jetwattd_policy policy = { .window_s = 1 };
	struct jetwattd d = { .policy = &policy, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct jetwattd_control *control;
	struct sigaction sa = { .sa_handler = end };

	if (argc < 2 || argc > 3)
		return 2;
	if (argc == 3)
		snprintf(policy.readers, sizeof(policy.readers), "%s", argv[2]);
	snprintf(policy.control, sizeof(policy.control), "%s", argv[1]);
	board(&d);
	for (int i = 0; i < 2 * JETWATTD_WORKLOADS; i++) {
		char key[20];

		snprintf(key, sizeof(key), "%016x", i);
		jetwattd_metrics_minibatch(&d, key, 0.1, 2);
	}
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	if (jetwattd_control_start(&d, &control))
		return 1;
	while (!ended) {
		usleep(50000);
		pthread_mutex_lock(&d.lock);
		jetwattd_metrics_minibatch(&d, "0000000000000000", 0.1, 2);
		for (int i = 0; i < d.telemetry.energies; i++)
			d.telemetry.energy[i].uj += 1425000;
		d.cap.samples += 8;
		pthread_mutex_unlock(&d.lock);
	}
	jetwattd_control_stop(control);
	return 0;
}
