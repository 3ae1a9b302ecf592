/* SPDX-License-Identifier: MIT */
/*
 * Objects of another version than the plugin: one warning for all of them. Needs the right to load
 * BPF programs.
 */
#include "tests/unit/fake/sample.h"
#include "tests/unit/messages.h"
#include "tests/unit/scratch_directory.h"

#define TAG "version:" EBPF_VERSION
#define OTHER_VERSION " is of version "

/* The path of a copy of the sample's object with another text, as long, in place of its tag. */
static const char *object_with(const char *name, const char *prefix, char first)
{
	static char bytes[4 << 20];
	FILE *from = fopen(testing_built("tests/bpf/sample.bpf.o"), "rb");
	size_t size = from ? fread(bytes, 1, sizeof(bytes), from) : 0;
	char *tag = memmem(bytes, size, TAG, sizeof(TAG));
	FILE *to = fopen(scratch_path(name), "wb");

	CHECK_INT(tag != NULL, 1);
	if (tag) {
		memcpy(tag, prefix, strlen(prefix));
		tag[strlen(prefix)] = first;
	}
	if (!to || fwrite(bytes, 1, size, to) != size || fclose(to))
		abort();
	fclose(from);
	return scratch_path(name);
}

static size_t warnings_for(const char *path)
{
	struct error error = { "" };

	CHECK_INT(open_probe(path, &error), 0);
	return messages_with(OTHER_VERSION);
}

static void read_and_close(void)
{
	read_probe();
	probe_done(&probe);
}

static void test_versions(void)
{
	char want[1024];
	const char *path;

	CASE("the same version");
	CHECK_UINT(warnings_for(testing_built("tests/bpf/sample.bpf.o")), 0);
	read_and_close();
	CASE("an object of others");
	CHECK_UINT(warnings_for(object_with("own.bpf.o", "variant:", '9')), 0);
	read_and_close();
	CASE("another version");
	path = object_with("other.bpf.o", "version:", '9');
	CHECK_UINT(warnings_for(path), 1);
	CHECK_INT(severity_with(OTHER_VERSION), LOG_WARNING);
	snprintf(want, sizeof(want), "%s is of version 9%s, but this plugin of %s, ", path,
		 EBPF_VERSION + 1, EBPF_VERSION);
	CHECK_HAS(message_with(OTHER_VERSION), want);
	CHECK_HAS(message_with(OTHER_VERSION), "; restart collectd, and if ");
	read_and_close();
	CASE("and one more");
	CHECK_UINT(warnings_for(object_with("second.bpf.o", "version:", '8')), 0);
	read_and_close();
}

int main(void)
{
	int status = sample_begin();

	if (status)
		return status;
	scratch_begin();
	test_versions();
	scratch_end();
	services_done(&services);
	file_helper_done(&files);
	config_done(&config);
	daemon_clear();
	return testing_end();
}
