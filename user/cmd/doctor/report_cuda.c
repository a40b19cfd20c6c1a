// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CUDA part of a report: which functions of interest the CUDA libraries export, and which
 * backend of the probe sees the waits of a small CUDA loop, or of the job of --loop.
 */
#include "cmd/doctor/report.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <gelf.h>
#include <glob.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/child.h"
#include "measure/session.h"
#include "util/clock.h"

#define BACKENDS	3
#define LOOP_MS		15000

static const char *const libraries[] = {
	"usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1", "usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1",
	"usr/lib/aarch64-linux-gnu/libcuda.so.1", "usr/lib/libcuda.so.1", "lib/libcuda.so.1",
	"usr/local/cuda/compat/libcuda.so.1", "usr/local/cuda/lib64/libcudart.so.*",
	"usr/lib/aarch64-linux-gnu/libcudart.so.*", "usr/lib/libcudart.so.*", "lib/libcudart.so.*", NULL
};

/* Patterns of the names of functions of the CUDA driver library and runtime that wait, query,
 * launch or copy, and of cuGetProcAddress(), which returns addresses of such functions. */
static const char *const calls[] = {
	"cu*Synchronize*", "cu*Query*", "cuLaunch*", "cudaLaunch*", "cuGraphLaunch*",
	"cudaGraphLaunch*", "cuMemcpy*", "cudaMemcpy*", "cuStreamWait*", "cuGetProcAddress*", NULL
};

static bool is_listed_call(const char *name)
{
	for (int i = 0; calls[i]; i++)
		if (!fnmatch(calls[i], name, 0))
			return true;
	return false;
}

static int report_symbols(struct jetwatt_gather *g, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;
	int n = 0;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNSYM || !sh.sh_entsize)
			continue;
		data = elf_getdata(scn, NULL);
		for (size_t i = 0; data && i < sh.sh_size / sh.sh_entsize; i++) {
			const char *name;

			if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF ||
			    GELF_ST_TYPE(sym.st_info) != STT_FUNC)
				continue;
			name = elf_strptr(elf, sh.sh_link, sym.st_name);
			if (name && is_listed_call(name)) {
				jetwatt_json_string(&g->j, NULL, name);
				n++;
			}
		}
	}
	return n;
}

static void report_library(struct jetwatt_gather *g, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), n;
	char real[4096];
	GElf_Ehdr head;
	Elf *elf;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && gelf_getehdr(elf, &head) && head.e_type == ET_DYN) {
		jetwatt_json_object(&g->j, NULL);
		jetwatt_gather_string(g, "path", path + strlen(g->root));
		if (realpath(path, real))
			jetwatt_gather_string(g, "file", strrchr(real, '/') + 1);
		jetwatt_json_array(&g->j, "calls");
		n = report_symbols(g, elf);
		jetwatt_json_end(&g->j);
		jetwatt_json_end(&g->j);
		fprintf(g->text, "library  %s: %d functions that wait, query, launch or copy\n",
			path + strlen(g->root), n);
	}
	elf_end(elf);
	close(fd);
}

/* @waits: number of waits that one backend has seen, indexed by enum jetwatt_sync_call; @launches: number
 * of launches of GPU work before these waits; @why: reason why the backend could not attach. */
struct counts {
	struct jetwatt_probe *probe;
	char why[192];
	uint64_t waits[JETWATT_SYNC_CALLS], launches;
};

static void loop_on_wait(const struct jetwatt_sync *s, void *arg)
{
	struct counts *c = arg;

	if (s->call < JETWATT_SYNC_CALLS)
		c->waits[s->call]++;
	c->launches += s->launches;
}

static int run_loop(char **argv, struct counts *c)
{
	static const uint32_t backend[BACKENDS] = { JETWATT_BACKEND_UPROBE, JETWATT_BACKEND_TRACEPOINT,
						 JETWATT_BACKEND_MODULE };
	struct jetwatt_child child = { 0 };
	uint64_t until;
	int err = jetwatt_child_start(&child, argv, -1);

	if (err)
		return err;
	for (int i = 0; i < BACKENDS; i++) {
		struct jetwatt_probe_opts opts = { .tgid = (uint32_t)child.pid, .children = 1,
						   .backends = backend[i] };

		if (jetwatt_probe_open(&c[i].probe, &opts, loop_on_wait, &c[i])) {
			c[i].probe = NULL;
			snprintf(c[i].why, sizeof(c[i].why), "%s", jetwatt_probe_error());
		}
	}
	err = jetwatt_child_go(&child);
	until = jetwatt_clock_ns() + LOOP_MS * 1000000ull;
	while (!err && !jetwatt_child_reap(&child) && jetwatt_clock_ns() < until) {
		for (int i = 0; i < BACKENDS; i++)
			if (c[i].probe)
				jetwatt_probe_dispatch(c[i].probe);
		poll(NULL, 0, 20);
	}
	jetwatt_child_stop(&child);
	for (int i = 0; i < BACKENDS; i++)
		if (c[i].probe) {
			jetwatt_probe_dispatch(c[i].probe);
			jetwatt_probe_flush(c[i].probe);
			jetwatt_probe_close(c[i].probe);
		}
	return err ? err : jetwatt_child_exit(&child);
}

static void report_backend(struct jetwatt_gather *g, const char *name, const struct counts *c)
{
	/* All kinds but marks, which are not waits. */
	static const char *const call[JETWATT_SYNC_CALLS] = {
		[JETWATT_SYNC_POLLFD] = "pollfd", [JETWATT_SYNC_SYNCPT] = "syncpt",
		[JETWATT_SYNC_STREAM] = "stream", [JETWATT_SYNC_EVENT] = "event",
		[JETWATT_SYNC_CONTEXT] = "context", [JETWATT_SYNC_HELPER] = "helper",
		[JETWATT_SYNC_COPY] = "copy", [JETWATT_SYNC_QUERY] = "query",
		[JETWATT_SYNC_CALLBACK] = "callback",
	};
	uint64_t sum = 0;

	jetwatt_json_object(&g->j, NULL);
	jetwatt_json_string(&g->j, "backend", name);
	jetwatt_json_bool(&g->j, "attached", c->probe != NULL);
	if (*c->why)
		jetwatt_gather_string(g, "why", c->why);
	jetwatt_json_object(&g->j, "waits");
	for (int i = 0; i < JETWATT_SYNC_CALLS; i++) {
		if (!call[i])
			continue;
		jetwatt_json_uint(&g->j, call[i], c->waits[i]);
		sum += c->waits[i];
	}
	jetwatt_json_end(&g->j);
	jetwatt_json_uint(&g->j, "launches", c->launches);
	jetwatt_json_end(&g->j);
	fprintf(g->text, "backend  %-10s %llu waits seen%s%s\n", name, (unsigned long long)sum,
		*c->why ? "; not attached: " : "", c->why);
}

/* Source of the CUDA loop: a PyTorch script, or a CUDA program if PyTorch cannot use CUDA. */
#define TORCH	"import torch\na = torch.randn(1024, 1024, device='cuda')\n" \
		"for _ in range(200):\n    for _ in range(8):\n        a = torch.tanh(a @ a)\n" \
		"    torch.cuda.synchronize()\n"
#define LOOP_CU	"__global__ void work(float *x, int n) { float v = x[threadIdx.x];\n" \
		"for (int i = 0; i < n; i++) v = v * 0.999f + 0.5f; x[threadIdx.x] = v; }\n" \
		"int main() { float *x; cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);\n" \
		"if (cudaMalloc(&x, 1024 * sizeof(*x)) != cudaSuccess) return 1;\n" \
		"for (int i = 0; i < 200; i++) { work<<<64, 256>>>(x, 200000);\n" \
		"if (cudaDeviceSynchronize() != cudaSuccess) return 1; } return 0; }\n"

static int shell_status(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Find a way to run a CUDA loop and build it in @dir. @command: set to the shell command that runs
 * the loop. Return: "torch" or "nvcc"; NULL if neither works or the source cannot be written. */
static const char *find_loop(const char *dir, char *command, size_t len)
{
	char path[256];
	FILE *f;

	if (!shell_status("timeout 10 python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' > /dev/null 2>&1")) {
		snprintf(command, len, "exec python3 %s/loop.py", dir);
		snprintf(path, sizeof(path), "%s/loop.py", dir);
		f = fopen(path, "wex");
		if (f)
			fputs(TORCH, f);
		return f && !fclose(f) ? "torch" : NULL;
	}
	snprintf(path, sizeof(path), "%s/loop.cu", dir);
	f = fopen(path, "wex");
	if (!f)
		return NULL;
	fputs(LOOP_CU, f);
	if (fclose(f))
		return NULL;
	snprintf(command, len, "cd %s && PATH=$PATH:/usr/local/cuda/bin timeout 15 nvcc -o loop loop.cu > /dev/null 2>&1",
		 dir);
	if (shell_status(command))
		return NULL;
	snprintf(command, len, "exec %s/loop", dir);
	return "nvcc";
}

static void report_loop(struct jetwatt_gather *g, const char *dir, const char *own)
{
	static const char *const name[BACKENDS] = { "uprobe", "tracepoint", "module" };
	char command[512], *argv[] = { (char *)"sh", (char *)"-c", command, NULL };
	struct counts c[BACKENDS] = { 0 };
	int status;
	const char *by = own ? "given" : find_loop(dir, command, sizeof(command));
	char quieter[640];

	if (own)
		snprintf(command, sizeof(command), "exec %.480s", own);
	jetwatt_json_object(&g->j, "loop");
	jetwatt_json_string(&g->j, "by", by);
	if (by) {
		snprintf(quieter, sizeof(quieter), "exec > /dev/null 2>&1 < /dev/null; %s", command);
		argv[2] = quieter;
		status = run_loop(argv, c);
		jetwatt_json_int(&g->j, "status", status);
		if (status)
			fprintf(g->text, "loop     ended with status %d\n", status);
		jetwatt_json_array(&g->j, "seen");
		for (int i = 0; i < BACKENDS; i++)
			report_backend(g, name[i], &c[i]);
		jetwatt_json_end(&g->j);
	} else {
		g->no_loop = "neither PyTorch with CUDA nor nvcc was found";
		fprintf(g->text, "loop     left out: %s\n", g->no_loop);
	}
	jetwatt_json_end(&g->j);
}

static void remove_loop_dir(const char *dir)
{
	static const char *const leaf[] = { "loop.py", "loop.cu", "loop" };
	char path[300];

	for (size_t i = 0; i < sizeof(leaf) / sizeof(leaf[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, leaf[i]);
		unlink(path);
	}
	rmdir(dir);
}

void jetwatt_gather_cuda(struct jetwatt_gather *g, const char *loop)
{
	char dir[200], name[600];

	jetwatt_json_array(&g->j, "libraries");
	for (int i = 0; libraries[i]; i++) {
		glob_t found;

		snprintf(name, sizeof(name), "%s/%s", g->root, libraries[i]);
		if (glob(name, 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			report_library(g, found.gl_pathv[k]);
		globfree(&found);
	}
	jetwatt_json_end(&g->j);
	/* Without root the loop is not run; the array "left_out" then says that the waits are
	 * missing. */
	if (geteuid())
		return;
	snprintf(dir, sizeof(dir), "%.150s/jetwatt-XXXXXX", getenv("TMPDIR") ? : "/tmp");
	/* The job of --loop needs no directory. */
	if (!loop && !mkdtemp(dir)) {
		g->no_loop = "cannot create a temporary directory";
		return;
	}
	report_loop(g, dir, loop);
	if (!loop)
		remove_loop_dir(dir);
}
