// SPDX-License-Identifier: GPL-2.0-only
/* Checks the kernel and opens the module and the board for a verb, with an error text for each
 * case. */
#include "measure/connect.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "util/error.h"

int jetwatt_check_release(const char *release, char *why, size_t len)
{
	int major = 0, minor = 0;

	if (sscanf(release, "%d.%d", &major, &minor) == 2 && major * 1000 + minor >= 5010)
		return 0;
	snprintf(why, len, major == 4 && minor == 9 ?
		 "kernel %s (JetPack 4); jetwatt needs 5.10 or newer" :
		 "kernel %s; jetwatt needs 5.10 (JetPack 5) or newer", release);
	return -EOPNOTSUPP;
}

int jetwatt_check_kernel(void)
{
	struct utsname u;
	char why[160];

	uname(&u);
	if (!jetwatt_check_release(u.release, why, sizeof(why)))
		return 0;
	return jetwatt_error_report(JETWATT_EXIT_UNSUPPORTED, why,
				 "update the board to JetPack 5, 6 or 7", "kernel too old");
}

int jetwatt_open_module(struct jetwatt **jw, struct jetwatt_info *info)
{
	int err = jetwatt_check_kernel();

	if (err)
		return err;
	err = jetwatt_open(jw);
	if (err == -ENOENT)
		return jetwatt_error_report(JETWATT_EXIT_FAILED,
					 "the module jetwatt is not loaded (no netlink family of that name)",
					 "sudo modprobe jetwatt; not installed: sudo make install, or dkms",
					 "cannot reach the power sensors");
	if (err == -EPROTO)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, jetwatt_error(NULL),
					 "install module and command of the same version, then: sudo modprobe -r jetwatt; sudo modprobe jetwatt",
					 "module and command have different versions");
	if (err)
		return jetwatt_error_report(jetwatt_error_code(err), jetwatt_error(NULL), NULL,
					 "cannot connect to the module");
	err = jetwatt_info(*jw, info);
	return err ? jetwatt_connect_error(*jw, err, "the module does not answer") : 0;
}

const struct jetwatt_board_roots *jetwatt_board_roots_in(const char *dir, struct jetwatt_board_roots_in *at)
{
	if (!dir || !*dir)
		return NULL;
	snprintf(at->sys, sizeof(at->sys), "%.160s/sys", dir);
	snprintf(at->proc, sizeof(at->proc), "%.160s/proc", dir);
	snprintf(at->state, sizeof(at->state), "%.160s/var/lib/jetwatt", dir);
	snprintf(at->etc, sizeof(at->etc), "%.160s/etc", dir);
	at->roots = (struct jetwatt_board_roots){ .sys = at->sys, .proc = at->proc,
						  .state = at->state, .etc = at->etc };
	return &at->roots;
}

int jetwatt_open_board(struct jetwatt_board **b)
{
	struct jetwatt_error_text e = { "", "", "" };
	struct jetwatt_board_roots_in at;
	int err = jetwatt_check_kernel();

	if (err)
		return err;
	err = jetwatt_board_open(b, jetwatt_board_roots_in(getenv("JETWATT_ROOT"), &at), &e);
	return err ? jetwatt_error_board(err, &e) : 0;
}

int jetwatt_open_knobs(struct jetwatt_board **b)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_open_board(b);

	if (err)
		return err;
	err = jetwatt_board_switchable(*b, &e);
	if (err) {
		jetwatt_board_close(*b);
		*b = NULL;
		return jetwatt_error_board(err, &e);
	}
	jetwatt_each_knob(k) {
		const struct jetwatt_error_text *lack = jetwatt_board_lacks(*b, k);

		if (lack && jetwatt_knob_row(k)->hz && !jetwatt_knob_row(k)->optional)
			jetwatt_notice("%s: %s; fix: %s", lack->what, lack->why, lack->fix);
	}
	return 0;
}

void jetwatt_block_signals(sigset_t *set)
{
	struct sigaction hup;

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGQUIT);
	sigaddset(set, SIGTERM);
	/* If SIGHUP is ignored (nohup does this), do not block it: the signalfd would receive a
	 * blocked SIGHUP, and the verb would end. */
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
	sigprocmask(SIG_BLOCK, set, NULL);
	/* With SIGPIPE ignored, a closed output (| head) does not end the process before it has
	 * restored the board; main() reports that the output could not be written. */
	signal(SIGPIPE, SIG_IGN);
}

int jetwatt_connect_error(struct jetwatt *jw, int err, const char *what)
{
	char why[256];

	snprintf(why, sizeof(why), "%s", jetwatt_error(jw));
	if (err == -EPERM || err == -EACCES)
		return jetwatt_error_report(JETWATT_EXIT_PERMISSION, why,
					 "run as root: a fast power trace reveals secrets, so it is privileged",
					 "%s", what);
	return jetwatt_error_report(jetwatt_error_code(err) == JETWATT_EXIT_USAGE ?
				 JETWATT_EXIT_FAILED : jetwatt_error_code(err),
				 *why ? why : strerror(-err), "jetwatt doctor", "%s", what);
}
