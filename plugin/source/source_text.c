/* SPDX-License-Identifier: MIT */
/*
 * Rows of text files. All files are read before the first row is given. A file that cannot be read
 * mostly stays unreadable for long, so it is logged once.
 */
#include "source_text.h"

#include "object/budget.h"
#include "text_cgroups.h"
#include "text_files.h"
#include "text_rows.h"
#include "util/clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_ONE (64U << 10) /* bytes of a file that is one row */
#define SIZE_MAX_MANY (1U << 20)
#define LEFT_OUT "its metrics are left out while that is so"
#define LOG_AGAIN_NS (3600 * NS_PER_S)

struct text_source {
	char map[64];
	const struct fields *fields;
	const struct config *config;
	struct service_cgroups *service_cgroups;
	struct text_files files;
	struct kernel_text text;
	struct text_rows rows;
	struct error trouble; /* the first of this fetch; empty: none */
	bool is_new;          /* the trouble was not reported yet */
	uint64_t logged_ns;   /* 0: never */
	bool missing_logged;
};

static size_t size_max(const struct fields *fields)
{
	return fields->file.form >= FORM_LINES ? SIZE_MAX_MANY : SIZE_MAX_ONE;
}

static const char *why(int status)
{
	switch (-status) {
	case ENOENT:
		return "this kernel has no such file, or not at present";
	case EPERM:
		return "not everybody on this machine may read it, and only such files are read";
	case EXDEV:
		return "it is of another file system";
	case EINVAL:
		return "it is not a regular file";
	case EFBIG:
		return "it is too large";
	case EAGAIN:
		return "reading it would block";
	case E2BIG:
		return "it matches too many files, and some are left out";
	case ENODEV:
		return "its file system is not mounted, or not the kernel's";
	case EOPNOTSUPP:
		return "the kernel does not count it; pressure needs psi=1 on its command line";
	default:
		return strerror(-status);
	}
}

__attribute__((format(printf, 2, 3))) static void note(struct text_source *s, const char *format,
						       ...)
{
	va_list args;

	if (s->trouble.text[0])
		return;
	va_start(args, format);
	vsnprintf(s->trouble.text, sizeof(s->trouble.text), format, args);
	va_end(args);
}

/* --- fetching --- */

/* A service that does not run has no cgroup, and files that an asterisk stands for come and go, so an
 * absent file is no trouble there. */
static void note_file(struct text_source *s, const struct text_file *file, int status)
{
	bool many = s->fields->by_service || file->match;
	bool absent = status == -ENOENT || status == -ENODEV || status == -ENOTDIR;

	if (s->fields->file.is_optional)
		return;
	if (!many || !absent)
		note(s, "cannot read %s%s%s%s: %s; " LEFT_OUT, s->fields->text, many ? " (" : "",
		     many ? file->path : "", many ? ")" : "", why(status));
	else if (text_file_lacks_controller(&s->files, file))
		note(s, "there is no %s, but its cgroup: %s; " LEFT_OUT, file->path,
		     strstr(file->path, ".pressure") ? why(-EOPNOTSUPP)
						     : "the controller is off there");
}

/* Is the file that the tag's `limited` names the file of the row itself? */
static bool is_limit_itself(const struct text_source *s)
{
	return !strcmp(s->fields->file.limited, s->fields->file.path);
}

/* Does the cgroup lack the limit that the tag wants? When it gets one, counting starts at what the file
 * says then. */
static bool is_skipped(struct text_source *s, struct text_file *file)
{
	int limited;

	if (!s->fields->file.limited[0] || is_limit_itself(s))
		return false;
	limited = text_file_is_limited(&s->files, file, &s->text);
	if (limited == 0) {
		text_rows_count(&s->rows, file);
		text_file_forget(file);
	}
	return limited != 1;
}

static bool fetch_file(struct text_source *s, struct text_file *file)
{
	ssize_t length;
	bool any;

	if (text_cgroup_is_stale(&s->files, file) || is_skipped(s, file))
		return false;
	length = text_file_read(&s->files, file, &s->text, size_max(s->fields));
	if (length < 0) {
		note_file(s, file, (int)length);
		return false;
	}
	text_rows_count(&s->rows, file);
	if (is_limit_itself(s) && !text_is_limit(s->text.bytes, (size_t)length))
		return false;
	any = text_rows_read(&s->rows, file, s->text.bytes, (size_t)length);
	if (!any && !s->fields->by_key && !s->fields->file.is_optional)
		note(s, "%s has nothing that a FIELD names; " LEFT_OUT, s->fields->text);
	return any;
}

/* Logs which members no file has: the kernel may be older or newer than the object. */
static void note_missing(struct text_source *s)
{
	char list[256] = "";
	size_t length = 0;

	for (size_t i = 0; i < s->fields->count && length < sizeof(list); i++)
		if (!s->fields->field[i].of_key && !s->rows.found[i])
			length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
						   length ? ", " : "", s->fields->field[i].member);
	if (length == 0 || s->missing_logged || s->trouble.text[0] || s->fields->file.is_optional)
		return;
	note(s, "%s has nothing for %s on this kernel; " LEFT_OUT, s->fields->text, list);
	s->missing_logged = s->is_new = true;
}

static void fetch_all(struct text_source *s)
{
	int status = text_files_update(&s->files);
	bool any = false;

	if (status && !(status == -ENODEV && s->fields->file.is_optional))
		note(s, "cannot read %s: %s; " LEFT_OUT, s->fields->text, why(status));
	for (size_t i = 0; i < s->files.count && s->files.root >= 0; i++)
		any |= fetch_file(s, &s->files.file[i]);
	if (s->rows.is_full)
		note(s,
		     "%s has more than %u rows, and the others are left out; raise the "
		     "max_entries of the map",
		     s->fields->text, s->rows.count);
	if (any)
		note_missing(s);
}

void text_source_fetch(struct text_source *s, const struct snapshot *snapshot)
{
	bool was_fine = !s->trouble.text[0];

	s->trouble.text[0] = '\0';
	text_rows_begin(&s->rows);
	s->rows.snapshot = snapshot;
	fetch_all(s);
	s->rows.snapshot = NULL;
	s->rows.has_begun = true;
	if (!s->trouble.text[0] || !was_fine ||
	    (s->logged_ns && clock_ns() - s->logged_ns < LOG_AGAIN_NS))
		return;
	s->is_new = true;
	s->logged_ns = clock_ns();
}

bool text_source_trouble(struct text_source *s, struct error *ret_trouble)
{
	if (!s->is_new)
		return false;
	s->is_new = false;
	error_set(ret_trouble, 0, "map %s: %.900s", s->map, s->trouble.text);
	return true;
}

bool text_source_has(const struct text_source *s, uint32_t column)
{
	for (size_t i = 0; i < s->fields->count; i++)
		if (!s->fields->field[i].of_key && s->fields->field[i].column == column)
			return s->rows.found[i];
	return true;
}

/* --- struct source --- */

static int map_sums(struct rows *rows)
{
	return mapping_make(&rows->mapping, rows->count * rows->stride);
}

static int start(struct rows *rows, struct error *error)
{
	struct text_source *s = rows->text;
	int status = s->fields->by_key ? 0 : map_sums(rows);

	status = status
			 ?: text_rows_init(&s->rows, s->fields, rows->count, rows->stride,
					   rows->mapping.start);
	status = status
			 ?: text_files_init(&s->files, &s->fields->file,
					    s->fields->by_service ? s->config : NULL);
	if (s->fields->by_service && !s->fields->by_key)
		s->files.service_cgroups = s->service_cgroups;
	if (status == -E2BIG)
		return error_set(error, status, "map %s: %s matches more than %d files", s->map,
				 s->fields->text, TEXT_FILES_MAX);
	if (status)
		return error_set(error, status, "map %s: no memory for %u rows", s->map,
				 rows->count);
	text_source_fetch(s, NULL);
	return 0;
}

static int each(struct rows *rows, row_visitor *visit, void *to, struct error *error)
{
	return text_rows_each(&rows->text->rows, visit, to, error);
}

static uint64_t memory(const struct rows *rows)
{
	const struct fields *fields = rows->text->fields;

	return size_sum(size_max(fields),
			size_product(rows->count, text_rows_size(fields, rows->stride)));
}

static void done(struct rows *rows)
{
	struct text_source *s = rows->text;

	if (!s)
		return;
	text_files_done(&s->files);
	kernel_text_done(&s->text);
	text_rows_done(&s->rows);
	free(s);
}

const struct source source_text = {
	.start = start,
	.each = each,
	.memory = memory,
	.done = done,
};

int text_source_prepare(struct rows *rows, struct bpf_map *map, const struct fields *fields,
			const struct row_counts *counts, struct error *error)
{
	uint32_t entries = bpf_map__max_entries(map);
	struct text_source *s;

	*rows = (struct rows){ .map = map, .source = &source_text, .shards = 1, .cpus = 1 };
	rows->stride = (fields->row_size + 7) / 8 * 8;
	rows->count = fields->by_key ? entries : fields->by_service ? counts->services : 1;
	if (rows->count == 0 || rows->count > ROWS_MAX)
		return error_set(error, -E2BIG,
				 "map %s: it has %u rows, and a table has 1 to %d; change its "
				 "max_entries",
				 bpf_map__name(map), rows->count, ROWS_MAX);
	s = rows->text = calloc(1, sizeof(*s));
	if (!s)
		return error_set(error, -ENOMEM, "map %s: no memory", bpf_map__name(map));
	snprintf(s->map, sizeof(s->map), "%s", bpf_map__name(map));
	s->fields = fields;
	s->config = counts->config;
	s->service_cgroups = counts->service_cgroups;
	s->files.root = -1;
	return bpf_map__set_autocreate(map, false);
}
