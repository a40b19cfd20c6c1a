// SPDX-License-Identifier: GPL-2.0-only
/* Write the resource usage of a job to a report, as text or as JSON. */
#include "job/resource_usage.h"

#include <stdio.h>

void jetwatt_usage_print(const struct jetwatt_usage_result *u, double elapsed_s, FILE *f)
{
	double s = elapsed_s > 0 ? elapsed_s : 1;

	fprintf(f, "\n %10.2f     cores in use, %.0f %% of the machine busy", u->cores,
		100 * u->machine);
	if (u->gpu >= 0)
		fprintf(f, ", GPU %.0f %%", 100 * u->gpu);
	fprintf(f, "\n %10.0f MB  maximum memory; %.0f %% of the machine's memory in use\n",
		u->rss_max * 1e-6, 100 * u->memory);
	fprintf(f, " %10llu     page faults, %llu of them major\n",
		(unsigned long long)(u->minor + u->major), (unsigned long long)u->major);
	fprintf(f, " %10.2f MB/s read from storage; all disks: %.0f reads/s, %.2f MB/s\n",
		u->job_read_bytes * 1e-6 / s, u->reads / s, u->read_bytes * 1e-6 / s);
	if (u->cached >= 0)
		fprintf(f, " %10.0f %%   of its %d file%s in the page cache\n", 100 * u->cached,
			u->files, u->files == 1 ? "" : "s");
	if (u->missed)
		fprintf(f, " hint: too many processes or files to track: %u left out\n", u->missed);
}

void jetwatt_usage_json(const struct jetwatt_usage_result *u, struct jetwatt_json *j)
{
	jetwatt_json_object(j, "usage");
	jetwatt_json_real(j, "cpu_s", u->cpu_s, 6);
	jetwatt_json_real(j, "cores", u->cores, 5);
	jetwatt_json_real(j, "machine_cpu_share", u->machine, 5);
	if (u->gpu >= 0)
		jetwatt_json_real(j, "gpu_share", u->gpu, 5);
	jetwatt_json_uint(j, "rss_max_bytes", u->rss_max);
	jetwatt_json_real(j, "memory_share", u->memory, 5);
	jetwatt_json_uint(j, "minor_faults", u->minor);
	jetwatt_json_uint(j, "major_faults", u->major);
	jetwatt_json_uint(j, "read_bytes", u->job_read_bytes);
	jetwatt_json_uint(j, "read_calls", u->read_calls);
	jetwatt_json_uint(j, "disk_reads", u->reads);
	jetwatt_json_uint(j, "disk_read_bytes", u->read_bytes);
	if (u->cached >= 0)
		jetwatt_json_real(j, "page_cache_share", u->cached, 5);
	jetwatt_json_int(j, "files", u->files);
	jetwatt_json_uint(j, "left_out", u->missed);
	jetwatt_json_end(j);
}
