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
	struct sigaction was, ignored = { .sa_handler = SIG_IGN };
	sigset_t hangup;

	sigemptyset(&hangup);
	sigaddset(&hangup, SIGHUP);
	r->hangup = signalfd(-1, &hangup, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->hangup < 0 || sigaction(SIGHUP, NULL, &was))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), NULL, "cannot receive signals");
	/* nohup ignores SIGHUP. */
	if (was.sa_handler == SIG_IGN)
		return 0;
	/* A signal at the session's descriptor ends jetwattd. The session leaves out SIGHUP if it is
	 * ignored (jetwatt_block_signals()). A blocked signal is delivered to the descriptor
	 * nevertheless. */
	sigprocmask(SIG_BLOCK, &hangup, NULL);
	sigaction(SIGHUP, &ignored, NULL);
	return 0;
}

void jetwattd_reload(struct jetwattd_run *r)
{
	struct signalfd_siginfo si;
	struct jetwattd *d = r->d;
	struct jetwattd_policy p;
	char names[96];
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
	kept = jetwattd_policy_keep(&p, d->policy, names, sizeof(names));
	pthread_mutex_lock(&d->lock);
	*d->policy = p;
	d->act.reassert = p.reassert;
	d->act.ceded = 0;
	pthread_mutex_unlock(&d->lock);
	for (int i = 0; i < JETWATTD_PROCESSES_MAX; i++)
		r->seen[i].serves = -1;
	r->reloaded = 1;
	if (kept)
		jetwattd_log(d, "policy reloaded; %s change only after a restart", names);
	else
		jetwattd_log(d, "policy reloaded");
}
