// SPDX-License-Identifier: GPL-2.0-only
/* The status that "jetwatt daemon" prints, as text or JSON. */
#include "daemon/jetwattd.h"

#include <inttypes.h>
#include <string.h>

#include "daemon/state.h"
#include "out/json.h"
#include "out/terminal.h"
#include "util/error.h"

/* Write a mode, or null if it is not known. */
static void json_mode(struct jetwatt_json *j, const char *key, const struct jetwatt_mode *m, int known)
{
	char name[96] = "";

	if (known)
		jetwatt_board_mode_format(m, name, sizeof(name));
	if (known)
		jetwatt_json_string(j, key, name);
	else
		jetwatt_json_null(j, key);
}

/* Write a number, or null if it is not positive. */
static void json_positive(struct jetwatt_json *j, const char *key, double v)
{
	if (v > 0)
		jetwatt_json_real(j, key, v, 5);
	else
		jetwatt_json_null(j, key);
}

static void json_timeshare(struct jetwatt_json *j, const struct jetwattd_timeshare_status *t)
{
	if (!t->on) {
		jetwatt_json_null(j, "turns");
		return;
	}
	jetwatt_json_object(j, "turns");
	jetwatt_json_bool(j, "in_time", t->planned && !t->beyond);
	json_positive(j, "minibatches", t->planned ? t->minibatches : 0);
	json_positive(j, "requests", t->planned ? t->requests : 0);
	json_positive(j, "window_ms", t->planned ? t->window_ms : 0);
	json_positive(j, "latency_ms", t->planned ? t->latency_ms : 0);
	json_positive(j, "arrival_hz", t->arrival_hz);
	jetwatt_json_uint(j, "count", t->slices);
	jetwatt_json_uint(j, "late", t->overruns);
	jetwatt_json_end(j);
}

void jetwattd_unseen(struct jetwattd *d, const struct jetwatt_probe *probe)
{
	struct jetwatt_probe_state st;
	/* why[0] is that of JETWATT_BACKEND_UPROBE. If this backend is active, it is about a function
	 * that libcuda calls. */
	int active, known;

	if (!probe)
		return;
	jetwatt_probe_state(probe, &st);
	active = !!(st.attached & JETWATT_BACKEND_UPROBE);
	if (!strstr(st.why[0], "CAP_SYS_"))
		st.why[0][0] = '\0';
	pthread_mutex_lock(&d->lock);
	snprintf(d->unseen, sizeof(d->unseen), "%s%s", !*st.why[0] ? "" :
		 active ? "jobs that wait for callbacks, as JAX does: " : "jobs that spin inside libcuda: ",
		 st.why[0]);
	known = !*st.why[0] || d->unseen_reported & 1u << active;
	if (!known)
		d->unseen_reported |= 1u << active;
	pthread_mutex_unlock(&d->lock);
	if (known)
		return;
	if (active)
		jetwatt_error_report(0, st.why[0], "give jetwattd more capabilities: jetwattd(8), Privileges",
				     "cannot see all jobs that wait for callbacks, as JAX does");
	else
		jetwatt_error_report(0, st.why[0],
				     "use Linux 6.6 or later, or give jetwattd CAP_SYS_ADMIN: jetwattd(8), Privileges",
				     "cannot see jobs that spin inside libcuda");
}

static void status_text(const struct jetwattd *now, FILE *f)
{
	const struct jetwattd_count *c = &now->count;
	char name[96] = "as it was found", command[61];

	if (now->act.applied)
		jetwatt_board_mode_format(&now->act.mode, name, sizeof(name));
	fprintf(f, "%-9s %.2f W", jetwattd_state[now->doing].name, now->cap.mean_w);
	if (now->cap.budget_w > 0)
		fprintf(f, " of %g W%s", now->cap.budget_w, now->override_w > 0 ? ", set on request" : "");
	if (now->cap.budget_w > 0 && now->cap.cap_w > 0)
		fprintf(f, "; at most %g W over %g s", now->cap.cap_w, now->cap.cap_window_s);
	fprintf(f, "\nboard     %s\n", name);
	if (now->pid)
		fprintf(f, "job       %d %s\n", now->pid,
			jetwatt_terminal_plain(now->command, command, sizeof(command)));
	if (now->pid && now->expect_ms > 0)
		fprintf(f, "expected  %.2f ms/minibatch, %.2f W\n", now->expect_ms, now->expect_w);
	if (now->timeshare.planned)
		fprintf(f, "turns     %.3g minibatches, then %.3g requests: %.3g ms%s\n",
			now->timeshare.minibatches, now->timeshare.requests,
			now->timeshare.latency_ms,
			now->timeshare.beyond ? ", over the limit" : "");
	else if (now->timeshare.on)
		fprintf(f, "turns     not planned yet\n");
	fprintf(f, "so far    %" PRIu64 " jobs, %" PRIu64 " of them known; %" PRIu64 " modes measured\n"
		"          %" PRIu64 " steps down, %" PRIu64 " drifts, %" PRIu64 " changes by others, %" PRIu64
		" refusals\n", c->jobs, c->known, c->measured, now->cap.cap_events, c->drifts, now->act.others,
		now->act.refused + now->act.unrestored);
	if (*now->unseen) {
		int jobs = (int)strcspn(now->unseen, ":");

		fprintf(f, "unseen    %.*s:\n          %.69s\n", jobs, now->unseen, now->unseen + jobs + 2);
	}
	fprintf(f, "last      %.69s\n", now->why);
}

void jetwattd_status(struct jetwattd *d, int json, FILE *f)
{
	struct jetwatt_json j;
	struct jetwattd now;

	pthread_mutex_lock(&d->lock);
	now = *d;
	pthread_mutex_unlock(&d->lock);
	if (!json) {
		status_text(&now, f);
		return;
	}
	jetwatt_json_init(&j, f, 1);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_string(&j, "doing", jetwattd_state[now.doing].name);
	json_positive(&j, "budget_w", now.cap.budget_w);
	jetwatt_json_bool(&j, "budget_told", now.override_w > 0);
	json_positive(&j, "cap_w", now.cap.cap_w);
	json_positive(&j, "power_w", now.cap.mean_w);
	json_positive(&j, "swing_pct", 100 * now.cap.swing);
	json_mode(&j, "mode", &now.act.mode, now.act.applied);
	json_mode(&j, "safe", &now.cap.safe, now.cap.have_safe);
	if (now.pid) {
		jetwatt_json_object(&j, "job");
		jetwatt_json_int(&j, "pid", now.pid);
		jetwatt_json_string(&j, "command", now.command);
		jetwatt_json_string(&j, "workload", now.key);
		json_positive(&j, "time_ms", now.expect_ms);
		json_positive(&j, "power_w", now.expect_w);
		jetwatt_json_end(&j);
	} else {
		jetwatt_json_null(&j, "job");
	}
	json_timeshare(&j, &now.timeshare);
	if (*now.unseen)
		jetwatt_json_string(&j, "unseen", now.unseen);
	else
		jetwatt_json_null(&j, "unseen");
	jetwatt_json_string(&j, "last", now.why);
	jetwatt_json_object(&j, "count");
	jetwatt_json_uint(&j, "jobs", now.count.jobs);
	jetwatt_json_uint(&j, "known", now.count.known);
	jetwatt_json_uint(&j, "modes_measured", now.count.measured);
	jetwatt_json_uint(&j, "steps_down", now.cap.cap_events);
	jetwatt_json_uint(&j, "steps_down_in_vain", now.cap.cap_floor_hits);
	jetwatt_json_uint(&j, "drifts", now.count.drifts);
	jetwatt_json_uint(&j, "mix_changes", now.count.mixes);
	jetwatt_json_uint(&j, "throttled", now.count.throttled);
	jetwatt_json_uint(&j, "other_writers", now.act.others);
	jetwatt_json_uint(&j, "switches_refused", now.act.refused);
	jetwatt_json_uint(&j, "restores_refused", now.act.unrestored);
	jetwatt_json_uint(&j, "samples", now.cap.samples);
	jetwatt_json_uint(&j, "samples_lost", now.cap.lost);
	jetwatt_json_uint(&j, "samples_broke_off", now.count.blind);
	jetwatt_json_end(&j);
	jetwatt_json_end(&j);
	putc('\n', f);
}
