/* SPDX-License-Identifier: MIT */
/*
 * Names of the kernel's functions by their addresses, from /proc/kallsyms. That has 10 MiB and more and takes
 * some 0.1 s, so it is read by a helper, and only when an object needs it.
 */
#include "ksym.h"

#include "util/clock.h"
#include "util/lock.h"

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
#define RETRY_NS (60 * NS_PER_S) /* after a read that failed, as on a machine that is too busy */
#define SYMBOLS_MAX (1U << 20)
#define FUNCTION_SIZE_MAX (1U << 20) /* what is farther behind a symbol is none of it */

struct ksym_entry {
	uint64_t address;
	uint32_t name; /* where it begins in the names; of two of one address the first counts */
};

void ksyms_init(struct ksyms *ksyms)
{
	*ksyms = (struct ksyms){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

void ksyms_want(struct ksyms *ksyms)
{
	lock_acquire(&ksyms->lock);
	ksyms->missed |= !ksyms->wanted;
	ksyms->wanted = true;
	lock_release(&ksyms->lock);
}

/* True for one of several threads that come at the same time: it reads the file. */
static bool claim_ksyms_read(struct ksyms *ksyms, uint64_t now_ns)
{
	bool is_due;

	lock_acquire(&ksyms->lock);
	is_due = ksyms->wanted && ksyms->missed && now_ns >= ksyms->due_ns;
	if (is_due)
		ksyms->due_ns = now_ns + PERIOD_NS;
	lock_release(&ksyms->lock);
	return is_due;
}

static void retry_ksyms(struct ksyms *ksyms, uint64_t now_ns)
{
	lock_acquire(&ksyms->lock);
	ksyms->due_ns = now_ns + RETRY_NS;
	lock_release(&ksyms->lock);
}

static bool grow_ksym_list(struct ksym_list *symbols, size_t length)
{
	if (symbols->count == symbols->room) {
		size_t room = symbols->room ? 2 * symbols->room : 1024;
		struct ksym_entry *grown = reallocarray(symbols->entry, room, sizeof(*grown));

		if (!grown)
			return false;
		symbols->entry = grown;
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
static int parse_kallsyms_line(const char *line, struct ksym_list *symbols)
{
	char *end;
	uint64_t address = strtoull(line, &end, 16);
	const char *name = end[0] == ' ' && end[1] ? end + 3 : "";
	size_t length = strcspn(name, " \t");

	if (!address || end == line || !strchr("tTwW", end[1]) || end[2] != ' ' || !length)
		return 0;
	if (!grow_ksym_list(symbols, length + 1))
		return -ENOMEM;
	symbols->entry[symbols->count++] =
		(struct ksym_entry){ .address = address, .name = (uint32_t)symbols->used };
	memcpy(symbols->names + symbols->used, name, length);
	symbols->used += length;
	symbols->names[symbols->used++] = '\0';
	return 0;
}

static int compare_ksyms(const void *left, const void *right)
{
	const struct ksym_entry *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static void ksym_list_done(struct ksym_list *symbols)
{
	free(symbols->entry);
	free(symbols->names);
	*symbols = (struct ksym_list){ 0 };
}

static void replace_ksyms(struct ksyms *ksyms, const struct ksym_list *symbols)
{
	struct ksym_list old;

	lock_acquire(&ksyms->lock);
	old = ksyms->list;
	ksyms->list = *symbols;
	ksyms->missed = false;
	lock_release(&ksyms->lock);
	ksym_list_done(&old);
}

int ksyms_parse(struct ksyms *ksyms, char *text)
{
	struct ksym_list symbols = { 0 };
	int status = 0;
	char *line;

	while (status == 0 && symbols.count < SYMBOLS_MAX && (line = strsep(&text, "\n")))
		status = parse_kallsyms_line(line, &symbols);
	if (status) {
		ksym_list_done(&symbols);
		return status;
	}
	if (symbols.count)
		qsort(symbols.entry, symbols.count, sizeof(*symbols.entry), compare_ksyms);
	replace_ksyms(ksyms, &symbols);
	return 0;
}

void ksyms_refresh(struct ksyms *ksyms, struct file_helper *files, uint64_t now_ns)
{
	const struct file_request request = {
		.path = KALLSYMS,
		.size_max = KALLSYMS_SIZE_MAX,
		.cut = true,
		.wait_ms = KALLSYMS_WAIT_MS,
		.budget = FILE_OF_ROOT,
	};
	struct file file;

	if (!claim_ksyms_read(ksyms, now_ns))
		return;
	if (file_read(files, &request, &file)) {
		retry_ksyms(ksyms, now_ns);
		return;
	}
	ksyms_parse(ksyms, file.bytes);
	free(file.bytes);
}

/* The last one at this address or before it, NULL: none. */
static const struct ksym_entry *find_ksym(const struct ksym_list *known, uint64_t address)
{
	size_t low = 0, high = known->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (known->entry[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low > 1 && known->entry[low - 2].address == known->entry[low - 1].address)
		low--;
	return low ? &known->entry[low - 1] : NULL;
}

bool ksym_name(struct ksyms *ksyms, uint64_t address, char *to, size_t size)
{
	const struct ksym_entry *found;

	lock_acquire(&ksyms->lock);
	found = find_ksym(&ksyms->list, address);
	if (found && address - found->address > FUNCTION_SIZE_MAX)
		found = NULL;
	if (found)
		snprintf(to, size, "%s", ksyms->list.names + found->name);
	ksyms->missed |= !found;
	lock_release(&ksyms->lock);
	return found != NULL;
}

void ksyms_done(struct ksyms *ksyms)
{
	replace_ksyms(ksyms, &(struct ksym_list){ 0 });
	ksyms->wanted = false;
	ksyms->due_ns = 0;
}
