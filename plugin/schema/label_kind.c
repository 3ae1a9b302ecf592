/* SPDX-License-Identifier: MIT */
/*
 * The words of LABEL(), and how each turns a value into a name. The name of an unknown value
 * contains its number.
 */
#include "label_kind.h"

#include "bpf/lib/endpoint.h"
#include "bpf/lib/function.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *const syscall_names[] = {
#include "plugin/schema/syscall_name.h"
};

#define SYSCALL_NAMES (sizeof(syscall_names) / sizeof(*syscall_names))

static void name_number(const struct label *label, const char *prefix, uint64_t value, char *to,
			size_t size)
{
	if (label->is_signed)
		snprintf(to, size, "%s%" PRId64, prefix, (int64_t)value);
	else
		snprintf(to, size, "%s%" PRIu64, prefix, value);
}

static void name_decimal(const struct label *label, uint64_t value, char *to, size_t size)
{
	name_number(label, "", value, to, size);
}

static void name_cpu(const struct label *label, uint64_t value, char *to, size_t size)
{
	name_number(label, "cpu", value, to, size);
}

static void name_device(__attribute__((unused)) const struct label *label, uint64_t value, char *to,
			size_t size)
{
	snprintf(to, size, "%u:%u", (unsigned)(value >> DEVICE_MINOR_BITS),
		 (unsigned)value & ((1U << DEVICE_MINOR_BITS) - 1));
}

/* The value has the encoding of stat(2), not that of the kernel. */
static void name_device_stat(__attribute__((unused)) const struct label *label, uint64_t value,
			     char *to, size_t size)
{
	snprintf(to, size, "%u:%u", major(value), minor(value));
}

/* The number is an index in collectd's network namespace. */
static void name_interface(const struct label *label, uint64_t value, char *to, size_t size)
{
	char name[IF_NAMESIZE];

	if (value <= UINT32_MAX && if_indextoname((unsigned)value, name))
		snprintf(to, size, "%s", name);
	else
		name_number(label, "if", value, to, size);
}

static void name_syscall(const struct label *label, uint64_t value, char *to, size_t size)
{
	const char *name = value < SYSCALL_NAMES ? syscall_names[value] : NULL;

	if (name)
		snprintf(to, size, "%s", name);
	else
		name_number(label, "syscall_", value, to, size);
}

/* Can name_syscall() return this name? */
static bool knows_syscall(const char *name)
{
	unsigned number;
	char excess;

	for (size_t i = 0; i < SYSCALL_NAMES; i++)
		if (syscall_names[i] && !strcmp(syscall_names[i], name))
			return true;
	return sscanf(name, "syscall_%u%c", &number, &excess) == 1;
}

/* The number may be negative, as system calls return it, or positive, as programs see it. */
static void name_errno(const struct label *label, uint64_t value, char *to, size_t size)
{
	uint64_t number = label->is_signed && (int64_t)value < 0 ? -value : value;
	const char *name = number < 4096 ? strerrorname_np((int)number) : NULL;

	if (name)
		snprintf(to, size, "%s", number ? name : "none");
	else
		name_number(label, "errno_", value, to, size);
}

static void name_signal(const struct label *label, uint64_t value, char *to, size_t size)
{
	const char *name = value < 64 ? sigabbrev_np((int)value) : NULL;

	if (name)
		snprintf(to, size, "SIG%s", name);
	else
		name_number(label, "signal_", value, to, size);
}

static void name_user(const struct label *label, uint64_t value, char *to, size_t size)
{
	name_number(label, "user_", value, to, size);
}

static void name_cgroup(const struct label *label, uint64_t value, char *to, size_t size)
{
	name_number(label, "cgroup_", value, to, size);
}

static void name_ksym(__attribute__((unused)) const struct label *label, uint64_t value, char *to,
		      size_t size)
{
	snprintf(to, size, "ksym_%" PRIx64, value);
}

static void name_hex(const struct label *label, const unsigned char *bytes, char *to, size_t size)
{
	to[0] = '\0';
	for (uint32_t i = 0; i < label->size && 2 * (size_t)i + 2 < size; i++)
		sprintf(to + 2 * (size_t)i, "%02x", bytes[i]);
}

static void name_string(const struct label *label, const unsigned char *bytes, char *to,
			size_t size)
{
	snprintf(to, size, "%.*s", (int)label->size, (const char *)bytes);
}

/* The bytes are in network order. An IPv4 address that is mapped into IPv6 is written as IPv4. */
static void name_address(const struct label *label, const unsigned char *bytes, char *to,
			 size_t size)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool within = label->size == ADDRESS_SIZE_MAX && !memcmp(bytes, mapped, sizeof(mapped));
	const unsigned char *at = within ? bytes + sizeof(mapped) : bytes;
	int family = within || label->size != ADDRESS_SIZE_MAX ? AF_INET : AF_INET6;

	if (!inet_ntop(family, at, to, (socklen_t)size))
		to[0] = '\0';
}

static void name_endpoint(const struct label *label, const unsigned char *bytes, char *to,
			  size_t size)
{
	bool is_long = bytes[0] == ENDPOINT_IPV6;
	const unsigned char *port = bytes + 1 + (is_long ? ADDRESS_SIZE_MAX : 4);
	char address[INET6_ADDRSTRLEN];

	if ((!is_long && bytes[0] != ENDPOINT_IPV4) || port + 2 > bytes + label->size ||
	    !inet_ntop(is_long ? AF_INET6 : AF_INET, bytes + 1, address, sizeof(address)))
		name_string(label, bytes, to, size);
	else
		snprintf(to, size, is_long ? "[%s]:%u" : "%s:%u", address, port[0] << 8 | port[1]);
}

static void name_argument(const struct label *label, const unsigned char *bytes, char *to,
			  size_t size)
{
	uint64_t number = 0;

	if (bytes[0] >= ARGUMENT_STRING || label->size < ARGUMENT_SIZE) {
		name_string(label, bytes, to, size);
		return;
	}
	memcpy(&number, bytes + ARGUMENT_NUMBER_AT, sizeof(number));
	if (bytes[0] == ARGUMENT_SIGNED)
		snprintf(to, size, "%" PRId64, (int64_t)number);
	else
		snprintf(to, size, "%" PRIu64, number);
}

static int compare_enumerator(const void *key, const void *element)
{
	const uint64_t *value = key;
	const struct enumerator *enumerator = element;

	return *value < enumerator->value ? -1 : *value > enumerator->value;
}

static void name_enum(const struct label *label, uint64_t value, char *to, size_t size)
{
	const struct enumerator *found =
		bsearch(&value, label->enumerators, label->enumerator_count,
			sizeof(*label->enumerators), compare_enumerator);

	if (found)
		snprintf(to, size, "%s", found->name);
	else
		name_decimal(label, value, to, size);
}

enum special_kind { KIND_SERVICE, KIND_ENUM, KIND_FUNCTION, KIND_CPU };

static const struct label_kind kinds[] = {
	[KIND_SERVICE] = { .word = "service", .is_subject = true },
	[KIND_ENUM] = { .word = "enum", .name = name_enum },
	[KIND_FUNCTION] = { .word = "function", .name = name_enum },
	[KIND_CPU] = { .word = "cpu", .is_subject = true, .name = name_cpu },
	{ .word = "device",
	  .is_subject = true,
	  .name = name_device,
	  .name_bytes = name_string,
	  .table = LABEL_TABLE_DEVICES },
	{ .word = "interface",
	  .is_subject = true,
	  .name = name_interface,
	  .name_bytes = name_string },
	{ .word = "syscall", .name = name_syscall, .knows = knows_syscall, .list = "syscalls(2)" },
	{ .word = "errno", .name = name_errno },
	{ .word = "signal", .name = name_signal },
	{ .word = "user", .name = name_user, .table = LABEL_TABLE_USERS },
	{ .word = "string", .name_bytes = name_string },
	{ .word = "class", .is_configured = true, .name_bytes = name_string },
	{ .word = "argument", .is_optional = true, .name_bytes = name_argument },
	{ .word = "endpoint", .name_bytes = name_endpoint },
	{ .word = "address", .is_address = true, .name_bytes = name_address },
	{ .word = "cgroup", .name = name_cgroup, .table = LABEL_TABLE_CGROUPS },
	{ .word = "ksym", .name = name_ksym, .table = LABEL_TABLE_KSYMS },
	{ .word = "number", .name = name_decimal },
	{ .word = "hex", .is_raw = true, .name_bytes = name_hex },
	{ .word = "device_stat",
	  .is_subject = true,
	  .name = name_device_stat,
	  .table = LABEL_TABLE_STAT_DEVICES },
};

const struct label_kind *label_kind(const char *word)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].word, word))
			return &kinds[i];
	return NULL;
}

const struct label_kind *label_kind_service(void)
{
	return &kinds[KIND_SERVICE];
}

const struct label_kind *label_kind_enum(void)
{
	return &kinds[KIND_ENUM];
}

const struct label_kind *label_kind_function(void)
{
	return &kinds[KIND_FUNCTION];
}

const struct label_kind *label_kind_cpu(void)
{
	return &kinds[KIND_CPU];
}

const char *label_kind_words(void)
{
	return "service, cpu, device, device_stat, interface, syscall, errno, signal, user, cgroup, "
	       "ksym, address, endpoint, number, hex, string, class, function, argument or enum";
}
