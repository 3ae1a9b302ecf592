/* SPDX-License-Identifier: MIT */
/*
 * Writes as JSON which series and events objects make: for each object its tables, their series
 * with data sources, units and help, its events, programs and options. The engine's own parsers
 * read the tags, so what they refuse is an error here, too; so is a series without UNIT or HELP.
 * Nothing is loaded.
 *
 *     ebpf-describe TYPES.DB OBJECT...
 */
#include "help.h"
#include "plugin/config/config.h"
#include "plugin/event/event.h"
#include "plugin/object/annotation.h"
#include "plugin/object/hook_set_parts.h"
#include "plugin/object/object.h"
#include "plugin/schema/label_tags.h"
#include "plugin/schema/schema.h"
#include "plugin/schema/schema_tags.h"
#include "plugin/schema/series.h"
#include "types.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT_SIZE_MAX (64U << 20)

static const char *const kinds[] = {
	[COLUMN_INTEGER] = "integer",
	[COLUMN_MOMENTS] = "moments",
	[COLUMN_HIST] = "histogram",
};
static const char *const growths[] = {
	[SOURCE_COUNTER] = "counter",
	[SOURCE_GAUGE] = "gauge",
	[SOURCE_DERIVE] = "derive",
	[SOURCE_ABSOLUTE] = "absolute",
};
static const char *const severities[] = {
	[HEALTH_OKAY] = "okay",
	[HEALTH_WARNING] = "warning",
	[HEALTH_FAILURE] = "failure",
};

/* --- JSON --- */

static void put_string(const char *text)
{
	putchar('"');
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (*c < ' ')
			printf("\\u%04x", *c);
		else
			printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
	putchar('"');
}

static void put_member(const char *key, const char *text)
{
	printf("\"%s\": ", key);
	put_string(text);
}

/* Separates members and elements; the first one has no comma before it. */
static void put_comma(bool *first)
{
	fputs(*first ? "" : ",\n", stdout);
	*first = false;
}

static void put_series(const struct tag *tag)
{
	char name[2 * TAG_TEXT_MAX];

	snprintf(name, sizeof(name), "%s%s%s", tag->type, tag->instance[0] ? "-" : "",
		 tag->instance);
	put_member("name", name);
}

static void put_help(const struct help *help)
{
	put_member("title", help->title);
	fputs(", ", stdout);
	put_member("text", help->text);
}

/* --- a table --- */

struct table_view {
	const struct btf *btf;
	struct bpf_map *map;
	const struct schema *schema;
	uint32_t row;
	struct error *error;
};

static int parse_help(const char *text, const char *of, struct help *help, struct error *error)
{
	struct error why;

	if (!text)
		return error_set(error, -ENOENT, "%s: there is no HELP", of);
	if (help_parse(text, help, &why))
		return error_set(error, -EINVAL, "%s: %s", of, why.text);
	return 0;
}

static int describe_source(const struct table_view *v, const char *name,
			   const struct column *column)
{
	const struct btf_type *row = btf__type_by_id(v->btf, v->row);
	const char *member = annotation_name(v->btf, btf_members(row)[column->member].name_off);
	const char *text = annotation_of_member(v->btf, v->row, column->member, "unit:");
	char unit[HELP_UNIT_MAX], of[256];
	struct help help;
	struct error why;
	int status;

	snprintf(of, sizeof(of), "map %s, member %s", bpf_map__name(v->map), member);
	if (!text)
		return error_set(v->error, -ENOENT, "%s: there is no UNIT", of);
	if (help_unit(text, unit, &why))
		return error_set(v->error, -EINVAL, "%s: %s", of, why.text);
	status = parse_help(annotation_of_member(v->btf, v->row, column->member, "help:"), of,
			    &help, v->error);
	if (status)
		return status;
	fputs("    {", stdout);
	put_member("name", name);
	printf(", \"growth\": \"%s\", ", growths[column->ds]);
	put_member("member", member);
	fputs(", ", stdout);
	put_member("unit", unit);
	fputs(", ", stdout);
	put_help(&help);
	putchar('}');
	return 0;
}

static int put_file_name(void *to, __attribute__((unused)) unsigned number, const char *name)
{
	bool *first = to;

	fputs(*first ? "" : ", ", stdout);
	*first = false;
	put_string(name);
	return 0;
}

/* Writes the names of what collectd stores for a column, each a file of an RRD tree, with the
 * default percentiles. */
static void put_file_names(const struct column *column)
{
	struct config config;
	bool first = true;

	config_init(&config);
	fputs(", \"files\": [", stdout);
	series_each(column, &config, put_file_name, &first);
	putchar(']');
	config_done(&config);
}

static int describe_metric(const struct table_view *v, const struct metric *metric)
{
	const struct column *first_column = &v->schema->columns[metric->column[0]];
	struct metric_type type;
	bool first = true;
	int status = types_lookup(first_column->tag.type, &type);

	fputs("   {", stdout);
	put_series(&first_column->tag);
	printf(", \"kind\": \"%s\", \"frequency\": %s, \"off\": %s", kinds[first_column->kind],
	       first_column->tag.frequency ? "true" : "false",
	       schema_is_off(v->schema, metric) ? "true" : "false");
	put_file_names(first_column);
	fputs(", \"sources\": [\n", stdout);
	for (size_t i = 0; i < metric->source_count && status == 0; i++) {
		put_comma(&first);
		status = describe_source(v, type.source[i].name,
					 &v->schema->columns[metric->column[i]]);
	}
	fputs("]}", stdout);
	return status;
}

static void put_labels(const struct labels *labels)
{
	printf(", \"in_instance\": %zu, \"labels\": [",
	       labels->count ? labels_in_instance(labels) : 0);
	for (size_t i = 0; i < labels->count; i++) {
		fputs(i ? ", " : "", stdout);
		put_string(labels->label[i].kind->word);
	}
	putchar(']');
}

static int describe_table(const struct object *object, struct bpf_map *map,
			  const struct schema *schema, struct error *error)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	struct table_view v = {
		.btf = btf,
		.map = map,
		.schema = schema,
		.row = (uint32_t)btf__resolve_type(btf, bpf_map__btf_value_type_id(map)),
		.error = error,
	};
	const char *option = annotation_of_map(object->bpf, map, "option:", 0);
	const char *by_cpu = annotation_of_map(object->bpf, map, OBJECT_BY_CPU_TAG, 0);
	bool first = true;
	int status = 0;

	fputs("  {", stdout);
	put_member("map", bpf_map__name(map));
	fputs(", ", stdout);
	put_member("subject", annotation_of_map(object->bpf, map, "subject:", 0));
	fputs(", ", stdout);
	put_member("option", option ?: "");
	fputs(", ", stdout);
	put_member("by_cpu", by_cpu ?: "");
	put_labels(&schema->labels);
	fputs(", \"series\": [\n", stdout);
	for (size_t i = 0; i < schema->metric_count && status == 0; i++) {
		put_comma(&first);
		status = describe_metric(&v, &schema->metrics[i]);
	}
	fputs("]}", stdout);
	return status;
}

static int describe_map(const struct object *object, struct bpf_map *map, bool *first,
			struct error *error)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	const char *name = bpf_map__name(map);
	struct schema schema;
	int status = schema_read(&schema, btf, name, bpf_map__btf_value_type_id(map), types_lookup,
				 error);

	if (status || !schema.column_count)
		return status;
	status = schema_subject(btf, name, &schema.subject, error);
	if (status == 0 && schema.subject.kind == SUBJECT_KEY)
		status = labels_read(&schema.labels, btf, name, bpf_map__btf_key_type_id(map),
				     bpf_map__key_size(map), &schema.subject, error);
	if (status == 0) {
		put_comma(first);
		status = describe_table(object, map, &schema, error);
	}
	schema_done(&schema);
	return status;
}

static int describe_event(const struct object *object, struct bpf_map *map, bool *first,
			  struct error *error)
{
	const char *name = bpf_map__name(map);
	struct event event;
	struct help help;
	char of[256];
	int status = event_read(&event, bpf_object__btf(object->bpf), name,
				bpf_map__btf_value_type_id(map), types_lookup, error);

	if (status <= 0)
		return status;
	snprintf(of, sizeof(of), "map %s", name);
	status = parse_help(annotation_of_map(object->bpf, map, "help:", 0), of, &help, error);
	if (status == 0) {
		put_comma(first);
		fputs("  {", stdout);
		put_member("map", name);
		printf(", \"severity\": \"%s\", ", severities[event.health]);
		put_series(&event.tag);
		fputs(", ", stdout);
		put_help(&help);
		putchar('}');
	}
	event_done(&event);
	return status;
}

/* --- an object --- */

typedef int map_describer(const struct object *object, struct bpf_map *map, bool *first,
			  struct error *error);

static int describe_maps(const struct object *object, const char *what, map_describer *one,
			 struct error *error)
{
	struct bpf_map *map;
	bool first = true;

	printf(",\n \"%s\": [\n", what);
	bpf_object__for_each_map(map, object->bpf)
	{
		int status = 0;

		if (!bpf_map__is_internal(map) && bpf_map__btf_value_type_id(map))
			status = one(object, map, &first, error);
		if (status)
			return status;
	}
	putchar(']');
	return 0;
}

/* Writes the texts of a program's tags. */
static void put_tags(const struct object *object, const struct bpf_program *program,
		     const char *key, const char *tag)
{
	const char *text;
	unsigned n = 0;

	printf(", \"%s\": [", key);
	while ((text = annotation_of_program(object->bpf, program, tag, n++)) != NULL) {
		fputs(n > 1 ? ", " : "", stdout);
		put_string(text);
	}
	putchar(']');
}

static void describe_programs(const struct object *object)
{
	struct bpf_program *program;
	bool first = true;

	fputs(",\n \"programs\": [\n", stdout);
	bpf_object__for_each_program(program, object->bpf)
	{
		put_comma(&first);
		fputs("  {", stdout);
		put_member("section", bpf_program__section_name(program));
		put_tags(object, program, "hook_sets", "hook_set:");
		put_tags(object, program, "options", "option:");
		putchar('}');
	}
	putchar(']');
}

static void put_options(const struct object *object)
{
	const char *option[OBJECT_OPTIONS_MAX];
	size_t count = object_options(object, option);

	fputs(",\n \"options\": [", stdout);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", stdout);
		put_string(option[i]);
	}
	putchar(']');
}

static int describe_object(const struct object *object, struct error *error)
{
	struct help help;
	int status = parse_help(annotation_of_variable(object->bpf, "LICENSE", "help:"),
				"the variable LICENSE", &help, error);

	if (status)
		return status;
	fputs("{", stdout);
	put_member("probe", bpf_object__name(object->bpf));
	printf(", \"off\": %s, ", object_is_off_by_default(object) ? "true" : "false");
	put_help(&help);
	status = describe_maps(object, "tables", describe_map, error);
	status = status ?: describe_maps(object, "events", describe_event, error);
	if (status == 0) {
		describe_programs(object);
		put_options(object);
	}
	fputs("}", stdout);
	return status;
}

static int read_object_file(const char *path, char **ret_bytes, size_t *ret_size,
			    struct error *error)
{
	FILE *file = fopen(path, "re");
	char *bytes;
	int status;

	if (!file)
		return error_set(error, -errno, "cannot open it: %s", strerror(errno));
	bytes = malloc(OBJECT_SIZE_MAX);
	*ret_size = bytes ? fread(bytes, 1, OBJECT_SIZE_MAX, file) : 0;
	status = !bytes ? -ENOMEM : ferror(file) ? -errno : 0;
	fclose(file);
	if (status) {
		free(bytes);
		return error_set(error, status, "cannot read it: %s", strerror(-status));
	}
	*ret_bytes = bytes;
	return 0;
}

static int describe_file(const char *path, struct error *error)
{
	struct object object;
	char *bytes = NULL;
	size_t size = 0;
	int status = read_object_file(path, &bytes, &size, error);

	status = status ?: object_open_memory(&object, bytes, size, path, error);
	free(bytes);
	if (status)
		return status;
	status = describe_object(&object, error);
	object_done(&object);
	return status;
}

int main(int argc, char **argv)
{
	bool first = true;

	if (argc < 3) {
		fprintf(stderr, "Usage: %s TYPES.DB OBJECT...\n", argv[0]);
		return EXIT_FAILURE;
	}
	if (types_open(argv[1])) {
		fprintf(stderr, "%s: cannot read it\n", argv[1]);
		return EXIT_FAILURE;
	}
	puts("[");
	for (int i = 2; i < argc; i++) {
		struct error error = { "" };

		put_comma(&first);
		if (describe_file(argv[i], &error)) {
			fprintf(stderr, "%s: %s\n", argv[i], error.text);
			return EXIT_FAILURE;
		}
	}
	puts("]");
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
