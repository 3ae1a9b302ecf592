/* SPDX-License-Identifier: MIT */
/*
 * Maps and iterators in user space, under the names of libbpf's functions. A map has no more
 * entries than it was sized for.
 */
#include "maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAPS_MAX 16

struct element {
	void *key; /* NULL in queues */
	void *value;
};

static struct fake {
	const struct bpf_map *map;
	struct element *element;
	size_t count;
} fakes[MAPS_MAX];
static size_t fake_count;

static const void *records;
static size_t records_size;
unsigned maps_walks;
int maps_fail_walks;
void (*maps_on_walk)(void);

static void *copied(const void *bytes, size_t size)
{
	void *copy = malloc(size + 1);

	if (!copy)
		abort();
	memcpy(copy, bytes, size);
	return copy;
}

/* The number of the played map, in place of a descriptor. */
int bpf_map__fd(const struct bpf_map *map)
{
	for (size_t i = 0; i < fake_count; i++)
		if (fakes[i].map == map)
			return (int)i;
	if (fake_count == MAPS_MAX)
		abort();
	fakes[fake_count].map = map;
	return (int)fake_count++;
}

static struct element *find(const struct fake *fake, const void *key)
{
	for (size_t i = 0; i < fake->count; i++)
		if (!memcmp(fake->element[i].key, key, bpf_map__key_size(fake->map)))
			return &fake->element[i];
	return NULL;
}

static void remove_element(struct fake *fake, struct element *element)
{
	size_t at = (size_t)(element - fake->element);

	free(element->key);
	free(element->value);
	memmove(element, element + 1, (fake->count - at - 1) * sizeof(*element));
	fake->count--;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	const struct element *element = find(&fakes[fd], key);

	if (!element) {
		errno = ENOENT;
		return -ENOENT;
	}
	memcpy(value, element->value, bpf_map__value_size(fakes[fd].map));
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	struct fake *fake = &fakes[fd];
	size_t size = bpf_map__value_size(fake->map);
	struct element *element = key ? find(fake, key) : NULL;

	if (element && flags == BPF_NOEXIST) {
		errno = EEXIST;
		return -EEXIST;
	}
	if (element) {
		memcpy(element->value, value, size);
		return 0;
	}
	if (flags == BPF_EXIST) {
		errno = ENOENT;
		return -ENOENT;
	}
	if (fake->count >= bpf_map__max_entries(fake->map)) {
		errno = E2BIG;
		return -E2BIG;
	}
	fake->element = reallocarray(fake->element, fake->count + 1, sizeof(*fake->element));
	if (!fake->element)
		abort();
	fake->element[fake->count++] = (struct element){
		.key = key ? copied(key, bpf_map__key_size(fake->map)) : NULL,
		.value = copied(value, size),
	};
	return 0;
}

/* Keys come in the order in which they were added. */
int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	const struct fake *fake = &fakes[fd];
	const struct element *element = key ? find(fake, key) : NULL;
	size_t at = element ? (size_t)(element - fake->element) + 1 : 0;

	if (at >= fake->count) {
		errno = ENOENT;
		return -ENOENT;
	}
	memcpy(next, fake->element[at].key, bpf_map__key_size(fake->map));
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	struct element *element = find(&fakes[fd], key);

	if (!element) {
		errno = ENOENT;
		return -ENOENT;
	}
	remove_element(&fakes[fd], element);
	return 0;
}

/* The descriptor is that of a pipe with the records, which must fit into it. */
struct bpf_link *maps_link(void)
{
	static char link;

	return (struct bpf_link *)&link;
}

int bpf_iter_create(int link)
{
	int ends[2];

	(void)link;
	__atomic_fetch_add(&maps_walks, 1, __ATOMIC_RELAXED);
	if (maps_on_walk)
		maps_on_walk();
	if (maps_fail_walks) {
		errno = maps_fail_walks;
		return -1;
	}
	if (pipe(ends) != 0)
		return -1;
	if (write(ends[1], records, records_size) != (ssize_t)records_size)
		abort();
	close(ends[1]);
	return ends[0];
}

int bpf_link__fd(const struct bpf_link *link)
{
	(void)link;
	return 0;
}

static struct fake *named(const char *name)
{
	for (size_t i = 0; i < fake_count; i++)
		if (!strcmp(bpf_map__name(fakes[i].map), name))
			return &fakes[i];
	return NULL;
}

size_t maps_count(const char *map)
{
	const struct fake *fake = named(map);

	return fake ? fake->count : 0;
}

bool maps_get(const char *map, const void *key, void *value)
{
	const struct fake *fake = named(map);

	return fake && bpf_map_lookup_elem((int)(fake - fakes), key, value) == 0;
}

bool maps_put(const char *map, const void *key, const void *value)
{
	const struct fake *fake = named(map);

	return fake && bpf_map_update_elem((int)(fake - fakes), key, value, BPF_ANY) == 0;
}

bool maps_remove(const char *map, const void *key)
{
	const struct fake *fake = named(map);

	return fake && bpf_map_delete_elem((int)(fake - fakes), key) == 0;
}

bool maps_pop(const char *map, void *value)
{
	struct fake *fake = named(map);

	if (!fake || fake->count == 0)
		return false;
	memcpy(value, fake->element[0].value, bpf_map__value_size(fake->map));
	remove_element(fake, &fake->element[0]);
	return true;
}

void maps_iterate(const void *bytes, size_t size)
{
	records = bytes;
	records_size = size;
}

void maps_clear(void)
{
	for (size_t i = 0; i < fake_count; i++) {
		while (fakes[i].count)
			remove_element(&fakes[i], &fakes[i].element[0]);
		free(fakes[i].element);
		fakes[i] = (struct fake){ 0 };
	}
	fake_count = 0;
	records = NULL;
	records_size = 0;
	maps_walks = 0;
	maps_fail_walks = 0;
	maps_on_walk = NULL;
}
