// SPDX-License-Identifier: GPL-2.0-only
/* SIGHUP: reload the policy. A new policy that cannot be used changes nothing. */
#include "daemon/loop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "util/error.h"

int jetwattd_reload_open(struct jetwattd_run *r)
{
	sigset_t ends, again;

	/* All signals are blocked. The session's descriptor ends jetwattd; so take SIGHUP out of
	 * the set of signals of this descriptor. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGQUIT);
	sigaddset(&ends, SIGTERM);
	sigemptyset(&again);
	sigaddset(&again, SIGHUP);
	r->hangup = signalfd(-1, &again, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->hangup >= 0 && signalfd(r->session.signals, &ends, SFD_CLOEXEC | SFD_NONBLOCK) >= 0)
		return 0;
	return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), NULL, "cannot receive signals");
}

/* Keep the old value @was of a setting. Return: 1 if the new policy has another value. */
static int keep_setting(char *now, const char *was, size_t len)
{
	int differs = strcmp(now, was) != 0;

	memcpy(now, was, len);
	return differs;
}

/* Keep the present values of the settings that take effect only when jetwattd starts. Return: 1
 * if one of these settings has changed. */
static int keep_start_settings(struct jetwattd_policy *p, const struct jetwattd_policy *old)
{
	return keep_setting(p->modes, old->modes, sizeof(p->modes)) | keep_setting(p->db, old->db, sizeof(p->db)) |
	       keep_setting(p->method, old->method, sizeof(p->method)) |
	       keep_setting(p->control, old->control, sizeof(p->control)) |
	       keep_setting(p->readers, old->readers, sizeof(p->readers)) |
	       keep_setting(p->writers, old->writers, sizeof(p->writers));
}

void jetwattd_reload(struct jetwattd_run *r)
{
	struct signalfd_siginfo si;
	struct jetwattd *d = r->d;
	struct jetwattd_policy p;
	int asked = 0, kept, err;

	while (read(r->hangup, &si, sizeof(si)) == sizeof(si))
		asked = 1;
	if (!asked)
		return;
	err = jetwattd_policy_read(d->conf, d->conf_must, &p);
	pthread_mutex_lock(&d->lock);
	err = err ? err : jetwattd_usable(d, &p);
	pthread_mutex_unlock(&d->lock);
	if (err) {
		jetwattd_log(d, "policy not reloaded, it cannot be used: the old policy stays in force");
		return;
	}
	jetwattd_policy_override(&p, d->power_w);
	kept = keep_start_settings(&p, d->policy);
	pthread_mutex_lock(&d->lock);
	*d->policy = p;
	d->act.reassert = p.reassert;
	d->act.ceded = 0;
	pthread_mutex_unlock(&d->lock);
	for (int i = 0; i < JETWATTD_PROCESSES_MAX; i++)
		r->seen[i].serves = -1;
	r->reloaded = 1;
	jetwattd_log(d, kept ? "policy reloaded; modes, method, db, control, readers, writers change only after a restart" :
		     "policy reloaded");
}
