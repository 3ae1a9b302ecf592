/* SPDX-License-Identifier: MIT */
/*
 * Rows from kernel text: as the kernel writes it, and invalid text.
 */
#include "tests/unit/testing.h"

#include "plugin/source/text.h"

#define FIELDS_MAX 4

static const char pressure[] = "some avg10=0.27 avg60=0.13 avg300=0.16 total=188631529\n"
			       "full avg10=0.02 avg60=0.04 avg300=0.10 total=97122049\n";
static const char snmp[] = "Ip: Forwarding DefaultTTL\nIp: 1 64\n"
			   "Tcp: RtoMin MaxConn RetransSegs\nTcp: 200 -1 42\n"
			   "TcpExt: A\n";
static const char sockstat[] = "sockets: used 123\nTCP: inuse 5 orphan 0 tw 7 alloc 6 mem 1\n";
static const char io_stat[] = "8:0 rbytes=1 wbytes=2 rios=3\n253:1 rbytes=10 wios=4\n";
static const char softirqs[] = "                    CPU0       CPU1\n"
			       "          HI:          1          2\n"
			       "      NET_RX:         30         40\n";
static const char interrupts[] = "      CPU0   CPU1\n"
				 " 24:  5   6   IO-APIC  24-edge  virtio\n"
				 "ERR:  9\n";
static const char net_dev[] = "Inter-|   Receive      |  Transmit\n"
			      " face |bytes packets errs|bytes\n"
			      "    lo: 100 2 0 100\n"
			      "  eth0: 7 1 0 9\n";
static const char swaps[] = "Filename\t\tType\t\tSize\tUsed\tPriority\n"
			    "/dev/vda2  partition 1000 10 -2\n/swap file 500 0 -3\n";
static const char stat[] = "cpu  1 2 3\ncpu0 1 2 3\ncpu1 0 0 0\nintr 5 6\nctxt 99\n";

/* The rows, each followed by a semicolon; a minus for a missing value. */
static const struct {
	const char *file, *fields[FIELDS_MAX], *text, *want;
} cases[] = {
	{ "/proc/pressure/io",
	  { "some total", "full total", "some avg10", "full avg60" },
	  pressure,
	  "188631529,97122049,0.27,0.04;" },
	{ "/proc/pressure/io",
	  { "none total", "some none", "some", "some 4" },
	  pressure,
	  "-,-,avg10=0.27,total=188631529;" },
	{ "/proc/vmstat", { "b", "a", "a 2" }, "a 1\nb 2\na 3\nab 4\n", "2,1,-;" },
	{ "/proc/meminfo", { "MemFree" }, "MemTotal:  16 kB\nMemFree:    3 kB\n", "3;" },
	{ "/proc/net/sockstat",
	  { "sockets used", "TCP tw", "TCP 2", "TCP mem" },
	  sockstat,
	  "123,7,5,1;" },
	{ "/proc/stat", { "cpu 3", "ctxt", "cpu0" }, stat, "3,99,1;" },
	{ "/proc/stat only=cpu*", { "cpu1", "ctxt" }, stat, "0,-;" },
	{ "/proc/net/snmp pairs",
	  { "Tcp RetransSegs", "Ip DefaultTTL", "Tcp 2", "TcpExt A" },
	  snmp,
	  "42,64,-1,-;" },
	{ "/proc/net/snmp pairs", { "a b", "a c" }, "a: b\na: 1\na: c\na: 2\na: 3\n", "1,2;" },
	{ "/proc/net/snmp pairs", { "a b" }, "a: b\nb: 1\na: 2\n", "-;" },
	{ "cgroup:io.stat lines", { "1", "rbytes", "wios" }, io_stat, "8:0,1,-;253:1,10,4;" },
	{ "cgroup:memory.current lines", { "1" }, "12288\n", "12288;" },
	{ "cgroup:memory.max lines", { "1" }, "max\n", "max;" },
	{ "/proc/loadavg lines", { "1", "5", "6" }, "0.50 0.1 0.0 1/9 77\n", "0.50,77,-;" },
	{ "/proc/net/dev lines skip=2", { "1", "2", "5" }, net_dev, "lo,100,100;eth0,7,9;" },
	{ "/proc/net/dev lines skip=9", { "1" }, net_dev, "" },
	{ "/proc/swaps header",
	  { "1", "Used", "Priority", "Sized" },
	  swaps,
	  "/dev/vda2,10,-2,-;/swap,0,-3,-;" },
	{ "/proc/swaps header skip=1", { "1000" }, swaps, "-;" },
	{ "/proc/softirqs cells",
	  { "1", "2", "3" },
	  softirqs,
	  "HI,CPU0,1;HI,CPU1,2;NET_RX,CPU0,30;NET_RX,CPU1,40;" },
	{ "/proc/softirqs cells only=NET_*", { "3", "1" }, softirqs, "30,NET_RX;40,NET_RX;" },
	{ "/proc/interrupts cells",
	  { "1", "2", "3" },
	  interrupts,
	  "24,CPU0,5;24,CPU1,6;ERR,CPU0,9;" },
	{ "/sys/block/*/stat lines", { "*", "1" }, "  12 13\n", "-,12;" },
	{ "/sys/block/*/stat lines", { "1", "2" }, "\n \n\t\n: ::\n a:b c=: \n", ":,:;a:b,c=;" },
	{ "/proc/x", { "a" }, "a", "-;" },
	{ "/proc/x", { "a", "a b" }, "a b", "b,-;" },
	{ "/proc/x", { "a b" }, "a b=", ";" },
	{ "/proc/x", { "a" }, "", "-;" },
	{ "/proc/x lines", { "1" }, "", "" },
	{ "/proc/x header", { "a" }, "a\n", "" },
	{ "/proc/x cells", { "1" }, "a\n", "" },
	{ "/proc/x cells", { "3" }, "\nb 1\n", "" },
};

struct got {
	size_t fields;
	char text[512];
};

static void add(struct got *got, const char *text, size_t length)
{
	size_t at = strlen(got->text);

	snprintf(got->text + at, sizeof(got->text) - at, "%.*s", (int)length, text);
}

static int add_words(void *to, const struct text_word *words)
{
	struct got *got = to;

	for (size_t i = 0; i < got->fields; i++) {
		add(got, ",", i > 0);
		add(got, words[i].at ? words[i].at : "-", words[i].at ? words[i].length : 1);
	}
	add(got, ";", 1);
	return 0;
}

static void test_rows(void)
{
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct field_tag fields[FIELDS_MAX];
		struct error error = { "" };
		struct got got = { 0 };
		struct file_tag file;

		CASE("%zu: %s", i, cases[i].file);
		CHECK_INT(file_tag_parse(cases[i].file, &file, &error), 0);
		for (; got.fields < FIELDS_MAX && cases[i].fields[got.fields]; got.fields++)
			CHECK_INT(field_tag_parse(cases[i].fields[got.fields], &file,
						  &fields[got.fields], &error),
				  0);
		CHECK_INT(text_read(&file, fields, got.fields, cases[i].text, strlen(cases[i].text),
				    add_words, &got),
			  0);
		CHECK_TEXT(got.text, cases[i].want);
	}
}

static int end_at(void *to, __attribute__((unused)) const struct text_word *words)
{
	return --*(int *)to ? 0 : -7;
}

static void test_end(void)
{
	struct file_tag file = { .form = FORM_LINES };
	struct field_tag field = { .position = 1 };
	int left = 2;

	CASE("a taker that has enough");
	CHECK_INT(text_read(&file, &field, 1, "1\n2\n3\n", 6, end_at, &left), -7);
	CHECK_INT(left, 0);
	CASE("bytes that are no text");
	left = 2;
	CHECK_INT(text_read(&file, &field, 1, "\0\n\0\xff", 4, end_at, &left), -7);
}

static void test_numbers(void)
{
	static const struct {
		const char *word;
		unsigned decimals;
		bool is_hex, is_signed, good;
		uint64_t want;
	} numbers[] = {
		{ "0", 0, 0, 0, 1, 0 },
		{ "007", 0, 0, 0, 1, 7 },
		{ "18446744073709551615", 0, 0, 0, 1, UINT64_MAX },
		{ "18446744073709551616", 0, 0, 0, 0, 0 },
		{ "99999999999999999999999999", 0, 0, 0, 0, 0 },
		{ "9223372036854775807", 0, 0, 1, 1, INT64_MAX },
		{ "9223372036854775808", 0, 0, 1, 0, 0 },
		{ "-1", 0, 0, 1, 1, (uint64_t)-1 },
		{ "-1", 0, 0, 0, 0, 0 },
		{ "-", 0, 0, 1, 0, 0 },
		{ "--1", 0, 0, 1, 0, 0 },
		{ "+1", 0, 0, 1, 0, 0 },
		{ "", 0, 0, 0, 0, 0 },
		{ "max", 0, 0, 0, 0, 0 },
		{ "12kB", 0, 0, 0, 0, 0 },
		{ "1/9", 0, 0, 0, 0, 0 },
		{ "a", 0, 1, 0, 1, 10 },
		{ "0x1F", 0, 1, 0, 1, 31 },
		{ "0x", 0, 1, 0, 0, 0 },
		{ "ffffffffffffffff", 0, 1, 0, 1, UINT64_MAX },
		{ "10000000000000000", 0, 1, 0, 0, 0 },
		{ "fg", 0, 1, 0, 0, 0 },
		{ "1.5", 0, 1, 0, 0, 0 },
		{ "0.27", 2, 0, 0, 1, 27 },
		{ "12.3", 2, 0, 0, 1, 1230 },
		{ "12", 2, 0, 0, 1, 1200 },
		{ "12.3456", 2, 0, 0, 1, 1234 },
		{ "12.3456", 0, 0, 0, 1, 12 },
		{ "-0.5", 1, 0, 1, 1, (uint64_t)-5 },
		{ "12.", 2, 0, 0, 0, 0 },
		{ ".5", 2, 0, 0, 0, 0 },
		{ "1.2.3", 2, 0, 0, 0, 0 },
		{ "1.x", 0, 0, 0, 0, 0 },
		{ "18446744073709551615", 1, 0, 0, 0, 0 },
		{ "18446744073709551615.5", 1, 0, 0, 0, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		const struct text_word word = { numbers[i].word, strlen(numbers[i].word) };
		const struct field_tag field = { .decimals = numbers[i].decimals,
						 .is_hex = numbers[i].is_hex };
		uint64_t got = 0;

		CASE("%s, decimals %u", numbers[i].word, numbers[i].decimals);
		CHECK_INT(text_number(&word, &field, numbers[i].is_signed, &got), numbers[i].good);
		CHECK_UINT(got, numbers[i].want);
	}
}

static void test_key_numbers(void)
{
	static const struct {
		const char *word;
		bool good;
		uint64_t want;
	} keys[] = {
		{ "CPU7", true, 7 },
		{ "cpu12", true, 12 },
		{ "0", true, 0 },
		{ "8:16", true, 8 << 20 | 16 },
		{ "253:1", true, 253 << 20 | 1 },
		{ "4095:1048575", true, UINT32_MAX },
		{ "4096:0", false, 0 },
		{ "0:1048576", false, 0 },
		{ "8:", false, 0 },
		{ "8:1x", false, 0 },
		{ "8:1:2", false, 0 },
		{ "cpu", false, 0 },
		{ "", false, 0 },
		{ ":", false, 0 },
		{ "a:1", true, 1 },
		{ "x18446744073709551615", true, UINT64_MAX },
		{ "x18446744073709551616", false, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		const struct text_word word = { keys[i].word, strlen(keys[i].word) };
		uint64_t got = 0;

		CASE("%s", keys[i].word);
		CHECK_INT(text_key_number(&word, &got), keys[i].good);
		CHECK_UINT(got, keys[i].want);
	}
	CHECK_INT(text_key_number(&(struct text_word){ 0 }, &(uint64_t){ 0 }), 0);
}

int main(void)
{
	test_rows();
	test_end();
	test_numbers();
	test_key_numbers();
	return testing_end();
}
