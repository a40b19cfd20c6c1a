// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metrics of jetwattd in the Prometheus and OpenMetrics text formats. Energy comes from the
 * counters of the module, so that a missed scrape loses none; energy and duration of minibatches
 * are histograms.
 */
#include "daemon/jetwattd.h"

#include <dirent.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/state.h"

void jetwattd_metrics_minibatch(struct jetwattd *d, const char *key, double second, double joule)
{
	struct jetwattd_telemetry *m = &d->telemetry;
	struct jetwattd_workload *w;
	int i = 0;

	while (i < m->workloads && strcmp(m->workload[i].key, key))
		i++;
	w = &m->workload[i];
	if (i == m->workloads) {
		/* All further workloads share the last element of @workload. */
		m->workloads += i < JETWATTD_WORKLOADS;
		snprintf(w->key, sizeof(w->key), "%s", i < JETWATTD_WORKLOADS ? key : "other");
	}
	jetwatt_metrics_observe(&w->second, jetwatt_metrics_seconds, second);
	if (joule >= 0)
		jetwatt_metrics_observe(&w->joule, jetwatt_metrics_joules, joule);
}

static const struct jetwatt_rail *rail_of(const struct jetwattd_telemetry *t, uint32_t id)
{
	for (int i = 0; i < t->rails; i++)
		if (t->rail[i].id == id)
			return &t->rail[i];
	return NULL;
}

/* Write the energy of the rails that belong to the total (@in_total 1), or of the other rails,
 * which a sum must not include. */
static void metrics_rails(const struct jetwatt_metrics *m, const struct jetwattd_telemetry *t, const char *name,
			  unsigned int in_total)
{
	const struct jetwatt_rail *rail;

	for (int i = 1; i < t->energies; i++) {
		rail = rail_of(t, t->energy[i].rail);
		if (rail && rail->enabled && !!rail->in_total == in_total)
			jetwatt_metrics_sample(m, name, "rail", rail->label, t->energy[i].uj * 1e-6);
	}
}

static void metrics_energy(const struct jetwatt_metrics *m, const struct jetwattd_telemetry *t)
{
	if (!t->energies)
		return;
	jetwatt_metrics_family(m, "jetwatt_module_energy_joules", "counter", "joules",
			       "Energy of all rails of the total since the kernel module was loaded");
	jetwatt_metrics_sample(m, "jetwatt_module_energy_joules_total", "scope", t->scope,
			       t->energy[0].uj * 1e-6);
	jetwatt_metrics_counter(m, "jetwatt_module_blind_seconds", "seconds",
				"Time without counted energy: a rail could not be read, or the machine was suspended",
				t->energy[0].blind_ns * 1e-9);
	jetwatt_metrics_family(m, "jetwatt_rail_energy_joules", "counter", "joules",
			       "Energy of a rail that belongs to the total");
	metrics_rails(m, t, "jetwatt_rail_energy_joules_total", 1);
	jetwatt_metrics_family(m, "jetwatt_inner_rail_energy_joules", "counter", "joules",
			       "Energy of a rail that is fed by another rail or does not belong to the total");
	metrics_rails(m, t, "jetwatt_inner_rail_energy_joules_total", 0);
}

static void metrics_sampler(const struct jetwatt_metrics *m, const struct jetwattd *now)
{
	const struct jetwatt_stats *s = &now->telemetry.stats;

	jetwatt_metrics_counter(m, "jetwatt_sampler_samples", NULL, "Power samples received",
				now->cap.samples);
	jetwatt_metrics_counter(m, "jetwatt_sampler_dropped_samples", NULL, "Power samples lost",
				now->cap.lost);
	jetwatt_metrics_counter(m, "jetwatt_waits_lost", NULL, "Events of waits for the GPU lost",
				now->telemetry.waits_lost);
	if (!s->ticks)
		return;
	jetwatt_metrics_counter(m, "jetwatt_sampler_missed_deadlines", NULL,
				"Samples skipped because an earlier one took too long", s->missed);
	jetwatt_metrics_counter(m, "jetwatt_sampler_i2c_errors", NULL, "Failed reads of a sensor",
				s->i2c_errors);
	jetwatt_metrics_counter(m, "jetwatt_sampler_cpu_seconds", "seconds",
				"CPU time of the kernel's sampler thread", s->cpu_ns * 1e-9);
	jetwatt_metrics_gauge(m, "jetwatt_sampler_rate_hertz", "hertz", "Samples per second",
			      now->telemetry.rate_hz);
}

static void metrics_clocks(const struct jetwatt_metrics *m, const struct jetwattd_cap *t)
{
	if (t->clock.cpu_khz)
		jetwatt_metrics_gauge(m, "jetwatt_cpu_frequency_hertz", "hertz", "Clock of the CPU",
				      t->clock.cpu_khz * 1e3);
	if (t->clock.gpu_hz)
		jetwatt_metrics_gauge(m, "jetwatt_gpu_frequency_hertz", "hertz", "Clock of the GPU",
				      t->clock.gpu_hz);
	if (t->clock.emc_hz)
		jetwatt_metrics_gauge(m, "jetwatt_emc_frequency_hertz", "hertz", "Clock of the memory",
				      t->clock.emc_hz);
}

static void metrics_counts(const struct jetwatt_metrics *m, const struct jetwattd *now)
{
	const struct jetwattd_count *c = &now->count;

	jetwatt_metrics_counter(m, "jetwatt_jobs", NULL, "GPU jobs attached; after a pause, for example, a job counts again", c->jobs);
	jetwatt_metrics_counter(m, "jetwatt_known_jobs", NULL,
				"GPU jobs whose workload had at least 4 stored readings when they were detected",
				c->known);
	jetwatt_metrics_counter(m, "jetwatt_modes_measured", NULL, "Readings of power modes",
				c->measured);
	jetwatt_metrics_counter(m, "jetwatt_learning_seconds", "seconds", "Time spent on learning jobs",
				c->learning.seconds);
	jetwatt_metrics_counter(m, "jetwatt_learning_lost_seconds", "seconds",
				"Part of the learning time that the best mode known at each moment would have saved",
				c->learning.lost_s);
	jetwatt_metrics_counter(m, "jetwatt_learning_expected_gain_seconds", "seconds",
				"Time that measurements chosen by the model were expected to save until the jobs end",
				c->learning.gain_s);
	jetwatt_metrics_counter(m, "jetwatt_learning_realised_gain_seconds", "seconds",
				"Time that measurements chosen by the model save until the jobs end, by the measured times",
				c->learning.saved_s);
	jetwatt_metrics_counter(m, "jetwatt_cap_steps", NULL,
				"Cap events: power near or above the budget, or above the cap", now->cap.cap_events);
	jetwatt_metrics_counter(m, "jetwatt_cap_floors", NULL,
				"Cap events in the lowest mode", now->cap.cap_floor_hits);
	jetwatt_metrics_counter(m, "jetwatt_drifts", NULL,
				"Drifts: time or power of a job no longer agreed with its readings", c->drifts);
	jetwatt_metrics_counter(m, "jetwatt_mix_changes", NULL,
				"Changes of a server's mix of prefill and decode after which the mode was chosen again",
				c->mixes);
	jetwatt_metrics_counter(m, "jetwatt_throttled_readings", NULL,
				"Readings with clocks below those of the mode", c->throttled);
	jetwatt_metrics_counter(m, "jetwatt_other_writers", NULL,
				"Changes of a knob by another process", now->act.others);
	jetwatt_metrics_counter(m, "jetwatt_blind", NULL,
				"Number of times that the power samples stopped", c->blind);
	jetwatt_metrics_counter(m, "jetwatt_switches_refused", NULL, "Mode switches that a knob refused",
				now->act.refused);
	jetwatt_metrics_counter(m, "jetwatt_restores_refused", NULL,
				"Restores that a knob refused", now->act.unrestored);
}

static void metrics_timeshare(const struct jetwatt_metrics *m, const struct jetwattd_timeshare_status *t)
{
	jetwatt_metrics_counter(m, "jetwatt_turns", NULL,
				"Time slices of training that shares the GPU with a server",
				t->slices);
	jetwatt_metrics_counter(m, "jetwatt_late_turns", NULL,
				"Time slices of training that did not end at a minibatch boundary",
				t->overruns);
	if (!t->planned)
		return;
	jetwatt_metrics_gauge(m, "jetwatt_request_rate_hertz", "hertz", "Requests per second to the server",
			      t->arrival_hz);
	jetwatt_metrics_gauge(m, "jetwatt_planned_latency_seconds", "seconds",
			      "Planned latency of 99 of 100 requests", t->latency_ms * 1e-3);
}

/* Record the applied mode as one that the metrics list by name. Each value of a label is a time
 * series, and there are thousands of modes, so only the first JETWATTD_MODES modes that a request
 * for metrics finds applied outside learning and back-off get a name. Caller holds the lock. */
static void record_mode(struct jetwattd *d)
{
	struct jetwattd_telemetry *t = &d->telemetry;
	int i = 0;

	if (!d->act.applied || d->doing == JETWATTD_LEARNING || d->doing == JETWATTD_BACKING_OFF)
		return;
	while (i < t->modes && !jetwatt_mode_same(&t->mode[i], &d->act.mode))
		i++;
	if (i == t->modes && i < JETWATTD_MODES)
		t->mode[t->modes++] = d->act.mode;
}

static void metrics_mode_name(const struct jetwattd *now, char *name, size_t len)
{
	const struct jetwattd_telemetry *t = &now->telemetry;
	int i = 0;

	while (i < t->modes && !jetwatt_mode_same(&t->mode[i], &now->act.mode))
		i++;
	if (i == t->modes || jetwatt_board_mode_format(&now->act.mode, name, len))
		snprintf(name, len, "other");
}

/* Write the clocks and cores of the applied mode as gauges, which need no labels. */
static void metrics_mode(const struct jetwatt_metrics *m, const struct jetwattd *now)
{
	if (!now->act.applied)
		return;
	jetwatt_metrics_gauge(m, "jetwatt_mode_cores", NULL, "Cores of the power mode", now->act.mode.cores);
	jetwatt_each_knob(k) {
		const struct jetwatt_knob_row *row = jetwatt_knob_row(k);
		uint64_t v = jetwatt_mode_get(&now->act.mode, k);
		char name[64], help[64];

		if (!row->hz || v <= JETWATT_BOARD_NO_CLOCK)
			continue;
		snprintf(name, sizeof(name), "jetwatt_mode_%s_hertz", row->key);
		snprintf(help, sizeof(help), "Maximum clock of the %s in the power mode",
			 k == JETWATT_KNOB_EMC ? "memory" : row->label);
		jetwatt_metrics_gauge(m, name, "hertz", help, (double)v * row->hz);
	}
}

static void metrics_state(const struct jetwatt_metrics *m, const struct jetwattd *now)
{
	char name[96] = "as found";

	if (now->act.applied)
		metrics_mode_name(now, name, sizeof(name));
	jetwatt_metrics_family(m, "jetwatt_mode_info", "gauge", NULL,
			       "The applied power mode, always 1; other: a mode that is only measured, or too many modes");
	jetwatt_metrics_sample(m, "jetwatt_mode_info", "mode", name, 1);
	metrics_mode(m, now);
	jetwatt_metrics_family(m, "jetwatt_doing", "gauge", NULL, "1 for the present state of jetwattd");
	for (int i = 0; i < JETWATTD_DOINGS; i++)
		jetwatt_metrics_sample(m, "jetwatt_doing", "doing", jetwattd_state[i].name,
				       now->doing == (enum jetwattd_doing)i);
	jetwatt_metrics_gauge(m, "jetwatt_module_power_watts", "watts",
			      "Mean total power over the averaging window of the policy", now->cap.mean_w);
	if (now->cap.budget_w > 0)
		jetwatt_metrics_gauge(m, "jetwatt_budget_watts", "watts", "Power budget in force",
				      now->cap.budget_w);
	jetwatt_metrics_counter(m, "jetwatt_over_budget_seconds", "seconds",
				"Time for which the mean power exceeded the budget", now->cap.over_s);
	if (now->cap.cap_w > 0) {
		jetwatt_metrics_gauge(m, "jetwatt_cap_watts", "watts", "Power limit of the short averaging window",
				      now->cap.cap_w);
		jetwatt_metrics_counter(m, "jetwatt_over_cap_seconds", "seconds",
					"Time for which the power of the short averaging window exceeded its limit",
					now->cap.over_cap_s);
	}
	if (!now->pid || !(now->expect_ms > 0))
		return;
	jetwatt_metrics_gauge(m, "jetwatt_expected_minibatch_seconds", "seconds",
			      "Duration of a minibatch as measured in the held mode", now->expect_ms * 1e-3);
	jetwatt_metrics_gauge(m, "jetwatt_expected_power_watts", "watts",
			      "Power as measured in the held mode", now->expect_w);
}

static void metrics_minibatches(const struct jetwatt_metrics *m, const struct jetwattd_telemetry *t)
{
	int n = t->workloads + (t->workload[JETWATTD_WORKLOADS].second.n > 0);

	jetwatt_metrics_family(m, "jetwatt_minibatch_energy_joules", "histogram", "joules",
			       "Energy of all rails of the total during a minibatch");
	for (int i = 0; i < n; i++)
		jetwatt_metrics_histogram(m, "jetwatt_minibatch_energy_joules", "workload",
					  t->workload[i].key, jetwatt_metrics_joules,
					  &t->workload[i].joule);
	jetwatt_metrics_family(m, "jetwatt_minibatch_duration_seconds", "histogram", "seconds",
			       "Duration of a minibatch");
	for (int i = 0; i < n; i++)
		jetwatt_metrics_histogram(m, "jetwatt_minibatch_duration_seconds", "workload",
					  t->workload[i].key, jetwatt_metrics_seconds,
					  &t->workload[i].second);
}

/* Resource usage of jetwattd, by the names that Prometheus client libraries use. */
static void metrics_process(const struct jetwatt_metrics *m)
{
	FILE *f = fopen("/proc/self/statm", "re");
	DIR *dir = opendir("/proc/self/fd");
	unsigned long pages = 0;
	struct rusage used;
	int fds = -3;		/* ".", "..", and the directory */

	getrusage(RUSAGE_SELF, &used);
	jetwatt_metrics_counter(m, "process_cpu_seconds", "seconds", "CPU time of jetwattd",
				used.ru_utime.tv_sec + used.ru_stime.tv_sec +
				(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6);
	if (f && fscanf(f, "%*u %lu", &pages) == 1)
		jetwatt_metrics_gauge(m, "process_resident_memory_bytes", "bytes",
				      "Memory of jetwattd", (double)pages * sysconf(_SC_PAGESIZE));
	if (f)
		fclose(f);
	while (dir && readdir(dir))
		fds++;
	if (dir) {
		closedir(dir);
		jetwatt_metrics_gauge(m, "process_open_fds", NULL, "Descriptors of jetwattd", fds);
	}
}

void jetwattd_metrics(struct jetwattd *d, int open, FILE *f)
{
	const struct jetwatt_metrics m = { f, open };
	struct jetwattd now;

	pthread_mutex_lock(&d->lock);
	record_mode(d);
	now = *d;
	pthread_mutex_unlock(&d->lock);
	jetwatt_metrics_family(&m, "jetwatt_build_info", "gauge", NULL, "The version, always 1");
	jetwatt_metrics_sample(&m, "jetwatt_build_info", "version", JETWATT_VERSION, 1);
	metrics_state(&m, &now);
	metrics_energy(&m, &now.telemetry);
	metrics_clocks(&m, &now.cap);
	jetwatt_metrics_telemetry(&m, &now.telemetry.telemetry);
	metrics_minibatches(&m, &now.telemetry);
	metrics_counts(&m, &now);
	metrics_timeshare(&m, &now.timeshare);
	metrics_sampler(&m, &now);
	metrics_process(&m);
	jetwatt_metrics_end(&m);
}
