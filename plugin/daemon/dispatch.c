/* SPDX-License-Identifier: MIT */
/*
 * Values and notifications on their way to collectd. No other file fills a value_list_t or a
 * notification_t, or asks collectd for types.
 */
#include "dispatch.h"

#include "lacking.h"
#include "recorder.h"
#include "schema/stock_type.h"

#include <collectd.h>

#include <globals.h>
#include <plugin.h>

#include <errno.h>
#include <string.h>

#define PLUGIN_NAME "ebpf"

/* After a reading that is late by an interval or more, collectd calls the next one at once.
 * Receivers accept one value of a series at a time, and a rate over no time says nothing. Such a
 * reading is skipped; the next one has its growth.
 *
 * RRD files and Graphite store whole seconds, to which collectd rounds: a new second starts at
 * .5 of the clock. With an interval of a second, one reading may come just after that and the
 * next one just before the following, both in one second. The later one gets the time at which
 * the next second starts, where that is less than an eighth of the interval away; otherwise it
 * is skipped. */
bool dispatch_begin(struct dispatch *dispatch, double interval_s)
{
	cdtime_t interval = DOUBLE_TO_CDTIME_T(interval_s), near = interval / 8;
	cdtime_t now = cdtime(), time = now;
	time_t second = CDTIME_T_TO_TIME_T(now);

	if (now + near - dispatch->time < 2 * near)
		return false;
	if (interval_s >= 1 && second == CDTIME_T_TO_TIME_T(dispatch->time)) {
		time = TIME_T_TO_CDTIME_T(second) + MS_TO_CDTIME_T(500);
		if (time - now >= near)
			return false;
	}
	*dispatch =
		(struct dispatch){ .time = time, .interval = interval, .previous = dispatch->time };
	return true;
}

/* Do receivers take this time for a later one than that of the previous reading? */
static bool is_later_reading(const struct dispatch *dispatch, cdtime_t time)
{
	return time > dispatch->previous &&
	       (dispatch->interval < TIME_T_TO_CDTIME_T(1) ||
		CDTIME_T_TO_TIME_T(time) != CDTIME_T_TO_TIME_T(dispatch->previous));
}

void dispatch_set_age(struct dispatch *dispatch, uint64_t ago_ns)
{
	cdtime_t time = cdtime() - NS_TO_CDTIME_T(ago_ns);

	if (time > dispatch->time || is_later_reading(dispatch, time))
		dispatch->time = time;
}

static value_t to_collectd(const struct value *value)
{
	switch (value->kind) {
	case SOURCE_GAUGE:
		return (value_t){ .gauge = value->gauge };
	case SOURCE_DERIVE:
		return (value_t){ .derive = value->derive };
	case SOURCE_ABSOLUTE:
		return (value_t){ .absolute = value->counter };
	default:
		return (value_t){ .counter = value->counter };
	}
}

static void submit_item(void *to, const struct batch_item *item)
{
	const struct dispatch *dispatch = to;
	value_list_t vl = VALUE_LIST_INIT;
	value_t list[SCHEMA_SOURCES_MAX];

	for (size_t i = 0; i < item->count; i++)
		list[i] = to_collectd(&item->values[i]);
	vl.values = list;
	vl.values_len = item->count;
	vl.time = item->previous ? dispatch->previous : dispatch->time;
	vl.interval = dispatch->interval;
	snprintf(vl.plugin, sizeof(vl.plugin), "%s", PLUGIN_NAME);
	snprintf(vl.plugin_instance, sizeof(vl.plugin_instance), "%s", item->subject);
	snprintf(vl.type, sizeof(vl.type), "%s", item->type);
	snprintf(vl.type_instance, sizeof(vl.type_instance), "%s", item->instance);
	plugin_dispatch_values(&vl);
}

static void hand_on_item(const struct dispatch *dispatch, const struct batch_item *item)
{
	if (lacking_has(item->type))
		return;
	if (dispatch->batch)
		batch_add(dispatch->batch, item);
	else
		submit_item((void *)dispatch, item);
}

void dispatch_values(const struct dispatch *dispatch, const char *subject, const char *type,
		     const char *instance, const struct value *values, size_t count)
{
	struct batch_item item = { subject, type, instance, values, count, false };

	hand_on_item(dispatch, &item);
}

void dispatch_previous(const struct dispatch *dispatch, const char *subject, const char *type,
		       const char *instance, const struct value *values, size_t count)
{
	struct batch_item item = { subject, type, instance, values, count, true };

	if (dispatch->previous && dispatch->previous < dispatch->time)
		hand_on_item(dispatch, &item);
}

static void submit_previous(void *to, const struct batch_item *item)
{
	if (item->previous)
		submit_item(to, item);
}

static void submit_present(void *to, const struct batch_item *item)
{
	if (!item->previous)
		submit_item(to, item);
}

int dispatch_batch(struct dispatch *dispatch)
{
	struct batch *batch = dispatch->batch;
	int status = batch->failed ? -ENOMEM : 0;

	dispatch->batch = NULL;
	/* collectd's threads may overtake each other: of two values of one series that are
	 * dispatched in a row, the second one may be written first. */
	if (status == 0) {
		batch_each(batch, submit_previous, dispatch);
		batch_each(batch, submit_present, dispatch);
	}
	batch_done(batch);
	return status;
}

void dispatch_gauge(const struct dispatch *dispatch, const char *subject, const char *type,
		    const char *instance, double gauge)
{
	struct value value = { .kind = SOURCE_GAUGE, .gauge = gauge };

	dispatch_values(dispatch, subject, type, instance, &value, 1);
}

static enum health health_of(int severity)
{
	return severity == NOTIF_OKAY      ? HEALTH_OKAY
	       : severity == NOTIF_WARNING ? HEALTH_WARNING
					   : HEALTH_FAILURE;
}

void dispatch_event(const char *kind, enum health health, const char *subject, const char *text,
		    uint64_t ago_ns)
{
	struct event_line line = {
		.time_ms = CDTIME_T_TO_MS(cdtime() - NS_TO_CDTIME_T(ago_ns)),
		.health = health,
	};

	snprintf(line.host, sizeof(line.host), "%s", hostname_g);
	snprintf(line.service, sizeof(line.service), "%s", subject);
	snprintf(line.kind, sizeof(line.kind), "%s", kind);
	snprintf(line.text, sizeof(line.text), "%s", text);
	recorder_add(&line);
}

void dispatch_record(const char *kind, const notification_t *n)
{
	struct event_line line = {
		.time_ms = CDTIME_T_TO_MS(n->time),
		.health = health_of(n->severity),
	};

	snprintf(line.host, sizeof(line.host), "%s", n->host);
	snprintf(line.service, sizeof(line.service), "%s", n->plugin_instance);
	snprintf(line.kind, sizeof(line.kind), "%s", kind);
	snprintf(line.series, sizeof(line.series), "%s%s%s", n->type,
		 n->type_instance[0] ? "-" : "", n->type_instance);
	snprintf(line.text, sizeof(line.text), "%s", n->message);
	recorder_add(&line);
}

void dispatch_notification(const char *kind, enum health health, const char *subject,
			   const char *type, const char *instance, const char *text)
{
	static const int severities[] = {
		[HEALTH_OKAY] = NOTIF_OKAY,
		[HEALTH_WARNING] = NOTIF_WARNING,
		[HEALTH_FAILURE] = NOTIF_FAILURE,
	};
	notification_t n = { .severity = severities[health], .time = cdtime() };

	snprintf(n.message, sizeof(n.message), "%s", text);
	snprintf(n.host, sizeof(n.host), "%s", hostname_g);
	snprintf(n.plugin, sizeof(n.plugin), "%s", PLUGIN_NAME);
	snprintf(n.plugin_instance, sizeof(n.plugin_instance), "%s", subject);
	snprintf(n.type, sizeof(n.type), "%s", type);
	snprintf(n.type_instance, sizeof(n.type_instance), "%s", instance);
	dispatch_record(kind, &n);
	plugin_dispatch_notification(&n);
}

static enum source_kind source_kind_of(int ds_type)
{
	switch (ds_type) {
	case DS_TYPE_GAUGE:
		return SOURCE_GAUGE;
	case DS_TYPE_DERIVE:
		return SOURCE_DERIVE;
	case DS_TYPE_ABSOLUTE:
		return SOURCE_ABSOLUTE;
	default:
		return SOURCE_COUNTER;
	}
}

int dispatch_type(const char *type, struct metric_type *ret_type)
{
	const data_set_t *ds = plugin_get_ds(type);

	if (!ds)
		return -ENOENT;
	if (ds->ds_num > SCHEMA_SOURCES_MAX)
		return -E2BIG;
	ret_type->source_count = ds->ds_num;
	for (size_t i = 0; i < ds->ds_num; i++) {
		snprintf(ret_type->source[i].name, sizeof(ret_type->source[i].name), "%s",
			 ds->ds[i].name);
		ret_type->source[i].kind = source_kind_of(ds->ds[i].type);
	}
	return 0;
}

int dispatch_type_or_stock(const char *type, struct metric_type *ret_type)
{
	struct metric_type stock = { 0 }, own = { 0 };
	bool is_stock = stock_type_lookup(type, &stock) == 0;
	int status = lacking_has(type) ? -ENOENT : dispatch_type(type, &own);

	if (status == 0 && (!is_stock || stock_type_fits(&stock, &own))) {
		*ret_type = own;
		return 0;
	}
	if (status == -E2BIG && !is_stock)
		return status;
	status = lacking_add(type);
	if (status == 0)
		*ret_type = stock;
	return status;
}
