// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checks of jetwatt doctor on this board, from the kernel to the profile database. The
 * check_*() functions report their findings with jetwatt_doctor_finding().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/doctor/doctor.h"
#include "cmd/doctor/module_signature.h"
#include "cmd/doctor/probe_overhead.h"
#include "cmd/doctor/sampler_overhead.h"
#include "energy/energy.h"
#include "measure/connect.h"
#include "tune/profile_store.h"
#include "util/args.h"
#include "util/error.h"

#define say jetwatt_doctor_finding

static int check_kernel(struct jetwatt_doctor *d)
{
	struct utsname u;
	char why[160];

	uname(&u);
	if (jetwatt_check_release(u.release, why, sizeof(why))) {
		say(d, FAIL, JETWATT_EXIT_UNSUPPORTED, "kernel",
		    "update the board to JetPack 5, 6 or 7", "%s", why);
		return -1;
	}
	say(d, OK, 0, "kernel", NULL, "%s, %s", u.release, u.machine);
	return 0;
}

static void check_board(struct jetwatt_doctor *d)
{
	struct jetwatt_error_text e = { "", "", "" };
	int modes = 1, err = jetwatt_board_open(&d->board, NULL, &e);
	const uint64_t *v;
	char text[160];

	if (err) {
		say(d, FAIL, jetwatt_error_code(err), "board", *e.fix ? e.fix : NULL, "%s%s%s",
		    e.what, *e.why ? ": " : "", e.why);
		return;
	}
	say(d, OK, 0, "board", NULL, "%s", jetwatt_board_name(d->board));
	jetwatt_each_knob(k)
		if (!jetwatt_knob_row(k)->optional)
			modes *= jetwatt_board_levels(d->board, k, &v);
	say(d, OK, 0, "knobs", NULL, "%s = %d modes",
	    jetwatt_board_grid_text(d->board, text, sizeof(text)), modes);
	jetwatt_each_knob(k) {
		const struct jetwatt_error_text *lack = jetwatt_board_lacks(d->board, k);

		if (lack && !jetwatt_knob_row(k)->optional)
			say(d, WARN, 0, "knobs", lack->fix, "%s: %s", lack->what, lack->why);
	}
}

/* Report whether the kernel enforces module signatures and whether the module jetwatt is signed. */
static void check_signature(struct jetwatt_doctor *d, int loaded)
{
	struct utsname u;

	uname(&u);
	switch (jetwatt_module_signature_check("", u.release, loaded)) {
	case JETWATT_SIGNATURE_NOT_ENFORCED:
		say(d, OK, 0, "signing", NULL, "this kernel does not enforce module signatures");
		break;
	case JETWATT_SIGNATURE_TRUSTED:
		say(d, OK, 0, "signing", NULL, "enforced; the module is signed with a trusted key");
		break;
	case JETWATT_SIGNATURE_MISSING:
		say(d, FAIL, JETWATT_EXIT_FAILED, "signing",
		    "sign it with the platform's key: README.Debian of jetwatt-dkms",
		    "enforced; the installed module has no signature, so the kernel rejects it");
		break;
	case JETWATT_SIGNATURE_UNVERIFIED:
		say(d, FAIL, JETWATT_EXIT_FAILED, "signing",
		    "modprobe jetwatt; if it is rejected, sign it with the platform's key",
		    "enforced; the installed module is signed, but it is not known whether this kernel trusts the key");
		break;
	case JETWATT_SIGNATURE_NO_MODULE:
		say(d, WARN, 0, "signing",
		    "configure DKMS to sign modules: README.Debian of jetwatt-dkms",
		    "enforced; no installed module was found, and it must be signed");
		break;
	}
}

static void check_module(struct jetwatt_doctor *d)
{
	struct jetwatt_info info;
	int err = jetwatt_open(&d->jw);

	check_signature(d, err != -ENOENT);
	if (err == -ENOENT) {
		say(d, FAIL, JETWATT_EXIT_FAILED, "module",
		    "sudo modprobe jetwatt; if it is not installed: sudo make install, or install jetwatt-dkms",
		    "the module jetwatt is not loaded");
		return;
	}
	if (err) {
		say(d, FAIL, JETWATT_EXIT_FAILED, "module",
		    "install the module and the command from the same version", "%s",
		    jetwatt_error(NULL));
		return;
	}
	if (jetwatt_info(d->jw, &info))
		say(d, FAIL, JETWATT_EXIT_FAILED, "module", "dmesg | grep jetwatt", "%s",
		    jetwatt_error(d->jw));
	else
		say(d, OK, 0, "module", NULL, "jetwatt %s, ring of %u samples%s", info.version,
		    info.ring, info.running ? ", sampling" : "");
}

static void check_chips(struct jetwatt_doctor *d)
{
	struct jetwatt_chip chip[16];
	int n = jetwatt_chips(d->jw, chip, 16);

	if (n <= 0) {
		say(d, FAIL, JETWATT_EXIT_UNSUPPORTED, "chips",
		    "check that the device tree has the INA3221 and that its i2c bus is up: i2cdetect -l; dmesg",
		    n < 0 ? "cannot list the power sensor chips" : "no power sensor chip found");
		return;
	}
	for (int i = 0; i < n && i < 16; i++) {
		const struct jetwatt_chip *c = &chip[i];

		if (c->lost)
			say(d, FAIL, JETWATT_EXIT_UNSUPPORTED, "chip",
			    "check dmesg for a stuck i2c bus; a reboot resets the bus",
			    "%s at %u-%04x does not answer (%llu errors)", c->model, c->bus, c->addr,
			    (unsigned long long)c->errors);
		else
			say(d, c->errors ? WARN : OK, 0, "chip",
			    "single errors are harmless; if the number grows, check dmesg",
			    "%s at %u-%04x, bus %u kHz, new values at %.1f Hz%s", c->model, c->bus,
			    c->addr, c->bus_hz / 1000, c->refresh_mhz * 1e-3,
			    c->errors ? ", had errors" : "");
		if (jetwatt_batch_filter_ns(c) > 0)
			say(d, OK, 0, "chip", NULL, "%s at %u-%04x averages over %.2g s; for peaks: --averages 1",
			    c->model, c->bus, c->addr, jetwatt_batch_filter_ns(c) * 1e-9);
	}
}

static void check_rails(struct jetwatt_doctor *d)
{
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	struct jetwatt_config config;
	int total[JETWATT_RAILS_MAX], on = 0, sum, n;
	const char *scope = "";
	char names[200] = "";
	size_t at = 0;
	uint32_t fresh = UINT32_MAX;

	n = jetwatt_rails(d->jw, rail, JETWATT_RAILS_MAX);
	for (int i = 0; i < n; i++)
		on += rail[i].enabled != 0;
	sum = n > 0 && d->board ? jetwatt_board_total(d->board, rail, n, total, &scope) : 0;
	for (int i = 0; i < sum; i++) {
		at += snprintf(names + at, at < sizeof(names) ? sizeof(names) - at : 0, "%s%s",
			       i ? " + " : "", rail[total[i]].label);
		at = at < sizeof(names) ? at : sizeof(names) - 1;
		fresh = rail[total[i]].fresh_mhz < fresh ? rail[total[i]].fresh_mhz : fresh;
	}
	if (!d->board) {
		say(d, WARN, 0, "rails", "fix the finding \"board\" first",
		    "%d of %d enabled; the total is unknown, because the board is unknown", on,
		    n < 0 ? 0 : n);
	} else if (sum <= 0) {
		say(d, FAIL, JETWATT_EXIT_UNSUPPORTED, "rails", "jetwatt list rails",
		    "%d of %d enabled, but none of them belongs to the board's total", on, n < 0 ?
		    0 : n);
	} else {
		say(d, strcmp(scope, "partial sum") ? OK : WARN, 0, "rails",
		    "enable the missing rails in the device tree or by in*_enable of hwmon",
		    "%d of %d enabled; %s = %s", on, n, scope, names);
	}
	if (jetwatt_config_get(d->jw, &config))
		return;
	if (config.rate_hz && config.rate_hz < config.rate_max_hz)
		say(d, WARN, 0, "rate",
		    "the rate was set by hand; jetwatt stat --rate requests a higher one",
		    "set to %u Hz, %u Hz are possible", config.rate_hz, config.rate_max_hz);
	else
		say(d, OK, 0, "rate", NULL, "%u Hz, the highest rate possible", config.rate_max_hz);
}

/* The samples can reveal what other processes compute, so unprivileged processes must not get them. */
static void check_access(struct jetwatt_doctor *d)
{
	int leaks = jetwatt_access_check();

	if (leaks == 1)
		say(d, FAIL, JETWATT_EXIT_FAILED, "access",
		    "sudo modprobe -r jetwatt, and report this bug",
		    "an unprivileged process can read power samples");
	else if (leaks == -EPERM || leaks == -EACCES)
		say(d, WARN, 0, "access", "sudo jetwatt doctor", "not checked: needs root");
	else if (leaks)
		say(d, WARN, 0, "access", "dmesg | grep jetwatt", "not checked: %s", strerror(-leaks));
	else
		say(d, OK, 0, "access", NULL,
		    "user nobody and user-namespace root get no samples (tested)");
}

static void check_sampler_overhead(struct jetwatt_doctor *d)
{
	struct jetwatt_overhead o;

	if (jetwatt_sampler_overhead_measure(&o))
		return;
	if (o.core_w > 2 * o.error_w)
		say(d, OK, 0, "own cost", NULL,
		    "%.2f %% of a core, about %.1f mW (one core: %.2f +- %.2f W)",
		    100 * o.share, 1e3 * o.share * o.core_w, o.core_w, o.error_w);
	else
		say(d, OK, 0, "own cost", NULL,
		    "%.2f %% of a core; its power cannot be estimated here",
		    100 * o.share);
}

static void ignore_wait(const struct jetwatt_sync *s, void *arg)
{
	(void)s;
	(void)arg;
}

/* Check one backend of the probe and report whether it works. @needed: 1: no better backend works,
 * so a failure of this backend is a warning.
 * Return: 0, or the negative errno of jetwatt_probe_open(). */
static int check_backend(struct jetwatt_doctor *d, uint32_t backend, const char *sees,
			 const char *fix, int needed)
{
	struct jetwatt_probe_opts opts = { .tgid = getpid(), .backends = backend };
	const char *name = jetwatt_args_backend_name(backend);
	struct jetwatt_probe_state st;
	struct jetwatt_probe *p = NULL;
	int err = jetwatt_probe_open(&p, &opts, ignore_wait, NULL);

	if (err) {
		say(d, needed ? WARN : OK, 0, "probe", err == -EPERM && geteuid() ? "sudo jetwatt doctor" : fix,
		    "%s: %s%s", name, needed ? "" : "not available, and not needed: ",
		    err == -EPERM && geteuid() ? "not checked: needs root" : jetwatt_probe_error());
		return err;
	}
	jetwatt_probe_state(p, &st);
	if (!(st.attached & backend) && strstr(st.why[0], "CAP_SYS_ADMIN")) {
		say(d, needed ? WARN : OK, 0, "probe", "sudo jetwatt doctor", "%s: %s", name, st.why[0]);
		jetwatt_probe_close(p);
		return -EPERM;
	}
	if (st.attached & backend && *st.library)
		say(d, OK, 0, "probe", NULL, "%s: sees %s, in %s", name, sees, st.library);
	else
		say(d, OK, 0, "probe", NULL, "%s: sees %s%s", name, sees, st.attached & backend ? "" :
		    "; no libcuda is in the system's directories, so it attaches when a job loads one");
	jetwatt_probe_close(p);
	return 0;
}

static void check_probe_overhead(struct jetwatt_doctor *d, uint32_t backend)
{
	double plain, extra;

	if (!jetwatt_probe_overhead_measure(backend, &plain, &extra))
		say(d, OK, 0, "cost", NULL,
		    "other jobs: +%.0f ns per system call by %s (%.0f without)",
		    extra > 0 ? extra : 0, jetwatt_args_backend_name(backend), plain);
}

static void check_probe(struct jetwatt_doctor *d)
{
	static const struct {
		uint32_t backend;
		const char *sees, *fix;
	} backend[] = {
		{ JETWATT_BACKEND_UPROBE, "libcuda's calls, including busy waits and launches",
		  "needs the kernel option UPROBE_EVENTS, which JetPack 5 lacks" },
		{ JETWATT_BACKEND_TRACEPOINT, "system calls that wait for the GPU",
		  "needs the kernel options BPF_SYSCALL and BPF_EVENTS, which JetPack 5 lacks" },
		{ JETWATT_BACKEND_MODULE, "system calls that wait for the GPU, without BPF",
		  "sudo modprobe jetwatt" },
	};
	int best = -1, err = 0, e;

	for (int i = 0; i < 3; i++) {
		e = check_backend(d, backend[i].backend, backend[i].sees, backend[i].fix, best < 0);
		err = err ? err : e;
		if (!e && best < 0)
			best = i;
		if (!e)
			check_probe_overhead(d, backend[i].backend);
	}
	if (best >= 0)
		say(d, OK, 0, best < 2 ? "bpf" : "probe", NULL,
		    "a backend of the probe works; minibatches can be detected");
	else if (err == -EPERM && geteuid())
		say(d, WARN, 0, "bpf", "sudo jetwatt doctor", "not checked: needs root");
	else
		say(d, FAIL, jetwatt_error_code(err), "bpf",
		    "mark minibatches in the program itself: jetwatt mark --help",
		    "no backend works, so minibatches of unmodified programs cannot be detected");
}

static void check_saved(struct jetwatt_doctor *d)
{
	int owner = 0, saved = jetwatt_board_saved_owner(d->board, &owner);

	if (saved < 0)
		say(d, WARN, 0, "state", "sudo jetwatt doctor", "not checked: %s", strerror(-saved));
	else if (!saved)
		say(d, OK, 0, "state", NULL,
		    "no saved state: no mode of jetwatt is applied");
	else if (owner)
		say(d, OK, 0, "state", NULL, "process %d controls the knobs, and will restore them", owner);
	else
		say(d, WARN, 0, "state", "sudo jetwatt restore",
		    "a mode is applied, or a jetwatt was killed; old knobs are saved");
}

/* Check that the profile database can be opened and read. */
static void check_profiles(struct jetwatt_doctor *d)
{
	struct jetwatt_db_profile *p = NULL;
	struct jetwatt_error_text e;
	struct jetwatt_db *db = NULL;
	char buf[256];
	int err = jetwatt_db_open(&db, jetwatt_profile_store_path(NULL, buf, sizeof(buf)), false, &e), n = 0;

	if (err == -ENOENT) {
		say(d, OK, 0, "profiles", NULL, "no profiles yet");
		return;
	}
	if (!err)
		err = jetwatt_db_check(db, &e);
	if (!err) {
		n = jetwatt_db_profiles(db, &p, &e);
		err = n < 0 ? n : 0;
	}
	if (err)
		say(d, WARN, 0, "profiles", *e.fix ? e.fix : NULL, "%s: %s", e.what, e.why);
	else
		say(d, OK, 0, "profiles", NULL, "%d profiles: jetwatt list profiles", n);
	free(p);
	jetwatt_db_close(db);
}

void jetwatt_doctor_checks(struct jetwatt_doctor *d)
{
	if (check_kernel(d))
		return;
	check_board(d);
	check_module(d);
	if (d->jw) {
		check_chips(d);
		check_rails(d);
		jetwatt_doctor_shunts(d);
		check_access(d);
		check_sampler_overhead(d);
	}
	check_probe(d);
	if (d->board)
		check_saved(d);
	check_profiles(d);
	jetwatt_doctor_daemon(d);
}
