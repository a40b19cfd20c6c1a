// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The register after a part is linear in the register before it and in the part's bytes. So with
 * the register at both ends of a part, what came before it can be taken out again: it went through
 * as many zero bits as the part has, which is a multiplication by a power of x modulo the
 * polynomial.
 */
#include "lib/crc_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/crc32c.h"

#define POLYNOMIAL	0x82f63b78u	/* as in crc32c.c: the highest power is bit 0 */
#define ONE		(1u << 31)
#define BYTE		(ONE >> 8)	/* x^8 */

/* The register behind @len bytes, without the inversions of CRC-32C. */
static uint32_t run(uint32_t reg, const uint8_t *at, size_t len)
{
	return ~jetwatt_crc32c(~reg, at, len);
}

/* @a is not 0. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (; a; a <<= 1) {
		if (a & ONE)
			product ^= b;
		b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
	}
	return product;
}

/* The register behind @len zero bytes. */
static uint32_t shift(uint32_t reg, size_t len)
{
	uint32_t by = ONE, power = BYTE;

	for (; len; len >>= 1) {
		if (len & 1)
			by = multiply(power, by);
		power = multiply(power, power);
	}
	return multiply(by, reg);
}

/* No mark is needed before @first any more. Return: 0; -ENOMEM. */
static int make_room(struct jetwatt_crc_marks *m, uint64_t first, size_t need)
{
	size_t gone = first - m->first;
	uint32_t *more;

	if (gone > m->nr / 2) {
		memmove(m->reg, m->reg + gone, (m->nr - gone) * sizeof(*m->reg));
		m->nr -= gone;
		m->first = first;
	}
	need += first - m->first;
	if (need <= m->max)
		return 0;
	more = realloc(m->reg, 2 * need * sizeof(*more));
	if (!more)
		return -ENOMEM;
	m->reg = more;
	m->max = 2 * need;
	return 0;
}

/* The register at @pos of the stream. */
static uint32_t at_place(const struct jetwatt_crc_marks *m, const uint8_t *at, uint64_t from, uint64_t pos)
{
	uint64_t mark = pos / JETWATT_CRC_MARK;

	return run(m->reg[mark - m->first], at + (int64_t)(mark * JETWATT_CRC_MARK - from),
		   pos % JETWATT_CRC_MARK);
}

int jetwatt_crc_marks_of(struct jetwatt_crc_marks *m, const uint8_t *at, uint64_t from, size_t len,
			 uint32_t *crc)
{
	uint64_t first = from / JETWATT_CRC_MARK, last = (from + len) / JETWATT_CRC_MARK;
	uint32_t begin, end;

	/* Nothing is known of here yet: any register will do, as it is taken out again. */
	if (!m->nr || first < m->first || first >= m->first + m->nr)
		m->nr = 0;
	if (!m->nr)
		m->first = first;
	if (make_room(m, first, last - first + 1))
		return -ENOMEM;
	if (!m->nr)
		m->reg[m->nr++] = 0;
	while (m->first + m->nr <= last) {
		uint64_t pos = (m->first + m->nr - 1) * JETWATT_CRC_MARK;

		m->reg[m->nr] = run(m->reg[m->nr - 1], at + (int64_t)(pos - from), JETWATT_CRC_MARK);
		m->nr++;
	}
	begin = at_place(m, at, from, from);
	end = at_place(m, at, from, from + len);
	*crc = ~(end ^ shift(~begin, len));
	return 0;
}

void jetwatt_crc_marks_free(struct jetwatt_crc_marks *m)
{
	free(m->reg);
	m->reg = NULL;
	m->nr = m->max = 0;
}
