// SPDX-License-Identifier: GPL-2.0-only
/* SIGHUP: the policy anew. One that cannot be used changes nothing. */
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

	/* All of them are blocked; of those that end us, one no longer does. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGQUIT);
	sigaddset(&ends, SIGTERM);
	sigemptyset(&again);
	sigaddset(&again, SIGHUP);
	r->hangup = signalfd(-1, &again, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->hangup >= 0 && signalfd(r->watch.signals, &ends, SFD_CLOEXEC | SFD_NONBLOCK) >= 0)
		return 0;
	return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(errno), NULL, "cannot wait for signals");
}

/* What is open, or was learned with it, stays. Return: 1: that is not as in the file. */
static int keep(char *now, const char *was, size_t len)
{
	int differs = strcmp(now, was) != 0;

	memcpy(now, was, len);
	return differs;
}

static int keep_open(struct jetwattd_policy *p, const struct jetwattd_policy *old)
{
	return keep(p->modes, old->modes, sizeof(p->modes)) | keep(p->db, old->db, sizeof(p->db)) |
	       keep(p->method, old->method, sizeof(p->method)) |
	       keep(p->control, old->control, sizeof(p->control)) |
	       keep(p->readers, old->readers, sizeof(p->readers)) |
	       keep(p->writers, old->writers, sizeof(p->writers));
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
		jetwattd_say(d, "the policy cannot be used: the old one holds");
		return;
	}
	jetwattd_policy_override(&p, d->power_w);
	kept = keep_open(&p, d->policy);
	pthread_mutex_lock(&d->lock);
	*d->policy = p;
	d->act.reassert = p.reassert;
	d->act.ceded = 0;
	pthread_mutex_unlock(&d->lock);
	for (int i = 0; i < JETWATTD_SEEN; i++)
		r->seen[i].serves = -1;
	r->reloaded = 1;
	jetwattd_say(d, kept ? "policy read again; modes, method, db, control, readers, writers at the next start" :
		     "policy read again");
}
