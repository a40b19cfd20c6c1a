// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Computes the checksum of a part of a stream from the CRC register at both ends of the part.
 *
 * The CRC register after a part is a linear function of the register before the part and of the
 * part's bytes. Therefore the effect of the register before the part can be removed: run that
 * register through as many zero bits as the part has bits, and subtract the result. Running a
 * register through zero bits is a multiplication by a power of x modulo the polynomial.
 */
#include "lib/crc_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/crc32c.h"

/* polynomial in the bit order of crc32c.c: bit 0 is the highest power */
#define POLYNOMIAL	0x82f63b78u
#define ONE		(1u << 31)
#define BYTE		(ONE >> 8)	/* x^8 */

/* Return the CRC register after @len bytes, without the inversions of CRC-32C. */
static uint32_t crc_run(uint32_t reg, const uint8_t *at, size_t len)
{
	return ~jetwatt_crc32c(~reg, at, len);
}

/* Multiply two polynomials modulo POLYNOMIAL. */
static uint32_t crc_multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (; a; a <<= 1) {
		if (a & ONE)
			product ^= b;
		b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
	}
	return product;
}

/* Return the CRC register after @len zero bytes. */
static uint32_t crc_shift(uint32_t reg, size_t len)
{
	uint32_t by = ONE, power = BYTE;

	for (; len; len >>= 1) {
		if (len & 1)
			by = crc_multiply(power, by);
		power = crc_multiply(power, power);
	}
	return crc_multiply(by, reg);
}

/* Make space for @need registers from @first on. Discard the stored registers before @first if
 * these are more than half of all. Return: 0; -ENOMEM. */
static int reserve_marks(struct jetwatt_crc_marks *m, uint64_t first, size_t need)
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

/* Return the CRC register at the stream position @pos. @at: the byte at the position @from. */
static uint32_t register_at(const struct jetwatt_crc_marks *m, const uint8_t *at, uint64_t from,
			    uint64_t pos)
{
	uint64_t mark = pos / JETWATT_CRC_MARK;

	return crc_run(m->reg[mark - m->first], at + (int64_t)(mark * JETWATT_CRC_MARK - from),
		       pos % JETWATT_CRC_MARK);
}

int jetwatt_crc_marks_of(struct jetwatt_crc_marks *m, const uint8_t *at, uint64_t from, size_t len,
			 uint32_t *crc)
{
	uint64_t first = from / JETWATT_CRC_MARK, last = (from + len) / JETWATT_CRC_MARK;
	uint32_t begin, end;

	/* If no register is stored for this position, begin with any value, because the effect of
	 * that value is removed. */
	if (!m->nr || first < m->first || first >= m->first + m->nr)
		m->nr = 0;
	if (!m->nr)
		m->first = first;
	if (reserve_marks(m, first, last - first + 1))
		return -ENOMEM;
	if (!m->nr)
		m->reg[m->nr++] = 0;
	while (m->first + m->nr <= last) {
		uint64_t pos = (m->first + m->nr - 1) * JETWATT_CRC_MARK;

		m->reg[m->nr] =
			crc_run(m->reg[m->nr - 1], at + (int64_t)(pos - from), JETWATT_CRC_MARK);
		m->nr++;
	}
	begin = register_at(m, at, from, from);
	end = register_at(m, at, from, from + len);
	*crc = ~(end ^ crc_shift(~begin, len));
	return 0;
}

void jetwatt_crc_marks_free(struct jetwatt_crc_marks *m)
{
	free(m->reg);
	m->reg = NULL;
	m->nr = m->max = 0;
}
