/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Classifies responses by their first bytes, read from the memory of the thread that sends them.
 * Only responses of services whose block has Response are read, at the first send.
 */
#ifndef RESPONSE_BPF_H
#define RESPONSE_BPF_H

#include "buffer.bpf.h"
#include "metric.bpf.h"
#include "refused.bpf.h"
#include "services/service_response.bpf.h"

/* Other values: a rule of the service, counted from 1. */
enum response_class {
	CLASS_NONE, /* no rule matches, or the service has none */
	CLASS_UNKNOWN = RESPONSE_RULES_MAX + 1,
	CLASS_INTERIM, /* no response yet */
	CLASS_BITS = 4 /* bits of a class */
};

struct response_key {
	u32 service LABEL("service");
	char class_name[RESPONSE_CLASS_SIZE] LABEL("class");
};

struct response_row {
	u64 requests METRIC("total_requests") UNIT("requests")
		HELP("Requests by class: by the class of the response, from Response lines");
	struct hist service METRIC("latency-service scale=1/1000000000") UNIT("seconds")
		HELP("Service time by class: from the first receive to the last send");
	/* As of the last reading. */
	u64 counted METRIC("percent-response per=all scale=100/1") UNIT("percent")
		HELP("Share of a class: in all requests of the service");
	u64 all;
};

/* Of the services that have Response. Rows are large; there are as many as classes have
 * occurred. */
SPARSE_HASH(responses, struct response_key, struct response_row, 1024) SUBJECT("key");

static const struct response_row no_responses;

/* The first bytes of a response. */
struct response_text {
	u64 bytes[RESPONSE_WORDS];
	u32 length;
};

static __always_inline u64 text_word(const char bytes[sizeof(u64)])
{
	u64 word;

	__builtin_memcpy(&word, bytes, sizeof(word));
	return word;
}

/* Reads what the current call has sent. false: it is in several pieces, or cannot be read. The kernel
 * checks where the bytes go, which takes least on the stack of the thread: a frame of 64 bytes would
 * be elsewhere. */
static __noinline bool response_read(u64 sk, struct response_text *text)
{
	u64 length = text->length, words[RESPONSE_WORDS] = {};
	struct buffer b = {};

	if (!buffer_of_call((const struct sock *)sk, &b) || (b.vectors && !buffer_next(&b)))
		return false;
	asm volatile("" : "+r"(length));
	if (length > b.end || length > RESPONSE_BYTES_MAX ||
	    !buffer_read_user(words, length, b.address))
		return false;
	__builtin_memcpy(text->bytes, words, sizeof(words));
	return true;
}

/* Reads the same from several pieces. false: it cannot be read. Global: verified once. */
__noinline int response_read_pieces(u64 sk, struct response_text *text)
{
	struct buffer b = {};

	if (!text || !buffer_of_call((const struct sock *)sk, &b))
		return false;
	for (u32 i = 0; i < RESPONSE_BYTES_MAX; i++) {
		int byte = i < text->length ? buffer_byte(&b, i) : 0;

		if (byte < 0)
			return false;
		((u8 *)text->bytes)[i] = byte;
	}
	return true;
}

/* HTTP/1: after an interim response another one follows, except after 101, which is followed by
 * another protocol. */
static __always_inline bool response_is_interim(const struct response_text *text)
{
	const u64 first = text_word("\xff\xff\xff\xff\xff\xff\xff"), *bytes = text->bytes;
	const u64 status = bytes[1] & text_word("\xff\xff\xff\xff\0\0\0");

	return text->length >= sizeof("HTTP/1.1 100") - 1 &&
	       (bytes[0] & first) == text_word("HTTP/1.") &&
	       (status & text_word("\xff\xff\0\0\0\0\0")) == text_word(" 1\0\0\0\0\0") &&
	       status != text_word(" 101\0\0\0");
}

static __always_inline bool response_fits(const struct response_rule *rule,
					  const struct response_text *text)
{
	return text->length >= rule->length &&
	       !((text->bytes[0] ^ rule->bytes[0]) & rule->mask[0]) &&
	       !((text->bytes[1] ^ rule->bytes[1]) & rule->mask[1]);
}

/* Class that a service has for it. */
static __always_inline u32 response_class(u32 service, const struct response_text *text)
{
	const struct response_rules *rules = service_responses_of(service);

	if (!rules)
		return CLASS_NONE;
	for (u32 i = 0; i < RESPONSE_RULES_MAX && i < rules->count; i++)
		if (response_fits(&rules->rule[i], text))
			return i + 1;
	return CLASS_NONE;
}

/* Class of the response that starts with the current call. Global, as the functions below: verified
 * once. */
__noinline u32 response_classify(u32 service, u64 sk, u64 sent, bool is_stream)
{
	struct response_text text = {
		.length = sent < RESPONSE_BYTES_MAX ? sent : RESPONSE_BYTES_MAX,
	};

	if (!response_read(sk, &text) && !response_read_pieces(sk, &text))
		return CLASS_UNKNOWN;
	if (is_stream && response_is_interim(&text))
		return CLASS_INTERIM;
	return response_class(service, &text);
}

static struct response_row *response_row(u32 service, u32 class)
{
	const struct response_rules *rules = service_responses_of(service);
	struct response_key key = { .service = service, .class_name = RESPONSE_UNKNOWN };
	struct response_row *row;

	if (!rules)
		return NULL;
	if (class != CLASS_UNKNOWN)
		__builtin_memcpy(key.class_name,
				 rules->rule[(class - 1) % RESPONSE_RULES_MAX].class_name,
				 sizeof(key.class_name));
	row = bpf_map_lookup_elem(&responses, &key);
	if (row)
		return row;
	bpf_map_update_elem(&responses, &key, &no_responses, BPF_NOEXIST);
	return or_refused(bpf_map_lookup_elem(&responses, &key));
}

/* Counts a response. bucket: of its duration; HIST_BUCKETS: unknown. */
__noinline int response_count(u32 service, u32 class, u32 bucket)
{
	struct response_row *row = response_row(service, class);

	if (!row)
		return 0;
	add(&row->requests, 1);
	hist_count(&row->service, bucket, 1);
	return 0;
}

/* The response goes on: moves its sample. to HIST_BUCKETS: removes it. */
__noinline int response_move(u32 service, u32 class, u32 from, u32 to)
{
	struct response_row *row = response_row(service, class);

	if (!row)
		return 0;
	hist_count(&row->service, from, -1);
	hist_count(&row->service, to, 1);
	return 0;
}

/* At a reading. requests: all of the service so far. A class for which the service has a rule has a
 * row even without responses. */
__noinline int responses_publish(u32 service, u64 requests)
{
	const struct response_rules *rules = service_responses_of(service);
	u32 count = rules ? rules->count : 0;

	for (u32 i = 0; i <= RESPONSE_RULES_MAX; i++) {
		struct response_row *row;

		if (!count || !requests || (i >= count && i < RESPONSE_RULES_MAX))
			continue;
		row = response_row(service, i + 1);
		if (!row)
			continue;
		row->counted = row->requests;
		row->all = requests;
	}
	return 0;
}

#endif
