// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt doctor -p PID: which CUDA calls a running program makes in two seconds, in which calls of
 * ioctl() and ppoll() on GPU devices its threads sleep, and which backend of the probe sees its waits
 * for the GPU.
 *
 * There are three independent sources of information: each backend on its own; calls counted per
 * entry point of libcuda; and /proc/PID/task/TID/syscall, which names the system call that a thread
 * sleeps in, even if no backend detects this call.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/doctor/doctor.h"
#include "measure/session.h"
#include "util/args.h"
#include "util/clock.h"
#include "util/error.h"

#define MEASURE_NS	2000000000ull
#define POLL_MS		10
#define BACKENDS	3
#define ENTRIES_MAX	64
#define SLEEPS_MAX	32
#define POLLFDS_MAX	8
/* Minimum share of the waits for the GPU that a backend must see; with a smaller share, the
 * minibatches that it detects would be wrong. */
#define SHARE_MIN		0.9

/* System call in which polls found threads named @thread asleep; @polls: number of polls that found at
 * least one such thread in it; @last: number of the last of these polls, counted from 1. */
struct sleep_place {
	char thread[20], call[100];
	unsigned int polls, last;
};

struct watched_process {
	struct jetwatt_doctor *d;
	pid_t pid;
	struct backend {
		uint32_t backend;
		struct jetwatt_probe *probe;
		struct jetwatt_probe_state state;
		uint64_t begun_ns, waits;	/* waits that ended since begun_ns */
		char why[160];
	} by[BACKENDS];
	struct sleep_place sleep_place[SLEEPS_MAX];
	unsigned int nr_sleeps, polls;
	uint64_t attached_ns;
	/* durations, s: of the measurement of waits; and since attached_ns, in which calls are
	 * counted */
	double seconds, calls_s;
};

static void process_count_wait(const struct jetwatt_sync *s, void *backend)
{
	struct backend *b = backend;

	b->waits += s->exit_ns >= b->begun_ns;
}

static void process_attach(struct watched_process *p)
{
	static const uint32_t backend[BACKENDS] = { JETWATT_BACKEND_UPROBE, JETWATT_BACKEND_TRACEPOINT,
						 JETWATT_BACKEND_MODULE };

	for (int i = 0; i < BACKENDS; i++) {
		struct backend *b = &p->by[i];
		struct jetwatt_probe_opts o = { .tgid = p->pid, .children = 1, .backends = backend[i],
						.count = 1 };

		b->backend = backend[i];
		if (jetwatt_probe_open(&b->probe, &o, process_count_wait, b))
			snprintf(b->why, sizeof(b->why), "%s", jetwatt_probe_error());
		p->attached_ns = i ? p->attached_ns : jetwatt_clock_ns();
	}
}

static int is_gpu(const char *path)
{
	static const char *const part[] = { "host1x", "nvhost", "nvgpu", "/dev/nvidia", "/dev/dri/" };

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		if (strstr(path, part[i]))
			return 1;
	return 0;
}

/* Read the path of the descriptor @fd of the process into @path. Return: 1 if the path is a device
 * file of a GPU driver, else 0. */
static int is_gpu_descriptor(const struct watched_process *p, int fd, char *path, size_t len)
{
	char link[48];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", p->pid, fd);
	n = readlink(link, path, len - 1);
	path[n > 0 ? n : 0] = '\0';
	return is_gpu(path);
}

/* Check the first POLLFDS_MAX of the @n entries of the struct pollfd array at the address @at of the
 * process, which sleeps in ppoll(). Return: 1 if an entry is a GPU device file, whose path is then in
 * @path; else 0. */
static int polls_gpu(const struct watched_process *p, unsigned long long at, unsigned long long n,
		     char *path, size_t len)
{
	struct pollfd entry[POLLFDS_MAX];
	char name[32];
	ssize_t got;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/mem", p->pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = n < POLLFDS_MAX ? n : POLLFDS_MAX;
	got = pread(fd, entry, n * sizeof(entry[0]), (off_t)at);
	close(fd);
	for (ssize_t i = 0; i < got / (ssize_t)sizeof(entry[0]); i++)
		if (is_gpu_descriptor(p, entry[i].fd, path, len))
			return 1;
	return 0;
}

static void add_sleep(struct watched_process *p, const char *task, const char *call)
{
	char path[300], thread[20] = "";
	unsigned int i;
	FILE *f;

	snprintf(path, sizeof(path), "%s/comm", task);
	f = fopen(path, "re");
	if (f && fgets(thread, sizeof(thread), f))
		thread[strcspn(thread, "\n")] = '\0';
	if (f)
		fclose(f);
	for (i = 0; i < p->nr_sleeps; i++)
		if (!strcmp(p->sleep_place[i].thread, thread) &&
		    !strcmp(p->sleep_place[i].call, call))
			break;
	if (i == SLEEPS_MAX)
		return;
	if (i == p->nr_sleeps) {
		p->nr_sleeps++;
		snprintf(p->sleep_place[i].thread, sizeof(p->sleep_place[i].thread), "%s", thread);
		snprintf(p->sleep_place[i].call, sizeof(p->sleep_place[i].call), "%s", call);
	}
	/* Threads may share a name: count each poll once, so that the share is at most 100 %. */
	p->sleep_place[i].polls += p->sleep_place[i].last != p->polls;
	p->sleep_place[i].last = p->polls;
}

static void poll_thread(struct watched_process *p, const char *task)
{
	char path[300], line[256] = "", name[64], call[100];
	unsigned long long a, b;
	long nr;
	FILE *f;

	snprintf(path, sizeof(path), "%s/syscall", task);
	f = fopen(path, "re");
	if (!f)
		return;
	/* the file /proc/PID/task/TID/syscall contains "running", or the number and arguments of
	 * the system call */
	if (!fgets(line, sizeof(line), f) || sscanf(line, "%ld %llx %llx", &nr, &a, &b) != 3)
		nr = -1;
	fclose(f);
	if (nr == SYS_ioctl && is_gpu_descriptor(p, (int)a, name, sizeof(name)))
		snprintf(call, sizeof(call), "ioctl 0x%llx of %s", b, name);
	else if (nr == SYS_ppoll && polls_gpu(p, a, b, name, sizeof(name)))
		snprintf(call, sizeof(call), "poll of %s", name);
	else
		return;
	add_sleep(p, task, call);
}

static void process_poll(struct watched_process *p)
{
	char path[32], task[290];
	struct dirent *e;
	DIR *dir;

	p->polls++;
	snprintf(path, sizeof(path), "/proc/%d/task", p->pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0])) {
			snprintf(task, sizeof(task), "%s/%s", path, e->d_name);
			poll_thread(p, task);
		}
	if (dir)
		closedir(dir);
}

static void process_measure(struct watched_process *p)
{
	uint64_t begin, end;

	/*
	 * The backends have been attached one after the other, which takes time. Handle the waits
	 * that arrived while backends were being attached, then set all counters to 0, so that all
	 * backends count the same waits.
	 */
	for (int i = 0; i < BACKENDS; i++)
		if (p->by[i].probe)
			jetwatt_probe_dispatch(p->by[i].probe);
	begin = jetwatt_clock_ns();
	for (int i = 0; i < BACKENDS; i++) {
		p->by[i].begun_ns = begin;
		p->by[i].waits = 0;
	}
	do {
		process_poll(p);
		for (int i = 0; i < BACKENDS; i++)
			if (p->by[i].probe)
				jetwatt_probe_dispatch(p->by[i].probe);
		poll(NULL, 0, POLL_MS);
		end = jetwatt_clock_ns();
	} while (end - begin < MEASURE_NS && !kill(p->pid, 0));
	p->seconds = (double)(end - begin) * 1e-9;
	p->calls_s = (double)(end - p->attached_ns) * 1e-9;
	for (int i = 0; i < BACKENDS; i++)
		if (p->by[i].probe) {
			jetwatt_probe_flush(p->by[i].probe);
			jetwatt_probe_state(p->by[i].probe, &p->by[i].state);
		}
}

static int entry_by_name(const void *a, const void *b)
{
	const struct jetwatt_probe_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Report the rate of calls per entry point, summed over the process and its children. */
static void print_calls(struct watched_process *p)
{
	struct jetwatt_probe_entry e[ENTRIES_MAX];
	int n = p->by[0].probe ? jetwatt_probe_entries(p->by[0].probe, e, ENTRIES_MAX) : 0;
	uint64_t sum = 0;

	if (n > 0)
		qsort(e, n, sizeof(e[0]), entry_by_name);
	for (int i = 0; i < n; i++) {
		sum += e[i].calls;
		if (i + 1 < n && !strcmp(e[i].name, e[i + 1].name))
			continue;
		jetwatt_doctor_finding(p->d, OK, 0, "call", NULL, "%s: %.1f calls per second",
				       e[i].name, (double)sum / p->calls_s);
		sum = 0;
	}
}

static void print_sleeps(struct watched_process *p)
{
	for (unsigned int i = 0; i < p->nr_sleeps; i++)
		jetwatt_doctor_finding(p->d, OK, 0, "sleep", NULL,
				       "thread %s: %.0f %% of the time asleep in %s",
				       p->sleep_place[i].thread,
				       100.0 * p->sleep_place[i].polls / p->polls,
				       p->sleep_place[i].call);
}

/* @most: number of waits for the GPU that the uprobe backend saw. Return: 1 if this backend sees
 * enough of the waits to find minibatches, else 0. */
static int print_backend(struct watched_process *p, struct backend *b, uint64_t most)
{
	const char *name = jetwatt_args_backend_name(b->backend);
	unsigned long long waits = b->waits;

	if (!b->probe)
		jetwatt_doctor_finding(p->d, WARN, 0, "backend", geteuid() ? "sudo jetwatt doctor -p PID" :
				       "jetwatt doctor", "%s: not usable here: %s", name, b->why);
	else if (!waits && b->backend == JETWATT_BACKEND_UPROBE)
		jetwatt_doctor_finding(p->d, WARN, 0, "backend", *b->state.library ?
				       "the CUDA runtime may be stripped, or calls the driver by addresses that libcuda does not export" :
				       "check that the program uses CUDA: grep libcuda /proc/PID/maps",
				       "%s: sees no waits; %s", name, *b->state.library ?
				       b->state.library :
				       "the program has not loaded libcuda");
	else if (!waits)
		jetwatt_doctor_finding(p->d, WARN, 0, "backend", most ?
				       "jetwatt stat --probe uprobe" :
				       "check that the program uses the GPU now",
				       "%s: sees no waits; the program spins, queries, or sleeps in other system calls", name);
	else if ((double)waits < SHARE_MIN * (double)most)
		jetwatt_doctor_finding(p->d, WARN, 0, "backend",
				       "do not select this backend with --probe",
				       "%s: sees only %llu of %llu waits, so its minibatches would be wrong", name,
				       waits, (unsigned long long)most);
	else
		jetwatt_doctor_finding(p->d, OK, 0, "backend", NULL,
				       "%s: sees minibatches; %.1f waits per second",
				       name, (double)waits / p->seconds);
	return waits && (double)waits >= SHARE_MIN * (double)most;
}

static void print_all(struct watched_process *p)
{
	int good = 0;

	print_calls(p);
	print_sleeps(p);
	/* The uprobe backend sees all calls of libcuda, so its count is the reference if it is not
	 * 0. */
	for (int i = 0; i < BACKENDS; i++)
		good += print_backend(p, &p->by[i], p->by[0].waits);
	if (good)
		jetwatt_doctor_finding(p->d, OK, 0, "verdict", NULL,
				       "jetwatt stat -p %d can measure its minibatches",
				       p->pid);
	else
		jetwatt_doctor_finding(p->d, FAIL, JETWATT_EXIT_UNSUPPORTED, "verdict",
				       "repeat while the program computes, or mark minibatches in the program: jetwatt mark --help",
				       "no backend sees minibatches of process %d", p->pid);
}

int jetwatt_doctor_process(struct jetwatt_doctor *d, pid_t pid)
{
	struct watched_process p = { .d = d, .pid = pid };

	if (kill(pid, 0) && errno == ESRCH)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, "there is no such process",
					 "give the pid of a running job: pgrep python", "cannot examine process %d", pid);
	if (d->want_json) {
		jetwatt_json_init(&d->json, stdout, 1);
		jetwatt_json_object(&d->json, NULL);
		jetwatt_json_int(&d->json, "pid", pid);
		jetwatt_json_array(&d->json, "checks");
	}
	process_attach(&p);
	process_measure(&p);
	print_all(&p);
	for (int i = 0; i < BACKENDS; i++)
		jetwatt_probe_close(p.by[i].probe);
	if (d->want_json) {
		jetwatt_json_end(&d->json);
		jetwatt_json_real(&d->json, "seconds", p.seconds, 4);
		jetwatt_json_object(&d->json, "waits");
		for (int i = 0; i < BACKENDS; i++)
			jetwatt_json_uint(&d->json, jetwatt_args_backend_name(p.by[i].backend), p.by[i].waits);
		jetwatt_json_end(&d->json);
		jetwatt_json_end(&d->json);
	}
	return d->code;
}
