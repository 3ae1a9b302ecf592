/* SPDX-License-Identifier: MIT */
/*
 * Names of the kernel's functions by their addresses, from /proc/kallsyms. That has 10 MiB and more and takes
 * some 0.1 s, so it is read by the worker, and only when an object needs it.
 */
#include "ksym.h"

#include "util/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KALLSYMS "/proc/kallsyms"
#define KALLSYMS_SIZE_MAX (64U << 20)
#define KALLSYMS_WAIT_MS 5000
#define PERIOD_NS (3600 * NS_PER_S)
#define SYMBOLS_MAX (1U << 20)
#define FUNCTION_SIZE_MAX (1U << 20) /* what is farther behind a symbol is none of it */

struct symbol {
	uint64_t address;
	uint32_t name; /* where it begins in the names; of two of one address the first counts */
};

static struct symbols {
	struct symbol *symbol; /* in the order of their addresses */
	size_t count, room;
	char *names;
	size_t used, size;
} known;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool wanted, missed;
static uint64_t due_ns;

void ksyms_want(void)
{
	pthread_mutex_lock(&lock);
	missed |= !wanted;
	wanted = true;
	pthread_mutex_unlock(&lock);
}

/* Of two threads that ask one alone is told so. */
static bool take_turn(uint64_t now_ns)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = wanted && missed && now_ns >= due_ns;
	if (is)
		due_ns = now_ns + PERIOD_NS;
	pthread_mutex_unlock(&lock);
	return is;
}

static bool grow(struct symbols *symbols, size_t length)
{
	if (symbols->count == symbols->room) {
		size_t room = symbols->room ? 2 * symbols->room : 1024;
		struct symbol *grown = reallocarray(symbols->symbol, room, sizeof(*grown));

		if (!grown)
			return false;
		symbols->symbol = grown;
		symbols->room = room;
	}
	if (symbols->used + length > symbols->size) {
		size_t size = 2 * symbols->size + length + 1024;
		char *grown = realloc(symbols->names, size);

		if (!grown)
			return false;
		symbols->names = grown;
		symbols->size = size;
	}
	return true;
}

/* ADDRESS TYPE NAME and perhaps a module; the address is 0 for those who may not know it. */
static int parse_line(const char *line, struct symbols *symbols)
{
	char *end;
	uint64_t address = strtoull(line, &end, 16);
	const char *name = end[0] == ' ' && end[1] ? end + 3 : "";
	size_t length = strcspn(name, " \t");

	if (!address || end == line || !strchr("tTwW", end[1]) || end[2] != ' ' || !length)
		return 0;
	if (!grow(symbols, length + 1))
		return -ENOMEM;
	symbols->symbol[symbols->count++] =
		(struct symbol){ .address = address, .name = (uint32_t)symbols->used };
	memcpy(symbols->names + symbols->used, name, length);
	symbols->used += length;
	symbols->names[symbols->used++] = '\0';
	return 0;
}

static int by_address(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static void symbols_done(struct symbols *symbols)
{
	free(symbols->symbol);
	free(symbols->names);
	*symbols = (struct symbols){ 0 };
}

static void take(const struct symbols *symbols)
{
	struct symbols old;

	pthread_mutex_lock(&lock);
	old = known;
	known = *symbols;
	missed = false;
	pthread_mutex_unlock(&lock);
	symbols_done(&old);
}

int ksyms_parse(char *text)
{
	struct symbols symbols = { 0 };
	int status = 0;
	char *line;

	while (status == 0 && symbols.count < SYMBOLS_MAX && (line = strsep(&text, "\n")))
		status = parse_line(line, &symbols);
	if (status) {
		symbols_done(&symbols);
		return status;
	}
	if (symbols.count)
		qsort(symbols.symbol, symbols.count, sizeof(*symbols.symbol), by_address);
	take(&symbols);
	return 0;
}

void ksyms_refresh(struct file_reader *files, uint64_t now_ns)
{
	const struct file_request request = {
		.path = KALLSYMS,
		.size_max = KALLSYMS_SIZE_MAX,
		.cut = true,
		.wait_ms = KALLSYMS_WAIT_MS,
		.share = FILE_OF_ROOT,
		.whose = file_number(KALLSYMS),
	};
	struct file file;

	if (!take_turn(now_ns))
		return;
	if (file_read(files, &request, &file))
		return;
	ksyms_parse(file.bytes);
	free(file.bytes);
}

/* The last one at this address or before, NULL: none. */
static const struct symbol *find(uint64_t address)
{
	size_t low = 0, high = known.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (known.symbol[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low > 1 && known.symbol[low - 2].address == known.symbol[low - 1].address)
		low--;
	return low ? &known.symbol[low - 1] : NULL;
}

bool ksym_name(uint64_t address, char *to, size_t size)
{
	const struct symbol *found;

	pthread_mutex_lock(&lock);
	found = find(address);
	if (found && address - found->address > FUNCTION_SIZE_MAX)
		found = NULL;
	if (found)
		snprintf(to, size, "%s", known.names + found->name);
	missed |= !found;
	pthread_mutex_unlock(&lock);
	return found != NULL;
}

void ksyms_done(void)
{
	take(&(struct symbols){ 0 });
	wanted = false;
	due_ns = 0;
}
