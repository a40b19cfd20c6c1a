// SPDX-License-Identifier: GPL-2.0-only
/*
 * A training job: for each minibatch it waits for its data loader, starts GPU work and waits for it
 * as CUDA does with blocking synchronisation. The job does not know which power mode is applied or
 * whether a tool observes it.
 *
 *   train [--minibatches N] [--seconds S] [--workload NAME] [--syncs K]
 *         [--eval-every N] [--eval M] [--wait pollfd|syncpt|spin|event|helper]
 *         [--helper 0|1] [--progress N]
 *         [--data FILE] [--read KB] [--workers W]
 *         [--size PERMILLE] [--then PERMILLE] [--after N] [--accumulate N] [--stall-every N] [--stall MS]
 *
 *   --syncs K       number of waits for the GPU per minibatch (1)
 *   --eval-every N  after every N minibatches, evaluate --eval M minibatches (8)
 *   --wait HOW      how to wait: by poll descriptor (default), syncpoint ioctl or BLOCKING_SYNC
 *                   event, by spinning on the memory of the syncpoint, or (helper) by a thread like
 *                   CUDA's own that polls the descriptor and wakes the job
 *   --helper 1      in addition to the job's own waits, that thread polls an event all the time
 *   --size PERMILLE size of a minibatch relative to the workload's (1000); --then PERMILLE after
 *                   --after N of them, or without --after when the job gets SIGUSR1
 *   --accumulate N  the optimizer runs in every Nth minibatch and makes its last wait longer
 *   --stall-every N after every N minibatches there is no data for --stall MS (100)
 *   --progress N    print a line every N minibatches
 *   --workload NAME is only printed; the board's workload is a parameter of the simulation
 *   --data FILE     read --read KB (1760: 16 images) of this file for each minibatch, again from the
 *                   start after its end; with --workers W (4) threads, together up to 2 W
 *                   minibatches ahead, or (0) by the job itself when it needs the data
 *
 * After SIGTERM or SIGINT, the job finishes the current minibatch and exits with status 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gpu_uapi.h"
#include "gpu_wait.h"

enum how { POLLFD, SYNCPT, SPIN, EVENT, HELPER, WAYS };

#define AHEAD		2	/* minibatches per worker that are read ahead */
#define WORKERS_MAX	64

static struct {
	long minibatches, eval_every, eval, progress, read_kb, workers;
	long size, then, after, accumulate, stall_every, stall, helper;
	double seconds;
	unsigned int syncs;
	enum how how;
	const char *workload, *data;
} opt = { .eval = 8, .syncs = 1, .read_kb = 1760, .workers = 4, .size = 1000, .stall = 100,
	  .workload = "resnet" };

/*
 * State that the loader's workers share with the training loop. Each worker reads the next minibatch
 * of the file; @ready only counts the minibatches that were read.
 */
static struct {
	pthread_mutex_t lock;
	sem_t room, ready;
	off_t at;
	int fd;
} data = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* Posted by the thread of helper() when a wait for the GPU has ended. */
static sem_t helped;

static int gpu;
static struct gpu_wait waits;
static volatile const __u32 *counter;
static volatile sig_atomic_t stop;
/* SIGUSR1, which is blocked and changes the size of the minibatches. */
static sigset_t change;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/* Return whether the size of the minibatches changes at minibatch @n. */
static int changes(long n)
{
	if (!opt.then || opt.after)
		return opt.then && n == opt.after;
	return sigtimedwait(&change, NULL, &(struct timespec){ 0 }) == SIGUSR1;
}

static void fail(const char *what)
{
	fprintf(stderr, "train: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void usage(void)
{
	fprintf(stderr, "usage: train [--minibatches N] [--seconds S] [--workload NAME] [--syncs K]\n"
			"             [--eval-every N] [--eval M] [--progress N] [--helper 0|1]\n"
			"             [--wait pollfd|syncpt|spin|event|helper]\n"
			"             [--data FILE] [--read KB] [--workers W]\n"
			"             [--size PERMILLE] [--then PERMILLE] [--after N]\n"
			"             [--accumulate N] [--stall-every N] [--stall MS]\n");
	exit(2);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Parse a number of at least @least; otherwise print the usage and exit. */
static long number(const char *s, long least)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(s, &end, 10);
	if (errno || end == s || *end || v < least)
		usage();
	return v;
}

static void options(int argc, char **argv)
{
	static const char *const ways[WAYS] = { "pollfd", "syncpt", "spin", "event", "helper" };
	int i, k;

	for (i = 1; i < argc; i += 2) {
		const char *name = argv[i], *value = argv[i + 1];

		if (!value)
			usage();
		if (!strcmp(name, "--minibatches")) {
			opt.minibatches = number(value, 1);
		} else if (!strcmp(name, "--seconds")) {
			opt.seconds = number(value, 1);
		} else if (!strcmp(name, "--workload")) {
			opt.workload = value;
		} else if (!strcmp(name, "--syncs")) {
			opt.syncs = number(value, 1);
		} else if (!strcmp(name, "--eval-every")) {
			opt.eval_every = number(value, 1);
		} else if (!strcmp(name, "--eval")) {
			opt.eval = number(value, 1);
		} else if (!strcmp(name, "--size")) {
			opt.size = number(value, 1);
		} else if (!strcmp(name, "--then")) {
			opt.then = number(value, 1);
		} else if (!strcmp(name, "--after")) {
			opt.after = number(value, 1);
		} else if (!strcmp(name, "--accumulate")) {
			opt.accumulate = number(value, 1);
		} else if (!strcmp(name, "--stall-every")) {
			opt.stall_every = number(value, 1);
		} else if (!strcmp(name, "--stall")) {
			opt.stall = number(value, 1);
		} else if (!strcmp(name, "--progress")) {
			opt.progress = number(value, 1);
		} else if (!strcmp(name, "--helper")) {
			opt.helper = number(value, 0);
		} else if (!strcmp(name, "--data")) {
			opt.data = value;
		} else if (!strcmp(name, "--read")) {
			opt.read_kb = number(value, 1);
		} else if (!strcmp(name, "--workers")) {
			opt.workers = number(value, 0);
			if (opt.workers > WORKERS_MAX)
				usage();
		} else if (!strcmp(name, "--wait")) {
			for (k = 0; k < WAYS && strcmp(value, ways[k]); k++)
				;
			if (k == WAYS)
				usage();
			opt.how = k;
		} else {
			usage();
		}
	}
}

static void open_gpu(void)
{
	void *page;

	gpu = open("/dev/jetwatt-sim-gpu", O_RDWR | O_CLOEXEC);
	if (gpu < 0)
		fail("/dev/jetwatt-sim-gpu");
	if (gpu_wait_open(&waits))
		fail("nodes to wait on");
	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, gpu, 0);
	if (page == MAP_FAILED)
		fail("mmap");
	counter = page;
}

/* Read the next minibatch from the file. */
static void read_next(char *buf)
{
	size_t len = opt.read_kb * 1000, done = 0;
	ssize_t n;
	off_t at;

	pthread_mutex_lock(&data.lock);
	at = data.at;
	data.at += len;
	pthread_mutex_unlock(&data.lock);
	while (done < len) {
		n = pread(data.fd, buf, len - done, at % lseek(data.fd, 0, SEEK_END));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			fail(opt.data);
		done += n;
		at += n;
	}
}

static char *buffer(void)
{
	char *buf = malloc(opt.read_kb * 1000);

	if (!buf)
		fail("--read");
	return buf;
}

static void *worker(void *arg)
{
	char *buf = buffer();

	(void)arg;
	for (;;) {
		while (sem_wait(&data.room))
			;
		read_next(buf);
		sem_post(&data.ready);
	}
	return NULL;
}

static void open_data(void)
{
	pthread_t thread;

	data.fd = open(opt.data, O_RDONLY | O_CLOEXEC);
	if (data.fd < 0 || lseek(data.fd, 0, SEEK_END) <= 0)
		fail(opt.data);
	sem_init(&data.room, 0, AHEAD * opt.workers);
	sem_init(&data.ready, 0, 0);
	for (long i = 0; i < opt.workers; i++) {
		errno = pthread_create(&thread, NULL, worker, NULL);
		if (errno)
			fail("worker");
	}
}

/* Get the data of the next minibatch. */
static void fetch(void)
{
	static char *buf;

	if (!opt.data)
		return;
	if (!opt.workers) {
		buf = buf ? buf : buffer();
		read_next(buf);
		return;
	}
	while (sem_wait(&data.ready))
		;
	sem_post(&data.room);
}

/*
 * libcuda starts a thread of this name, which polls all the time with a timeout and wakes the other
 * threads: for their waits (--wait helper) or for callbacks, of which this job has none
 * (--helper 1).
 */
static void *helper(void *arg)
{
	struct pollfd p = { .fd = opt.how == HELPER ? waits.pollfd : waits.event,
			    .events = POLLIN | POLLPRI };

	(void)arg;
	pthread_setname_np(pthread_self(), "cuda-EvtHandlr");
	for (;;)
		if (poll(&p, 1, 100) > 0 && opt.how == HELPER)
			sem_post(&helped);
	return NULL;
}

static void start_helper(void)
{
	pthread_t thread;

	sem_init(&helped, 0, 0);
	errno = pthread_create(&thread, NULL, helper, NULL);
	if (errno)
		fail("helper");
}

static int wait_for_helper(__u32 id, __u32 threshold)
{
	if (gpu_wait_arm(&waits, id, threshold))
		return -1;
	while (sem_wait(&helped))
		;
	return 0;
}

static int spin(__u32 threshold)
{
	while ((__s32)(*counter - threshold) < 0)
		;
	return 0;
}

static void synchronise(__u32 id, __u32 threshold)
{
	if (opt.how == POLLFD ? gpu_wait_pollfd(&waits, id, threshold) :
	    opt.how == SYNCPT ? gpu_wait_syncpt(&waits, id, threshold) :
	    opt.how == EVENT ? gpu_wait_event(&waits, counter, threshold) :
	    opt.how == HELPER ? wait_for_helper(id, threshold) : spin(threshold))
		fail("waiting for the GPU");
}

/* Run one minibatch in @pieces pieces. @last: like @permille, but for the last piece */
static void minibatch(__u32 kind, __u32 permille, __u32 last, __u32 pieces)
{
	/* Without workers, preprocessing begins only after the data was read. */
	struct sim_load load = { .kind = kind, .permille = permille,
				 .now = opt.data && !opt.workers };
	__u32 i;

	fetch();
	while (ioctl(gpu, SIM_LOAD, &load))
		if (errno != EINTR)
			fail("load");
	for (i = 1; i <= pieces; i++) {
		struct sim_submit s = { .kind = kind, .permille = i < pieces ? permille : last, .piece = i,
					.pieces = pieces };

		if (ioctl(gpu, SIM_SUBMIT, &s))
			fail("submit");
		synchronise(s.syncpt, s.threshold);
	}
}

/*
 * Run an evaluation: its minibatches have only the forward pass, so they are shorter, and the job
 * waits only once in each.
 */
static void evaluate(void)
{
	long i;

	for (i = 0; i < opt.eval && !stop; i++)
		minibatch(SIM_KIND_EVAL, 380 * opt.size / 1000 + 1, 380 * opt.size / 1000 + 1, 1);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	double begin = now();
	long n, size, step;

	sigemptyset(&change);
	sigaddset(&change, SIGUSR1);
	sigprocmask(SIG_BLOCK, &change, NULL);
	options(argc, argv);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	open_gpu();
	if (opt.helper || opt.how == HELPER)
		start_helper();
	if (opt.data)
		open_data();
	if (opt.progress)
		printf("training %s\n", opt.workload);
	for (n = 0; !stop; n++) {
		if (opt.minibatches && n == opt.minibatches)
			break;
		if (opt.seconds > 0 && now() - begin >= opt.seconds)
			break;
		if (changes(n))
			opt.size = opt.then;
		/* The first minibatch takes longer, as in frameworks that tune their kernels during
		 * it. */
		size = n ? opt.size : 3 * opt.size;
		step = opt.accumulate && n % opt.accumulate == opt.accumulate - 1;
		if (n && opt.stall_every && n % opt.stall_every == 0)
			usleep(opt.stall * 1000);
		minibatch(SIM_KIND_TRAIN, size, step ? size * (100 + 25 * opt.syncs) / 100 : size,
			  opt.syncs);
		if (opt.progress && n % opt.progress == opt.progress - 1) {
			printf("step %ld loss %.4f\n", n + 1, 0.4 + 6.5 / (1 + n * 0.01));
			fflush(stdout);
		}
		if (opt.eval_every && n % opt.eval_every == opt.eval_every - 1)
			evaluate();
	}
	return 0;
}
