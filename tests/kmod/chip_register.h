/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TESTS_CHIP_REGISTER_H
#define TESTS_CHIP_REGISTER_H

#include <errno.h>
#include <fcntl.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/*
 * Write a register of a chip past the chip's driver, as firmware might do; writing does not clear
 * alarms.
 */
static inline int write_register(unsigned int bus, uint16_t addr, uint8_t reg, uint16_t value)
{
	uint8_t bytes[] = { reg, value >> 8, value & 0xff };
	struct i2c_msg msg = { .addr = addr, .len = 3, .buf = bytes };
	struct i2c_rdwr_ioctl_data data = { .msgs = &msg, .nmsgs = 1 };
	char path[32];
	int fd, err;

	snprintf(path, sizeof(path), "/dev/i2c-%u", bus);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = ioctl(fd, I2C_RDWR, &data) == 1 ? 0 : -errno;
	close(fd);
	return err;
}

#endif
