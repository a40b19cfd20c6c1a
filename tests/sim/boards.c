// SPDX-License-Identifier: GPL-2.0-only
/*
 * Constants of the boards that can be simulated. The numbers of CPUs and clusters and the range of
 * each clock are those of the real boards. If a source lists all levels of a clock, these are used;
 * otherwise the levels within the range are made up.
 *
 * AGX Orin    all levels as its drivers list them under JetPack 5 (user/board/identity.c)
 * Orin Nano   JetPack 6.2, MAXN_SUPER, without caps. EMC to 3199 MHz: the cap of 25W in
 *             LineageOS/android_device_nvidia_concord, nvpmodel/nvpmodel_p3767_0003_super.conf
 *             (NVIDIA's, of 2024). CPU to 1728, GPU to 1020 MHz: NVIDIA's developer guide,
 *             power modes of Orin NX and Nano (unverified). GPU levels are 102 MHz apart
 *             (unverified)
 * Orin NX     CPU to 1984, GPU to 918, EMC to 3199 MHz: before Super
 * Xavier NX   GPU: available_frequencies of 17000000.gv11b under JetPack 4 and 5 (unverified;
 *             its highest level, 1109.25 MHz, CPU to 1907.2 and EMC to 1866 MHz: modes of 20 W in
 *             LineageOS/android_device_nvidia_galen, nvpmodel/nvpmodel_t194_p3668.conf, which is
 *             NVIDIA's of 2022); of the EMC levels in between, 1600 MHz is the cap of its modes
 *             of 10 and 15 W, the others are made up
 * AGX Xavier  as user/board/identity.c lists them; the EMC levels in between are made up
 * Thor        CPU to 2601, GPC to 1575, EMC 665.6 to 4266 MHz: jetson_clocks --show of a
 *             Developer Kit (L4T 38); lower levels are made up; those of CPU and GPC are evenly
 *             spaced, like the GPC levels of NVIDIA's driver (NVIDIA/open-gpu-kernel-modules
 *             595.45.04, kernel-open/nvidia/nv-pci.c)
 *
 * Constants: GPU cores and memory width are those of the modules' data sheets
 * (2048 CUDA cores on AGX Orin, 1024 on Orin NX and Nano, 384 and 512 on Xavier NX and
 * AGX Xavier, 2560 on Thor; 256 bit, on NX and Nano 128). Capacitances, voltages and
 * constant power are chosen such that a module at full load draws the power after which its highest
 * power mode is named, and an idle Thor that of a Developer Kit (13.5 W).
 */
#include "boards.h"

#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/of.h>
#include <linux/string.h>

#include "drivers.h"
#include "knobs.h"
#include "plant.h"

static const struct sim_model_board boards[] = {
	{
		.root = { "p3701" }, .name = "AGX Orin",
		.cores = 12, .cluster = 4,
		.cpu = { 115200, 76800, 2188800, { 2201600 } },
		.gpu = { 114750, 102000, 1236750, { 1300500 } },
		.emc = { .list = { 204000, 665600, 2133000, 3199000 } },
		.emc_cap = "clk", .waits = "jp6",
		.magnitudes = {
			.gpu_flop = 4096, .gpu_byte = 192, .emc_byte = 64,
			.gpu_volts = { { 430000, 600 }, { 624750, 652 }, { 828750, 735 },
				       { 1032750, 838 }, { 1300500, 1005 } },
			.cpu_volts = { { 750000, 612 }, { 1113600, 664 }, { 1497600, 755 },
				       { 1728000, 834 }, { 2201600, 1062 } },
			.gpu_pf = 19500, .cpu_pf = 640, .cluster_pf = 150,
			.gpu_leak_uw = 1900000, .cpu_leak_uw = 95000,
			.gpu_uw = 3300000, .cpu_uw = 350000, .sys_uw = 4100000,
			.cluster_uw = 60000, .ddr = 1000, .minibatch = 1000,
		},
	},
	{
		.root = { "p3767-0000", "p3767-0001" }, .name = "Orin NX",
		.cores = 8, .cluster = 4,
		.cpu = { 115200, 76800, 1958400, { 1984000 } },
		.gpu = { 306000, 102000, 918000 },
		.emc = { .list = { 204000, 665600, 2133000, 3199000 } },
		.emc_cap = "clk", .waits = "jp6",
		.magnitudes = {
			.gpu_flop = 2048, .gpu_byte = 96, .emc_byte = 32,
			.gpu_volts = { { 408000, 600 }, { 612000, 652 }, { 714000, 700 },
				       { 816000, 745 }, { 918000, 795 } },
			.cpu_volts = { { 750000, 612 }, { 1113600, 664 }, { 1497600, 755 },
				       { 1728000, 834 }, { 1984000, 950 } },
			.gpu_pf = 10500, .cpu_pf = 640, .cluster_pf = 150,
			.gpu_leak_uw = 950000, .cpu_leak_uw = 95000,
			.gpu_uw = 1500000, .cpu_uw = 250000, .sys_uw = 1400000,
			.cluster_uw = 60000, .ddr = 550, .minibatch = 500,
		},
	},
	{
		.root = { "p3767" }, .name = "Orin Nano",
		.cores = 6, .cluster = 4,
		.cpu = { 115200, 76800, 1728000 },
		.gpu = { 306000, 102000, 1020000 },
		.emc = { .list = { 204000, 665600, 2133000, 3199000 } },
		.emc_cap = "clk", .waits = "jp6",
		.magnitudes = {
			.gpu_flop = 2048, .gpu_byte = 96, .emc_byte = 32,
			.gpu_volts = { { 408000, 600 }, { 612000, 652 }, { 816000, 735 },
				       { 918000, 785 }, { 1020000, 845 } },
			.cpu_volts = { { 750000, 612 }, { 1113600, 664 }, { 1344000, 710 },
				       { 1497600, 755 }, { 1728000, 834 } },
			.gpu_pf = 10500, .cpu_pf = 640, .cluster_pf = 150,
			.gpu_leak_uw = 950000, .cpu_leak_uw = 95000,
			.gpu_uw = 1400000, .cpu_uw = 250000, .sys_uw = 1300000,
			.cluster_uw = 60000, .ddr = 550, .minibatch = 500,
		},
	},
	{
		.root = { "p3668" }, .name = "Xavier NX",
		.cores = 6, .cluster = 2,
		.cpu = { 115200, 76800, 1881600, { 1907200 } },
		.gpu = { .list = { 114750, 204000, 306000, 408000, 510000, 599250, 701250, 752250,
				   803250, 854250, 905250, 956250, 1007250, 1058250, 1109250 } },
		.emc = { .list = { 204000, 1065600, 1600000, 1866000 } },
		.emc_cap = "iso", .waits = "jp5",
		.magnitudes = {
			.gpu_flop = 768, .gpu_byte = 96, .emc_byte = 32,
			.gpu_volts = { { 306000, 610 }, { 510000, 655 }, { 701250, 730 },
				       { 905250, 835 }, { 1109250, 960 } },
			.cpu_volts = { { 729600, 620 }, { 1113600, 690 }, { 1420800, 775 },
				       { 1651200, 860 }, { 1907200, 980 } },
			.gpu_pf = 6200, .cpu_pf = 680, .cluster_pf = 220,
			.gpu_leak_uw = 600000, .cpu_leak_uw = 90000,
			.gpu_uw = 1300000, .cpu_uw = 250000, .sys_uw = 1200000,
			.cluster_uw = 50000, .ddr = 600, .minibatch = 250,
		},
	},
	{
		.root = { "p2888" }, .name = "AGX Xavier",
		.cores = 8, .cluster = 2,
		.cpu = { 115200, 76800, 2265600 },
		.gpu = { .list = { 114750, 216750, 318750, 420750, 522750, 624750, 675750, 828750,
				   905250, 1032750, 1198500, 1236750, 1338750, 1377000 } },
		.emc = { .list = { 204000, 1065600, 1331200, 1600000, 2133000 } },
		.emc_cap = "iso", .waits = "jp5",
		.magnitudes = {
			.gpu_flop = 1024, .gpu_byte = 128, .emc_byte = 64,
			.gpu_volts = { { 420750, 610 }, { 675750, 680 }, { 905250, 790 },
				       { 1198500, 950 }, { 1377000, 1060 } },
			.cpu_volts = { { 729600, 620 }, { 1190400, 690 }, { 1574400, 790 },
				       { 1958400, 920 }, { 2265600, 1060 } },
			.gpu_pf = 8300, .cpu_pf = 680, .cluster_pf = 220,
			.gpu_leak_uw = 900000, .cpu_leak_uw = 95000,
			.gpu_uw = 2000000, .cpu_uw = 300000, .sys_uw = 2600000,
			.cluster_uw = 60000, .ddr = 1000, .minibatch = 350,
		},
	},
	{
		.root = { "tegra264" }, .name = "AGX Thor",
		.cores = 14, .cluster = 2,
		.cpu = { 351000, 90000, 2601000 },
		.gpu = { 315000, 90000, 1575000 },
		.emc = { .list = { 665600, 2133000, 4266000 } },
		.emc_cap = "bwmgr", .waits = "jp6",
		.magnitudes = {
			.gpu_flop = 5120, .gpu_byte = 240, .emc_byte = 64,
			.gpu_volts = { { 495000, 580 }, { 765000, 630 }, { 1035000, 700 },
				       { 1305000, 785 }, { 1575000, 890 } },
			.cpu_volts = { { 1071000, 600 }, { 1521000, 665 }, { 1971000, 760 },
				       { 2331000, 860 }, { 2601000, 960 } },
			.gpu_pf = 38000, .cpu_pf = 900, .cluster_pf = 250,
			.gpu_leak_uw = 3200000, .cpu_leak_uw = 110000,
			.gpu_uw = 700000, .cpu_uw = 2400000, .sys_uw = 3600000,
			.cluster_uw = 90000, .ddr = 850, .minibatch = 1500, .mss_on_cpu = true,
		},
	},
};

static bool matches(const struct sim_model_board *board)
{
	struct device_node *root = of_find_node_by_path("/");
	struct property *prop;
	bool found = false;
	const char *text;
	u32 i;

	of_property_for_each_string(root, "compatible", prop, text)
		for (i = 0; i < ARRAY_SIZE(board->root) && board->root[i]; i++)
			found |= strstr(text, board->root[i]) != NULL;
	of_node_put(root);
	return found;
}

const struct sim_model_board *sim_model_board(void)
{
	static const struct sim_model_board *found;
	u32 i;

	for (i = 0; !found && i < ARRAY_SIZE(boards); i++)
		if (matches(&boards[i]))
			found = &boards[i];
	if (!found)
		found = &boards[0];
	return found;
}

static bool exists(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(boards); i++)
		if (!strcmp(name, boards[i].name))
			return true;
	return false;
}

bool sim_board_is_one_of(const char *name, ...)
{
	bool found = false;
	va_list ap;

	va_start(ap, name);
	for (; name; name = va_arg(ap, const char *)) {
		WARN_ON(!exists(name));
		found |= !strcmp(name, sim_model_board()->name);
	}
	va_end(ap);
	return found;
}

static u32 fill(const struct sim_model_steps *s, u32 *khz)
{
	u32 i, n = 0;

	for (i = s->from; s->by && i <= s->to; i += s->by)
		khz[n++] = i;
	for (i = 0; i < ARRAY_SIZE(s->list) && s->list[i]; i++)
		khz[n++] = s->list[i];
	return n;
}

void sim_model_steps(const struct sim_model_board *board, struct sim_steps *steps)
{
	u32 khz[SIM_STEPS_MAX];
	u32 i;

	steps->nr_cpu = fill(&board->cpu, steps->cpu_khz);
	steps->nr_gpu = fill(&board->gpu, khz);
	for (i = 0; i < steps->nr_gpu; i++)
		steps->gpu_hz[i] = khz[i] * 1000ULL;
	steps->nr_emc = fill(&board->emc, khz);
	for (i = 0; i < steps->nr_emc; i++)
		steps->emc_hz[i] = khz[i] * 1000ULL;
}
