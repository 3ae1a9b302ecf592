/* SPDX-License-Identifier: MIT */
/*
 * Between readings and collectd: a reading adds its tables while the probe is locked; its values
 * are dispatched after that.
 */
#include "publication.h"

#include "publish.h"

static struct publication *publication_of(struct reading_output *output)
{
	return (struct publication *)output; /* the first member */
}

static bool start_publication(struct reading_output *output, double interval_s)
{
	struct publication *p = publication_of(output);

	if (!dispatch_begin(&p->dispatch, interval_s))
		return false;
	p->dispatch.batch = &p->batch;
	return true;
}

static void set_publication_age(struct reading_output *output, uint64_t ago_ns)
{
	dispatch_set_age(&publication_of(output)->dispatch, ago_ns);
}

static void add_table_values(struct reading_output *output, const struct table *table,
			     const struct snapshot *snapshot, const char *probe,
			     const struct config *config)
{
	publish_table(table, snapshot, probe, config, &publication_of(output)->dispatch);
}

static int finish_publication(struct reading_output *output, size_t *ret_series)
{
	struct publication *p = publication_of(output);

	*ret_series = p->batch.series;
	return dispatch_batch(&p->dispatch);
}

static void reset_publication(struct reading_output *output)
{
	publication_of(output)->dispatch = (struct dispatch){ 0 };
}

void publication_init(struct publication *publication)
{
	*publication = (struct publication){
		.output = {
			.start = start_publication,
			.set_age = set_publication_age,
			.add_table = add_table_values,
			.finish = finish_publication,
			.reset = reset_publication,
		},
	};
}
