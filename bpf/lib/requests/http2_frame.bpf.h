/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Frames of HTTP/2 (RFC 9113, section 4): nine bytes give the length of one, its type, and its
 * stream. Payloads are not inspected.
 */
#ifndef HTTP2_FRAME_BPF_H
#define HTTP2_FRAME_BPF_H

#include "buffer.bpf.h"

#define FRAME_HEADER_SIZE 9
#define FRAMES_MAX 8192        /* inspected in one call */
#define FRAME_LENGTH_MAX 16384 /* unless the peers have agreed on more, which is rare */

#define FRAME_END_STREAM 1 /* of DATA and HEADERS */
#define FRAME_PADDED 8     /* of the same: one more byte comes first */
#define FRAME_PRIORITIZED 0x20
#define FRAME_PRIORITIZED_SIZE 5 /* bytes that come next */

enum frame_type {
	FRAME_DATA,
	FRAME_HEADERS,
	FRAME_PRIORITY,
	FRAME_RST_STREAM,
	FRAME_SETTINGS,
	FRAME_PUSH_PROMISE,
	FRAME_PING,
	FRAME_GOAWAY,
	FRAME_WINDOW_UPDATE,
	FRAME_CONTINUATION,
	FRAME_TYPES
};

/* Room for any index of 4 bits. */
struct frame_header {
	u8 bytes[16];
};

/* Its header may be read to where it will be: Linux 6.1 has 512 bytes for a chain of calls. */
struct frame {
	union {
		struct frame_header header;
		struct {
			u32 length;
			u32 type;
			u32 flags;
			u32 stream;
		};
	};
};

static __always_inline void frame_parse(const struct frame_header *header, struct frame *ret_frame)
{
	const u8 *b = header->bytes;
	u32 length = b[0] << 16 | b[1] << 8 | b[2], type = b[3], flags = b[4];

	ret_frame->stream = (u32)b[5] << 24 | b[6] << 16 | b[7] << 8 | b[8];
	ret_frame->length = length;
	ret_frame->type = type;
	ret_frame->flags = flags;
}

static const u8 frame_flags[FRAME_TYPES] = {
	[FRAME_DATA] = 0x09,         [FRAME_HEADERS] = 0x2d, [FRAME_SETTINGS] = 0x01,
	[FRAME_PUSH_PROMISE] = 0x0c, [FRAME_PING] = 0x01,    [FRAME_CONTINUATION] = 0x04,
};

static __always_inline bool frame_has_its_length(const struct frame *f)
{
	switch (f->type) {
	case FRAME_PRIORITY:
		return f->length == 5;
	case FRAME_RST_STREAM:
	case FRAME_WINDOW_UPDATE:
		return f->length == 4;
	case FRAME_SETTINGS:
		return f->length % 6 == 0;
	case FRAME_PING:
		return f->length == 8;
	case FRAME_GOAWAY:
		return f->length >= 8;
	default:
		return true;
	}
}

static __always_inline bool frame_has_its_stream(const struct frame *f)
{
	switch (f->type) {
	case FRAME_SETTINGS:
	case FRAME_PING:
	case FRAME_GOAWAY:
		return f->stream == 0;
	case FRAME_WINDOW_UPDATE:
		return f->stream == 0 || f->stream & 1;
	default:
		return f->stream & 1;
	}
}

/* Bytes that are no frame rarely pass. The highest bit of a stream is reserved. */
static __always_inline bool frame_is_plausible(const struct frame *f)
{
	return f->type < FRAME_TYPES && !(f->flags & ~frame_flags[f->type]) && !(f->stream >> 31) &&
	       frame_has_its_length(f) && frame_has_its_stream(f);
}

/* Skips the frame at m->begin, possibly to behind the end of this call. false: it is no frame, or
 * its header lies in two pieces. */
__noinline int frame_pass(struct moved *m)
{
	struct frame frame = {};

	if (!m || m->begin + FRAME_HEADER_SIZE > m->end ||
	    !buffer_read_here(&m->buffer, m->begin, frame.header.bytes, FRAME_HEADER_SIZE))
		return false;
	frame_parse(&frame.header, &frame);
	if (!frame_is_plausible(&frame) || frame.length > FRAME_LENGTH_MAX)
		return false;
	m->begin += FRAME_HEADER_SIZE + frame.length;
	return true;
}

static long frames_pass(u32 i, void *moved)
{
	struct moved *m = *(struct moved **)moved;

	return ends_loop(m->begin >= m->end || !frame_pass(m));
}

/* Does all from m->begin on consist of frames? Returns how many bytes of the last one have not come
 * yet; negative: no. */
static s64 frames_pass_all(struct moved *m)
{
	s64 beyond;

	if (!kernel_has_loop())
		return -1;
	bpf_loop(FRAMES_MAX, frames_pass, &m, 0);
	beyond = m->begin - m->end;
	m->begin = 0;
	return beyond;
}

#endif
