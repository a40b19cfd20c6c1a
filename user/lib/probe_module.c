// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The backend for kernels that cannot trace with BPF, such as JetPack 5's: jetwatt.ko traces the
 * same system calls and sends records of the same waits.
 */
#include <errno.h>
#include <linux/jetwatt.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/attr.h"
#include "lib/fdname.h"
#include "lib/process_tree.h"
#include "lib/lib.h"
#include "lib/probe.h"

/**
 * struct module - state of the module backend
 * @probe: the probe
 * @jw: connection to the module
 * @names: cache of the kinds of files to which descriptors refer
 * @left_out: number of processes that did not fit into the request, so that their waits are not
 *	seen; each counts as one lost wait, as in the module when its table is full
 * @lost: number of waits that the module has lost by its last message, plus @left_out
 * @reported_lost: part of @lost that was reported to the caller
 */
struct module {
	struct jetwatt_probe *probe;
	struct jetwatt *jw;
	struct jetwatt_fdname names;
	uint64_t left_out, lost, reported_lost;
};

static void module_deliver(struct module *m, const struct jetwatt_wait_record *r)
{
	uint32_t call = r->call & ~JETWATT_WAIT_HELPER;
	int syncpt = call == JETWATT_WAIT_SYNCPT;
	struct jetwatt_sync s = {
		.enter_ns = r->enter_ns,
		.exit_ns = r->exit_ns,
		.cgroup = r->cgroup,
		.tgid = r->tgid,
		.tid = r->tid,
		.call = r->call & JETWATT_WAIT_HELPER ? JETWATT_SYNC_HELPER :
			syncpt ? JETWATT_SYNC_SYNCPT : JETWATT_SYNC_POLLFD,
		.ret = r->ret,
		.lost = m->lost - m->reported_lost,
	};

	if (call > JETWATT_WAIT_SYNCPT ||
	    !jetwatt_fdname_genuine(&m->names, r->tgid, syncpt, r->fd, r->ctl_fd, r->exit_ns))
		return;
	m->reported_lost = m->lost;
	jetwatt_probe_deliver(m->probe, &s);
}

static int waits_reply(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	struct jetwatt_parse_waits w;
	struct jetwatt_wait_record r;
	struct module *m = arg;
	int err;

	(void)jw;
	err = jetwatt_parse_waits(&w, attr, len);
	if (err)
		return err;
	m->lost = w.lost + m->left_out;
	for (uint32_t i = 0; i < w.nr; i++) {
		r = jetwatt_parse_wait(&w, i);
		module_deliver(m, &r);
	}
	return 0;
}

/* List the first @max processes to watch. Return: number of processes to watch, 0: watch all; or a
 * negative errno. */
static int watched_processes(const struct jetwatt_probe_opts *o, uint32_t *tgid, int max)
{
	uint32_t *tree = NULL;
	int n;

	if (!o->cgroup_path && !o->tgid)
		return 0;
	tgid[0] = o->tgid;
	if (!o->cgroup_path && !o->children)
		return 1;
	n = o->cgroup_path ? jetwatt_process_cgroup_tree(o->cgroup_path, &tree) :
			     jetwatt_process_tree(o->tgid, &tree);
	if (n > 0)
		memcpy(tgid, tree, (n < max ? n : max) * sizeof(*tgid));
	free(tree);
	return n;
}

static int module_watch(struct module *m, const struct jetwatt_probe_opts *o,
			const uint32_t *tgid, int n)
{
	struct nl_msg *msg = jetwatt_request_new(m->jw, JETWATT_CMD_WAITS_WATCH, 0);

	if (!msg || (n && nla_put(msg, JETWATT_A_WAITS_TGIDS, n * sizeof(*tgid), tgid)) ||
	    ((o->children || o->cgroup_path) && nla_put_flag(msg, JETWATT_A_WAITS_CHILDREN))) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return jetwatt_request_run(m->jw, m->jw->stream, msg, "watching waits", NULL, NULL);
}

static void module_close(void *state)
{
	struct module *m = state;

	/* Closing the socket makes the module stop tracing for this process. */
	if (m->jw)
		jetwatt_close(m->jw);
	jetwatt_fdname_close(&m->names);
	free(m);
}

static int module_open(void **state, struct jetwatt_probe *p, const struct jetwatt_probe_opts *o,
		       uint32_t which)
{
	const int max = JETWATT_WAITS_TGIDS_MAX;
	uint32_t tgid[JETWATT_WAITS_TGIDS_MAX];
	struct module *m;
	int n, err;

	if (o->cgroup)
		return jetwatt_probe_refuse(p, which, -EOPNOTSUPP,
					    "the module cannot filter by cgroup id");
	n = watched_processes(o, tgid, max);
	if (n < 0 && o->cgroup_path)
		return jetwatt_probe_refuse(p, which, n, "following cgroup %s: %s", o->cgroup_path,
					    n == -ESRCH ? "it has no process" : strerror(-n));
	if (n < 0)
		return jetwatt_probe_refuse(p, which, n, "following process %u: %s", o->tgid,
					    strerror(-n));
	m = calloc(1, sizeof(*m));
	if (!m)
		return jetwatt_probe_refuse(p, which, -ENOMEM, "out of memory");
	m->probe = p;
	m->lost = m->left_out = n > max ? n - max : 0;
	err = jetwatt_open(&m->jw);
	if (!err)
		err = module_watch(m, o, tgid, n < max ? n : max);
	if (err) {
		jetwatt_probe_refuse(p, which, err, "by the module: %s", jetwatt_error(m->jw));
		module_close(m);
		return err;
	}
	jetwatt_probe_of(p)->attached |= JETWATT_BACKEND_MODULE;
	*state = m;
	return 0;
}

static int module_fd(const void *state)
{
	return jetwatt_fd(((const struct module *)state)->jw);
}

static int module_dispatch(void *state)
{
	struct module *m = state;
	int n = jetwatt_socket_dispatch(m->jw, m->jw->stream, JETWATT_CMD_WAITS_NTF,
					"receiving waits", waits_reply, m);

	return n < 0 ? n : 0;
}

static uint64_t module_lost(const void *state)
{
	return ((const struct module *)state)->lost;
}

const struct jetwatt_backend_ops jetwatt_backend_module = {
	.backends = JETWATT_BACKEND_MODULE,
	.open = module_open,
	.fd = module_fd,
	.dispatch = module_dispatch,
	.lost = module_lost,
	.close = module_close,
};
