/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helper functions of the simulation's self-tests, for files, chip registers, kernel modules and
 * time.
 */
#ifndef SIM_TEST_BOARD_H
#define SIM_TEST_BOARD_H

#include <errno.h>
#include <fcntl.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel.h"

#define SIM	"/sys/kernel/debug/jetwatt-sim/"
#define CPU	"/sys/devices/system/cpu/"
#define GPU	"/sys/class/devfreq/17000000.gpu/"
#define EMC	"/sys/kernel/nvpmodel_clk_cap/emc"
#define EMC5	"/sys/kernel/nvpmodel_emc_cap/emc_iso_cap"
#define BPMP	"/sys/kernel/debug/bpmp/debug/"
#define PARAM	"/sys/module/jetwatt_sim/parameters/"
#define BUS	"/sys/bus/i2c/devices/i2c-1/"

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static inline void sleep_us(uint64_t us)
{
	struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
}

/* Read the first line of a file. Return: 0 or a negative errno. */
static inline int get_line(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

/* Return: the integer in a file, -1 if it cannot be read. */
static inline long long get(const char *path)
{
	char buf[64];

	return get_line(path, buf, sizeof(buf)) ? -1 : atoll(buf);
}

/* Write @value to a file. Return: 0 or a negative errno. */
static inline int put(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Return: the value named @key in debugfs file truth/now; NAN if the file has no such value. */
static inline double truth(const char *key)
{
	char line[128];
	double value = NAN;
	FILE *f = fopen(SIM "truth/now", "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ' ')
			value = atof(line + strlen(key));
	if (f)
		fclose(f);
	return value;
}

/*
 * Return: true mean power of the module in W since time *t_ns, when its energy was *uj; both are
 * then set to the present values.
 */
static inline double truth_power(double *t_ns, double *uj)
{
	double t = truth("t_ns"), e = truth("energy_uj"), w = (e - *uj) / (t - *t_ns) * 1000;

	*t_ns = t;
	*uj = e;
	return w;
}

/*
 * Read @n registers of a chip (at most 16) in one i2c transfer, which writes the register's pointer
 * and reads a word for each. Return: 0 or a negative errno.
 */
static inline int regs_read(int addr, const uint8_t *reg, uint16_t *value, int n)
{
	struct i2c_msg msg[2 * 16];
	uint8_t word[16][2];
	struct i2c_rdwr_ioctl_data data = { .msgs = msg, .nmsgs = 2 * n };
	int i, err = 0, fd = open("/dev/i2c-1", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (i = 0; i < n; i++) {
		msg[2 * i] = (struct i2c_msg){ .addr = addr, .len = 1, .buf = (uint8_t *)&reg[i] };
		msg[2 * i + 1] = (struct i2c_msg){ .addr = addr, .flags = I2C_M_RD, .len = 2,
						   .buf = word[i] };
	}
	if (ioctl(fd, I2C_RDWR, &data) != 2 * n)
		err = -errno;
	close(fd);
	for (i = 0; i < n; i++)
		value[i] = word[i][0] << 8 | word[i][1];	/* most significant byte first */
	return err;
}

/* Return: the value of register @reg of a chip, or a negative errno. */
static inline int reg_read(int addr, uint8_t reg)
{
	uint16_t value;
	int err = regs_read(addr, &reg, &value, 1);

	return err ? err : value;
}

static inline int reg_write(int addr, uint8_t reg, uint16_t value)
{
	uint8_t bytes[] = { reg, value >> 8, value & 0xff };
	struct i2c_msg msg = { .addr = addr, .len = 3, .buf = bytes };
	struct i2c_rdwr_ioctl_data data = { .msgs = &msg, .nmsgs = 1 };
	int err = 0, fd = open("/dev/i2c-1", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ioctl(fd, I2C_RDWR, &data) != 1)
		err = -errno;
	close(fd);
	return err;
}

/*
 * Return: the value of a shunt or bus voltage register in LSB, without the three unused low bits.
 */
static inline int steps(int reg)
{
	return (int16_t)reg >> 3;
}

/* Start a program with a list of arguments that ends with NULL. */
static inline pid_t start(char *const argv[])
{
	pid_t pid = fork();

	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	return pid;
}

/* Send signal @sig to a process and reap the process. Return: wait status of the process, as from
 * waitpid(). */
static inline int end(pid_t pid, int sig)
{
	int status = -1;

	kill(pid, sig);
	waitpid(pid, &status, 0);
	return status;
}

struct minibatches {
	long n, eval;			/* numbers of minibatches of training, and of all other kinds */
	double mean_ns, deviation_ns;	/* over minibatches of training */
};

/*
 * Return: numbers, mean duration and its standard deviation, of the minibatches in debugfs file
 * truth/minibatches that began at @t_ns or later.
 */
static inline struct minibatches minibatches_since(double t_ns)
{
	struct minibatches m = { 0 };
	double sum = 0, squares = 0;
	char line[128];
	FILE *f = fopen(SIM "truth/minibatches", "re");

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long begin, stop;
		int kind;

		if (sscanf(line, "%*d,%llu,%llu,%d", &begin, &stop, &kind) != 3 || begin < t_ns)
			continue;
		if (kind) {
			m.eval++;
			continue;
		}
		m.n++;
		sum += stop - begin;
		squares += (double)(stop - begin) * (stop - begin);
	}
	if (f)
		fclose(f);
	m.mean_ns = m.n ? sum / m.n : 0;
	m.deviation_ns = m.n > 1 ? sqrt(fmax(squares / m.n - m.mean_ns * m.mean_ns, 0)) : 0;
	return m;
}

#endif
