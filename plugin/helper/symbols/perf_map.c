/* SPDX-License-Identifier: MIT */
/*
 * Reads the map that a program with a just-in-time compiler (Java, JavaScript and others) writes
 * for perf. The program appends a line for each function that it generates, and another line when
 * new code replaces discarded code. So the map is read from its end until all addresses are named.
 */
#include "perf_map.h"

#include "address.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_SIZE (256UL << 10) /* bytes; longer lines are ignored */
#define DIGITS_MAX 16

struct map_search {
	const struct code_address *addresses;
	size_t count;
	size_t *next; /* for each address and the end: itself, or an index closer to the next
		       * address without a name */
	size_t left;
	bool is_map; /* a valid line was found */
	struct naming *namings;
};

/* The first address from there on that has no name. */
static size_t next_unnamed(size_t *next, size_t index)
{
	while (next[index] != index) {
		next[index] = next[next[index]];
		index = next[index];
	}
	return index;
}

/* Parses a number and skips the blanks behind it. */
static bool parse_hex(const char **at, const char *end, uint64_t *ret_number)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	uint64_t number = 0;
	const char *begin;

	if (end - *at > 2 && (*at)[0] == '0' && (*at)[1] == 'x')
		*at += 2;
	begin = *at;
	for (; *at < end; ++*at) {
		const char *digit = **at ? strchr(digits, **at) : NULL;

		if (!digit)
			break;
		number = number << 4 | (size_t)(digit - digits) % 16;
	}
	*ret_number = number;
	if (*at == begin || *at - begin > DIGITS_MAX || *at == end || **at != ' ')
		return false;
	while (*at < end && **at == ' ')
		++*at;
	return true;
}

static void parse_map_line(struct map_search *search, const char *at, const char *end)
{
	uint64_t start, size;
	size_t i;

	while (end > at && (end[-1] == ' ' || end[-1] == '\r'))
		end--;
	if (!parse_hex(&at, end, &start) || !parse_hex(&at, end, &size) || at == end || !*at)
		return;
	search->is_map = true;
	i = next_unnamed(search->next, addresses_from(search->addresses, search->count, start));
	while (i < search->count && search->addresses[i].value - start < size) {
		naming_add(&search->namings[search->addresses[i].index], at, (size_t)(end - at),
			   "");
		search->next[i] = i + 1;
		search->left--;
		i = next_unnamed(search->next, i);
	}
}

/* Parses the last lines first. Bytes behind the last newline are a line that is being written, or
 * the start of one that is too long. */
static void parse_map_lines(struct map_search *search, const char *begin, const char *end)
{
	end = memrchr(begin, '\n', (size_t)(end - begin));
	while (end && (search->left || !search->is_map)) {
		const char *before = memrchr(begin, '\n', (size_t)(end - begin));

		parse_map_line(search, before ? before + 1 : begin, end);
		end = before;
	}
}

static size_t read_at(int fd, uint64_t offset, char *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, to + done, size - done, (off_t)(offset + done));

		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* Reads blocks from the end of the file, each with whole lines. */
static void read_map_file(struct map_search *search, int fd, uint64_t end, char *block)
{
	uint64_t last = end > PERF_MAP_MAX ? end - PERF_MAP_MAX : 0;

	while (end > last && (search->left || !search->is_map)) {
		uint64_t begin = end > BLOCK_SIZE ? end - BLOCK_SIZE : 0;
		size_t size = read_at(fd, begin, block, (size_t)(end - begin));
		const char *first = begin ? memchr(block, '\n', size) : block;

		if (size != end - begin)
			return;
		/* The line before ends in the block before: go on behind its newline. */
		if (begin && first)
			first++;
		if (first)
			parse_map_lines(search, first, block + size);
		end = first && begin ? begin + (uint64_t)(first - block) : begin;
		if (first == block + size)
			end = begin;
	}
}

int perf_map_name(int fd, const uint64_t *wanted, size_t count, struct naming *ret_namings)
{
	struct code_address *addresses = calloc(count + 1, sizeof(*addresses));
	size_t *next = calloc(count + 1, sizeof(*next));
	char *block = malloc(BLOCK_SIZE);
	struct map_search search = {
		.addresses = addresses, .count = count, .next = next, .left = count
	};
	int status = addresses && next && block ? 0 : -ENOMEM;
	struct stat file;

	if (status)
		goto out;
	memset(ret_namings, 0, count * sizeof(*ret_namings));
	search.namings = ret_namings;
	for (size_t i = 0; i < count; i++)
		addresses[i] = (struct code_address){ .value = wanted[i], .index = i };
	for (size_t i = 0; i <= count; i++)
		next[i] = i;
	addresses_sort(addresses, count);
	if (fstat(fd, &file) == 0)
		read_map_file(&search, fd, (uint64_t)file.st_size, block);
	status = search.is_map ? 0 : -ENOEXEC;
out:
	free(block);
	free(next);
	free(addresses);
	return status;
}
