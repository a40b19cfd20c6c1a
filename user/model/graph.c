// SPDX-License-Identifier: GPL-2.0-only
/*
 * Storage of a graph: growing arrays, interned texts, and tensors by name.
 */
#include "model/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void jetwatt_graph_init(struct jetwatt_graph *g)
{
	memset(g, 0, sizeof(*g));
}

void jetwatt_graph_free(struct jetwatt_graph *g)
{
	free(g->text.at);
	free(g->value.at);
	free(g->node.at);
	free(g->attr.at);
	free(g->body.at);
	free(g->operand.at);
	free(g->number.at);
	free(g->open.at);
	free(g->hash);
	free(g->named);
	jetwatt_graph_init(g);
}

/* Grow an array so that @by more entries fit; it may have at most @most entries. Return: 0,
 * -ENOMEM, -E2BIG. */
static int graph_grow(struct jetwatt_graph_array *a, size_t size, uint32_t by, uint32_t most)
{
	uint32_t capacity = a->capacity;
	void *at;

	if (by > most || a->n > most - by)
		return -E2BIG;
	if (a->n + by <= capacity)
		return 0;
	while (capacity < a->n + by)
		capacity = capacity ? 2 * capacity : 256;
	at = reallocarray(a->at, capacity, size);
	if (!at)
		return -ENOMEM;
	a->at = at;
	a->capacity = capacity;
	return 0;
}

/* Final mix of a hash (MurmurHash3). */
static uint32_t graph_hash_mix(uint64_t h)
{
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdull;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53ull;
	return h ^ h >> 33;
}

static uint32_t graph_hash_text(const char *s, size_t len)
{
	uint64_t h = 1469598103934665603ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 1099511628211ull;
	return graph_hash_mix(h);
}

static uint32_t graph_hash_name(uint32_t body, uint32_t name)
{
	return graph_hash_mix((uint64_t)body << 32 | name);
}

/* Return: hash of the text or tensor in slot @i of a hash table. */
static uint32_t graph_hash_slot(const struct jetwatt_graph *g, const uint32_t *old, uint32_t i)
{
	if (old == g->hash)
		return graph_hash_text(jetwatt_graph_text(g, old[i]),
				       strlen(jetwatt_graph_text(g, old[i])));
	return graph_hash_name(jetwatt_graph_value_at(g, old[i])->body,
			       jetwatt_graph_value_at(g, old[i])->name);
}

/* Double an open-addressing table when it is half full. Return: 0, -ENOMEM. */
static int graph_rehash(const struct jetwatt_graph *g, uint32_t **table, uint32_t *capacity,
			uint32_t used)
{
	uint32_t more = *capacity ? 2 * *capacity : 1024, *t;

	if (2 * used < *capacity)
		return 0;
	t = malloc(more * sizeof(*t));
	if (!t)
		return -ENOMEM;
	memset(t, 0xff, more * sizeof(*t));
	for (uint32_t i = 0; i < *capacity; i++) {
		uint32_t at;

		if ((*table)[i] == JETWATT_GRAPH_NONE)
			continue;
		for (at = graph_hash_slot(g, *table, i) & (more - 1); t[at] != JETWATT_GRAPH_NONE;)
			at = (at + 1) & (more - 1);
		t[at] = (*table)[i];
	}
	free(*table);
	*table = t;
	*capacity = more;
	return 0;
}

int jetwatt_graph_intern(struct jetwatt_graph *g, const char *s, size_t len, uint32_t *text)
{
	int err = graph_rehash(g, &g->hash, &g->hashes, g->texts + 1);
	uint32_t at;
	char *new;

	if (err)
		return err;
	len = strnlen(s, len);
	for (at = graph_hash_text(s, len) & (g->hashes - 1); g->hash[at] != JETWATT_GRAPH_NONE;
	     at = (at + 1) & (g->hashes - 1)) {
		const char *old = jetwatt_graph_text(g, g->hash[at]);

		if (!strncmp(old, s, len) && !old[len]) {
			*text = g->hash[at];
			return 0;
		}
	}
	err = graph_grow(&g->text, 1, len + 1, JETWATT_GRAPH_TEXT);
	if (err)
		return err;
	new = (char *)g->text.at + g->text.n;
	memcpy(new, s, len);
	new[len] = '\0';
	*text = g->hash[at] = g->text.n;
	g->text.n += len + 1;
	g->texts++;
	return 0;
}

int jetwatt_graph_add_body(struct jetwatt_graph *g, uint32_t parent, uint32_t *body)
{
	uint32_t depth = parent == JETWATT_GRAPH_NONE ? 0 : jetwatt_graph_body_at(g, parent)->depth + 1;
	int err = depth >= JETWATT_GRAPH_DEPTH ?
			  -E2BIG :
			  graph_grow(&g->body, sizeof(struct jetwatt_graph_body), 1,
				     JETWATT_GRAPH_NODES);

	if (err)
		return err;
	*jetwatt_graph_body_at(g, g->body.n) = (struct jetwatt_graph_body){
		.parent = parent, .first = JETWATT_GRAPH_NONE, .last = JETWATT_GRAPH_NONE,
		.depth = depth,
	};
	*body = g->body.n++;
	return 0;
}

int jetwatt_graph_add_node(struct jetwatt_graph *g, uint32_t body, uint32_t *node)
{
	int err = graph_grow(&g->node, sizeof(struct jetwatt_graph_node), 1, JETWATT_GRAPH_NODES);
	struct jetwatt_graph_body *b = jetwatt_graph_body_at(g, body);

	if (err)
		return err;
	*jetwatt_graph_node_at(g, g->node.n) = (struct jetwatt_graph_node){
		.op = JETWATT_GRAPH_NONE, .name = JETWATT_GRAPH_NONE, .domain = JETWATT_GRAPH_NONE,
		.attr = JETWATT_GRAPH_NONE, .body = body, .next = JETWATT_GRAPH_NONE,
	};
	if (b->last == JETWATT_GRAPH_NONE)
		b->first = g->node.n;
	else
		jetwatt_graph_node_at(g, b->last)->next = g->node.n;
	*node = b->last = g->node.n++;
	return 0;
}

int jetwatt_graph_add_attr(struct jetwatt_graph *g, uint32_t node, const struct jetwatt_graph_attr *a)
{
	struct jetwatt_graph_node *n = jetwatt_graph_node_at(g, node);
	int err = graph_grow(&g->attr, sizeof(*a), 1, 4 * JETWATT_GRAPH_NODES);

	if (err)
		return err;
	*jetwatt_graph_attr_at(g, g->attr.n) = *a;
	jetwatt_graph_attr_at(g, g->attr.n)->next = n->attr;
	n->attr = g->attr.n++;
	return 0;
}

int jetwatt_graph_add_operand(struct jetwatt_graph *g, uint32_t text)
{
	int err = graph_grow(&g->operand, sizeof(text), 1, 8 * JETWATT_GRAPH_NODES);

	if (!err)
		*jetwatt_graph_operand(g, g->operand.n++) = text;
	return err;
}

int jetwatt_graph_add_number(struct jetwatt_graph *g, double v)
{
	int err = graph_grow(&g->number, sizeof(v), 1, JETWATT_GRAPH_NUMBERS);

	if (!err)
		*jetwatt_graph_number(g, g->number.n++) = v;
	return err;
}

int jetwatt_graph_add_open(struct jetwatt_graph *g, const struct jetwatt_graph_open *o)
{
	int err = graph_grow(&g->open, sizeof(*o), 1, JETWATT_GRAPH_VALUES);

	if (!err)
		*jetwatt_graph_open_at(g, g->open.n++) = *o;
	return err;
}

/* Return: the slot of a tensor by name, or the free slot for it. */
static uint32_t graph_value_slot(const struct jetwatt_graph *g, uint32_t body, uint32_t name)
{
	uint32_t at = graph_hash_name(body, name) & (g->nameds - 1);

	for (; g->named[at] != JETWATT_GRAPH_NONE; at = (at + 1) & (g->nameds - 1)) {
		const struct jetwatt_graph_value *v = jetwatt_graph_value_at(g, g->named[at]);

		if (v->body == body && v->name == name)
			break;
	}
	return at;
}

int jetwatt_graph_add_value(struct jetwatt_graph *g, uint32_t body, uint32_t name, uint32_t *value)
{
	int err = graph_rehash(g, &g->named, &g->nameds, g->value.n + 1);
	uint32_t at;

	if (err)
		return err;
	at = graph_value_slot(g, body, name);
	if (name != JETWATT_GRAPH_NONE && g->named[at] != JETWATT_GRAPH_NONE) {
		*value = g->named[at];
		return 0;
	}
	err = graph_grow(&g->value, sizeof(struct jetwatt_graph_value), 1, JETWATT_GRAPH_VALUES);
	if (err)
		return err;
	*jetwatt_graph_value_at(g, g->value.n) = (struct jetwatt_graph_value){
		.name = name, .body = body, .rank = -1,
	};
	/* Tensors of attributes have no name by which a node could refer to them. */
	if (name != JETWATT_GRAPH_NONE)
		g->named[at] = g->value.n;
	*value = g->value.n++;
	return 0;
}

uint32_t jetwatt_graph_find(const struct jetwatt_graph *g, uint32_t body, uint32_t name)
{
	if (!g->nameds || name == JETWATT_GRAPH_NONE)
		return JETWATT_GRAPH_NONE;
	for (; body != JETWATT_GRAPH_NONE; body = jetwatt_graph_body_at(g, body)->parent) {
		uint32_t at = graph_value_slot(g, body, name);

		if (g->named[at] != JETWATT_GRAPH_NONE)
			return g->named[at];
	}
	return JETWATT_GRAPH_NONE;
}

const struct jetwatt_graph_attr *jetwatt_graph_find_attr(const struct jetwatt_graph *g,
							 const struct jetwatt_graph_node *n,
							 const char *name)
{
	for (uint32_t i = n->attr; i != JETWATT_GRAPH_NONE; i = jetwatt_graph_attr_at(g, i)->next) {
		const struct jetwatt_graph_attr *a = jetwatt_graph_attr_at(g, i);

		if (!strcmp(jetwatt_graph_text(g, a->name), name))
			return a;
	}
	return NULL;
}

double jetwatt_graph_scalar(const struct jetwatt_graph *g, const struct jetwatt_graph_node *n,
			    const char *name, double other)
{
	const struct jetwatt_graph_attr *a = jetwatt_graph_find_attr(g, n, name);

	return a && a->nr ? *jetwatt_graph_number(g, a->number) : other;
}

double jetwatt_graph_elements(const struct jetwatt_graph_value *v)
{
	double n = 1;

	if (v->rank < 0)
		return -1;
	for (int i = 0; i < v->rank; i++) {
		if (v->dim[i] < 0)
			return -1;
		n *= (double)v->dim[i];
	}
	return n;
}

double jetwatt_graph_bytes(const struct jetwatt_graph_value *v)
{
	double n = jetwatt_graph_elements(v);

	/* Elements of an unknown type are taken as 32 bits, the usual type of networks. */
	return n < 0 ? n : n * (v->bits ? v->bits : 32) / 8;
}

void jetwatt_graph_refer(const struct jetwatt_graph *g, const struct jetwatt_graph_node *n,
			 struct jetwatt_graph_ref *r)
{
	r->node = n;
	r->ins = n->in < JETWATT_GRAPH_OPERANDS ? n->in : JETWATT_GRAPH_OPERANDS;
	r->outs = n->out < JETWATT_GRAPH_OPERANDS ? n->out : JETWATT_GRAPH_OPERANDS;
	for (uint32_t i = 0; i < r->ins + r->outs; i++) {
		int made = i >= r->ins;
		uint32_t name = *jetwatt_graph_operand(g, n->operand + (made ? n->in + i - r->ins : i));
		uint32_t v = *jetwatt_graph_text(g, name) ? jetwatt_graph_find(g, n->body, name) :
							    JETWATT_GRAPH_NONE;
		struct jetwatt_graph_value *p = v == JETWATT_GRAPH_NONE ? NULL :
						jetwatt_graph_value_at(g, v);

		if (made)
			r->out[i - r->ins] = p;
		else
			r->in[i] = p;
	}
}
