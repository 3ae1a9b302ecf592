/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The name of a cgroup's directory, and what its bytes are like.
 * No branch depends on a single byte, so that the verifier walks each loop once.
 * Included by the BPF side and by the engine.
 */
#ifndef GROUP_NAME_H
#define GROUP_NAME_H

#include <linux/types.h>

#define GROUP_DIRECTORY_MAX 256 /* of a directory's name, with the NUL */
#define GROUP_TEXT_MAX 124      /* of a key's text, with the NUL */
#define GROUP_ID_LENGTH 64      /* hexadecimal digits of a container's id */
#define GROUP_HASH_LENGTH 9     /* '~' and 8 digits: the end of a text that is cut */

/* What processes are told apart by. Units and machines as systemd writes them, with \x2d. */
struct group_key {
	__u32 kind;
	char text[GROUP_TEXT_MAX]; /* the rest is zero; what is too long ends with ~ and a hash */
};

/* The way down one path: zero at first. */
struct group_walk {
	struct group_key key; /* as far as the path is known */
	__u32 parent;
	__u32 begin;                    /* of the text, in the name */
	__u32 length;                   /* of the name, without the NUL */
	char name[GROUP_DIRECTORY_MAX]; /* of the next directory; overwritten */
};

enum group_class {
	GROUP_TEXT = 1, /* not the NUL: the only one that is not in the table */
	GROUP_DIGIT = 2,
	GROUP_HEX = 4,
	GROUP_AT = 8,
	GROUP_DASH = 16,
	GROUP_COLON = 32,
	GROUP_NUMBER = 64, /* digits and what joins them: - and _ */
};

#define GROUP_DECIMAL (GROUP_DIGIT | GROUP_HEX | GROUP_NUMBER)

static const __u8 group_classes[256] = {
	['0'] = GROUP_DECIMAL, ['1'] = GROUP_DECIMAL, ['2'] = GROUP_DECIMAL,
	['3'] = GROUP_DECIMAL, ['4'] = GROUP_DECIMAL, ['5'] = GROUP_DECIMAL,
	['6'] = GROUP_DECIMAL, ['7'] = GROUP_DECIMAL, ['8'] = GROUP_DECIMAL,
	['9'] = GROUP_DECIMAL, ['a'] = GROUP_HEX,     ['b'] = GROUP_HEX,
	['c'] = GROUP_HEX,     ['d'] = GROUP_HEX,     ['e'] = GROUP_HEX,
	['f'] = GROUP_HEX,     ['@'] = GROUP_AT,      ['-'] = GROUP_DASH | GROUP_NUMBER,
	['_'] = GROUP_NUMBER,  [':'] = GROUP_COLON,
};

#define GROUP_INLINE static inline __attribute__((always_inline))
/* Of what has loops. In the object that looks at names these functions are global, so that the verifier follows
 * each once, and not on each way that leads there; it wants them to be safe with NULL. */
#ifndef GROUP_LOOP
#define GROUP_LOOP static inline
#endif

GROUP_INLINE __u8 group_byte(const struct group_walk *walk, __u32 at)
{
	return (__u8)walk->name[at & (GROUP_DIRECTORY_MAX - 1)];
}

GROUP_INLINE __u32 group_class(const struct group_walk *walk, __u32 at)
{
	__u32 c = group_byte(walk, at);

	return group_classes[c] | (c + 255) >> 8;
}

/* Is this a text, of so many bytes, at that place of the name? */
GROUP_INLINE int group_same(const struct group_walk *walk, __u32 at, const char *text, __u32 length)
{
	__u8 other = 0;

	for (__u32 i = 0; i < length; i++)
		other |= group_byte(walk, at + i) ^ (__u8)text[i];
	return other == 0;
}

#define GROUP_SAME(walk, at, text) group_same(walk, at, text, sizeof(text) - 1)
#define GROUP_BEGINS(walk, text) GROUP_SAME(walk, 0, text)
/* Does what is before that place end with it? */
#define GROUP_ENDS(walk, end, text) \
	((end) >= sizeof(text) - 1 && GROUP_SAME(walk, (end) - (sizeof(text) - 1), text))
#define GROUP_IS(walk, text) ((walk)->length == sizeof(text) - 1 && GROUP_BEGINS(walk, text))

/* The name ends here. */
GROUP_INLINE __u32 group_cut(struct group_walk *walk, __u32 end)
{
	walk->name[end & (GROUP_DIRECTORY_MAX - 1)] = '\0';
	walk->length = end;
	return end;
}

/* How many digits there are from here on, at most 11: more than a number of 32 bits has. */
GROUP_INLINE __u32 group_digits(const struct group_walk *walk, __u32 at)
{
	__u32 count = 0, digit = GROUP_DIGIT;

	for (__u32 i = 0; i < 11; i++) {
		digit &= group_class(walk, at + i);
		count += digit / GROUP_DIGIT;
	}
	return count;
}

/* Likewise, before the end. */
GROUP_INLINE __u32 group_digits_before(const struct group_walk *walk, __u32 end)
{
	__u32 count = 0, digit = GROUP_DIGIT;

	for (__u32 i = 1; i <= 11; i++) {
		digit &= group_class(walk, end - i);
		count += digit / GROUP_DIGIT;
	}
	return count;
}

/* Is a container's id here? */
GROUP_INLINE int group_is_id(const struct group_walk *walk, __u32 at)
{
	__u32 all = GROUP_HEX;

	for (__u32 i = 0; i < GROUP_ID_LENGTH; i++)
		all &= group_class(walk, at + i);
	return all != 0;
}

/* Does the name end with an id, alone or after a separator? */
GROUP_INLINE int group_ends_with_id(const struct group_walk *walk)
{
	__u32 begin = walk->length - GROUP_ID_LENGTH;

	return walk->length >= GROUP_ID_LENGTH && group_is_id(walk, begin) &&
	       (begin == 0 || group_class(walk, begin - 1) & (GROUP_DASH | GROUP_COLON));
}

/* Are these 36 bytes a UUID? */
GROUP_LOOP int group_is_uuid(const struct group_walk *walk, __u32 at)
{
	__u32 all = GROUP_HEX, dashes = GROUP_DASH;

	if (!walk)
		return 0;
	for (__u32 i = 0; i < 36; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23)
			dashes &= group_class(walk, at + i);
		else
			all &= group_class(walk, at + i);
	return all && dashes;
}

/* The name, from the begin of the text on, becomes the key's text. What is hashed of it is
 * followed by zeros. */
GROUP_LOOP int group_set_text(struct group_walk *walk)
{
	__u32 hash = 0x811c9dc5, text = GROUP_TEXT; /* FNV-1a */
	struct group_key *key;

	if (!walk)
		return 0;
	key = &walk->key;
	for (__u32 i = 0; i < GROUP_DIRECTORY_MAX; i++) {
		__u32 c;

		text &= group_class(walk, walk->begin + i);
		c = text * group_byte(walk, walk->begin + i);
		hash = (hash ^ c) * 0x01000193;
		if (i < GROUP_TEXT_MAX - 1)
			key->text[i] = (char)c;
	}
	if (walk->length - walk->begin < GROUP_TEXT_MAX)
		return 0;
	key->text[GROUP_TEXT_MAX - 1 - GROUP_HASH_LENGTH] = '~';
	for (__u32 i = 0; i < GROUP_HASH_LENGTH - 1; i++) {
		__u32 digit = hash >> (28 - 4 * i) & 15;

		/* 6 more from 10 on. */
		key->text[GROUP_TEXT_MAX - GROUP_HASH_LENGTH + i] =
			(char)('0' + digit + ((digit + 6) >> 4) * ('a' - '0' - 10));
	}
	return 0;
}

#endif
