// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workloads of the analytic plant. The sizes of the workloads are those of networks that are
 * trained on Jetson boards, with a minibatch of 16. The number of operations is three times that of
 * the forward pass; memory traffic counts activations that are written and read again.
 */
#include "analytic_work.h"

#include <linux/kernel.h>
#include <linux/string.h>

#include "plant.h"

static const struct sim_work works[] = {
	{
		/* A convolutional network on images: compute bound at low GPU clocks. */
		.name = "resnet",
		.layers = {
			{ 104000, 610, 1150000, 120 },
			{ 52000, 430, 1400000, 110 },
			{ 1900, 200, 2600000, 130 },
			{ 190, 200, 540000, 65 },
		},
		.launch_kcycles = 11,
		.load_mcycles = 165, .serial_mcycles = 14, .load_kbyte = 46000, .workers = 4,
		.dequeue_kcycles = 1500,
	},
	{
		/* A small network with much augmentation: loader bound in 81 % of AGX Orin's modes. */
		.name = "loader",
		.layers = {
			{ 9000, 380, 310000, 150 },
			{ 600, 200, 420000, 90 },
		},
		.launch_kcycles = 11,
		.load_mcycles = 330, .serial_mcycles = 9, .load_kbyte = 90000, .workers = 8,
		.dequeue_kcycles = 2600,
	},
	{
		/* A recurrent network: reads its weights from memory at every time step. */
		.name = "lstm",
		.layers = {
			{ 5200, 300, 5200000, 420 },
			{ 2600, 260, 2300000, 210 },
			{ 300, 200, 700000, 30 },
		},
		.launch_kcycles = 10,
		.load_mcycles = 11, .serial_mcycles = 3, .load_kbyte = 9000, .workers = 2,
		.dequeue_kcycles = 900,
	},
	{
		/* 1,400 tiny kernels: launch bound, 9 ms at the highest clocks. */
		.name = "tiny",
		.layers = {
			{ 420, 90, 60000, 900 },
			{ 160, 60, 45000, 500 },
		},
		.launch_kcycles = 14,
		.load_mcycles = 6, .serial_mcycles = 2, .load_kbyte = 2500, .workers = 2,
		.dequeue_kcycles = 800,
	},
};

const struct sim_work *sim_work_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(works); i++)
		if (!strcmp(works[i].name, name))
			return &works[i];
	return NULL;
}
