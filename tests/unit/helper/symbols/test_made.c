/* SPDX-License-Identifier: MIT */
/*
 * Perf maps, which programs write of the code that they generate: lines of all forms, overlapping
 * ranges, compared with a linear search, and hostile maps.
 */
#include "tests/unit/testing.h"

#include "plugin/helper/symbols/perf_map.h"

#include <errno.h>
#include <sys/mman.h>

/* A file with these bytes. */
static int file_of(const char *text, size_t size)
{
	int fd = memfd_create("map", 0);

	if (fd < 0 || pwrite(fd, text, size, 0) != (ssize_t)size)
		abort();
	return fd;
}

static int name_in(int fd, const uint64_t *addresses, size_t count, struct naming *ret_namings)
{
	int status = perf_map_name(fd, addresses, count, ret_namings);

	close(fd);
	return status;
}

static void test_lines(void)
{
	static const struct {
		const char *map;
		uint64_t address;
		const char *name; /* NULL: the address has no name; "": the file is no map */
	} cases[] = {
		{ "1000 10 f\n", 0x1000, "f" },
		{ "1000 10 f\n", 0x100f, "f" },
		{ "1000 10 f\n", 0x1010, NULL },
		{ "1000 10 f\n", 0xfff, NULL },
		{ "0x1000 0x10 f\n", 0x1000, "f" },
		{ "7FFFabcd 10 f\n", 0x7fffabcd, "f" },
		{ "1000  10   a b (c):1  \r\n", 0x1000, "a b (c):1" },
		{ "1000 10 Lcom/a/B;::run\n", 0x1000, "Lcom/a/B;::run" },
		{ "ffffffffffffffff 1 f\n", UINT64_MAX, "f" },
		{ "fffffffffffffff0 ffffffffffffffff f\n", UINT64_MAX, "f" },
		{ "fffffffffffffff0 ffffffffffffffff f\n", 0, NULL },
		{ "0 ffffffffffffffff f\n", 0, "f" },
		{ "1000 0 f\n", 0x1000, NULL },
		{ "1000 10 old\n1000 10 new\n", 0x1000, "new" },
		{ "1000 10 old\n1008 10 new\n", 0x1000, "old" },
		{ "1000 100 old\n1008 10 new\n", 0x1018, "old" },
		{ "1000 10 f\n1000 10 g", 0x1000, "f" }, /* the last line is incomplete */
		{ "1000 10 f\n1000 10\n1000\n\n1000 10 \nx 10 g\n1000 x g\n", 0x1000, "f" },
		{ "1000 10 f\n00000000000001000 10 g\n1000\t10 g\n-1000 10 g\n", 0x1000, "f" },
		{ "", 0x1000, "" },
		{ "\n", 0x1000, "" },
		{ "1000 10 f", 0x1000, "" },
		{ "root:x:0:0:root:/root:/bin/bash\n", 0, "" },
		{ "0x 0x f\n", 0, "" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct naming naming = { 0 };
		bool is_map = !cases[i].name || cases[i].name[0];
		char text[64] = "";

		CASE("%s: %#" PRIx64, cases[i].map, cases[i].address);
		CHECK_INT(name_in(file_of(cases[i].map, strlen(cases[i].map)), &cases[i].address, 1,
				  &naming),
			  is_map ? 0 : -ENOEXEC);
		snprintf(text, sizeof(text), "%.*s", (int)naming.size,
			 naming.bytes ? naming.bytes : "");
		CHECK_TEXT(text, cases[i].name ? cases[i].name : "");
		naming_done(&naming, 1);
	}
}

#define LINES 60000
#define ADDRESSES 4096

struct line {
	uint64_t start, size;
};

/* More lines than a block of the parser has, with addresses out of order. */
static void test_overlaps(void)
{
	static struct line lines[LINES];
	static uint64_t addresses[ADDRESSES];
	static struct naming namings[ADDRESSES];
	char *text = NULL;
	size_t size = 0, wrong = 0, none = 0;
	FILE *map = open_memstream(&text, &size);

	if (!map)
		abort();
	srandom(18);
	for (size_t i = 0; i < LINES; i++) {
		lines[i] = (struct line){ (uint64_t)random() % 1000000, (uint64_t)random() % 40 };
		fprintf(map, "%" PRIx64 " %" PRIx64 " f%zu%*s\n", lines[i].start, lines[i].size, i,
			(int)(random() % 20), "");
	}
	fclose(map);
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = (uint64_t)random() % 1000100;
	CASE("overlaps");
	CHECK_INT(name_in(file_of(text, size), addresses, ADDRESSES, namings), 0);
	for (size_t i = 0; i < ADDRESSES; i++) {
		char want[32] = "";

		for (size_t j = 0; j < LINES; j++)
			if (addresses[i] - lines[j].start < lines[j].size)
				snprintf(want, sizeof(want), "f%zu", j);
		none += !want[0];
		wrong += strlen(want) != namings[i].size ||
			 (want[0] && memcmp(want, namings[i].bytes, namings[i].size) != 0);
	}
	CHECK_UINT(wrong, 0);
	CHECK_INT(none > 0 && none < ADDRESSES, 1);
	naming_done(namings, ADDRESSES);
	free(text);
}

/* A line that is longer than the parser accepts. */
static void test_long_lines(void)
{
	static const uint64_t addresses[] = { 0x1000, 0x2000, 0x3000 };
	struct naming namings[3];
	char *text = NULL;
	size_t size = 0;
	FILE *map = open_memstream(&text, &size);

	if (!map)
		abort();
	fprintf(map, "1000 10 first\n2000 10 %0700000d\n3000 10 %01000d\n", 0, 0);
	fclose(map);
	CASE("long lines");
	CHECK_INT(name_in(file_of(text, size), addresses, 3, namings), 0);
	CHECK_UINT(namings[0].size, 5);
	CHECK_UINT(namings[1].size, 0);
	CHECK_UINT(namings[2].size, NAMING_FUNCTION_MAX);
	naming_done(namings, 3);
	free(text);
}

/* A file of many GiB with holes, and all lines for each address: the parser must respect its
 * limits. */
static void test_huge(void)
{
	static const char line[] = "0 ffffffffffffffff f\n";
	static uint64_t addresses[ADDRESSES];
	static struct naming namings[ADDRESSES];
	int fd = file_of("1000 10 f\n", 10);
	char *text = malloc(sizeof(line) * 200000);
	size_t size = 0;

	if (!text || ftruncate(fd, 1LL << 40) != 0)
		abort();
	CASE("a hole");
	CHECK_INT(name_in(fd, addresses, 1, namings), -ENOEXEC);
	for (size_t i = 0; i < 200000; i++, size += sizeof(line) - 1)
		memcpy(text + size, line, sizeof(line));
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = i;
	CASE("all lines for all addresses");
	CHECK_INT(name_in(file_of(text, size), addresses, ADDRESSES, namings), 0);
	CHECK_UINT(namings[0].size, 1);
	CHECK_UINT(namings[ADDRESSES - 1].size, 1);
	naming_done(namings, ADDRESSES);
	free(text);
}

int main(void)
{
	test_lines();
	test_overlaps();
	test_long_lines();
	test_huge();
	return testing_end();
}
