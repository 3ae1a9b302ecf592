/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Character classes of a cgroup directory's name, and how it is searched. No branch depends on a
 * single byte, so that the verifier walks each loop once. Included by the BPF side and by the
 * engine.
 */
#ifndef GROUP_NAME_H
#define GROUP_NAME_H

#include <linux/types.h>

#define GROUP_DIRECTORY_MAX 256 /* bytes of a directory's name, with the NUL */
#define GROUP_TEXT_MAX 124      /* bytes of a key's text, with the NUL */
#define GROUP_ID_LENGTH 64      /* hexadecimal digits of a container's id */
#define GROUP_HASH_LENGTH 9     /* '+' and 8 digits: suffix of a shortened text */
#define GROUP_USER_SIZE 20      /* user-UID, zero-padded; the id of a user's container follows */

/* The identity of a unit, user, container or command. Units and machines are spelt as systemd does,
 * with \x2d. */
struct group_key {
	__u32 kind;
	char text[GROUP_TEXT_MAX]; /* zero-padded; a text that is too long ends with + and a hash */
};

/* State of the way down one path, zero at first. */
struct group_walk {
	struct group_key key; /* according to the directories so far */
	__u32 parent;
	__u32 begin;                    /* offset of the text in the name */
	__u32 length;                   /* of the name, without the NUL */
	char name[GROUP_DIRECTORY_MAX]; /* of the next directory; overwritten */
};

enum group_class {
	GROUP_TEXT = 1, /* every byte but the NUL, which is in no class */
	GROUP_DIGIT = 2,
	GROUP_HEX = 4,
	GROUP_AT = 8,
	GROUP_DASH = 16,
	GROUP_COLON = 32,
};

#define GROUP_DECIMAL (GROUP_DIGIT | GROUP_HEX)

static const __u8 group_classes[256] = {
	['0'] = GROUP_DECIMAL, ['1'] = GROUP_DECIMAL, ['2'] = GROUP_DECIMAL, ['3'] = GROUP_DECIMAL,
	['4'] = GROUP_DECIMAL, ['5'] = GROUP_DECIMAL, ['6'] = GROUP_DECIMAL, ['7'] = GROUP_DECIMAL,
	['8'] = GROUP_DECIMAL, ['9'] = GROUP_DECIMAL, ['a'] = GROUP_HEX,     ['b'] = GROUP_HEX,
	['c'] = GROUP_HEX,     ['d'] = GROUP_HEX,     ['e'] = GROUP_HEX,     ['f'] = GROUP_HEX,
	['@'] = GROUP_AT,      ['-'] = GROUP_DASH,    [':'] = GROUP_COLON,
};

#define GROUP_INLINE static inline __attribute__((always_inline))
/* For functions with loops. The object that parses names makes them global, so that the verifier
 * checks each once and not on each path to it; global functions have to accept NULL. */
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

/* Are these `length` bytes at that offset of the name? */
GROUP_INLINE int group_same(const struct group_walk *walk, __u32 at, const char *text, __u32 length)
{
	__u8 other = 0;

	for (__u32 i = 0; i < length; i++)
		other |= group_byte(walk, at + i) ^ (__u8)text[i];
	return other == 0;
}

#define GROUP_SAME(walk, at, text) group_same(walk, at, text, sizeof(text) - 1)
#define GROUP_BEGINS(walk, text) GROUP_SAME(walk, 0, text)
/* Does the part of the name before `end` end with the text? */
#define GROUP_ENDS(walk, end, text) \
	((end) >= sizeof(text) - 1 && GROUP_SAME(walk, (end) - (sizeof(text) - 1), text))
#define GROUP_IS(walk, text) ((walk)->length == sizeof(text) - 1 && GROUP_BEGINS(walk, text))

/* Makes the name end here. */
GROUP_INLINE __u32 group_cut(struct group_walk *walk, __u32 end)
{
	walk->name[end & (GROUP_DIRECTORY_MAX - 1)] = '\0';
	walk->length = end;
	return end;
}

/* The number of digits at this offset, at most 11: more than a 32-bit number has. */
GROUP_INLINE __u32 group_digits(const struct group_walk *walk, __u32 at)
{
	__u32 count = 0, digit = GROUP_DIGIT;

	for (__u32 i = 0; i < 11; i++) {
		digit &= group_class(walk, at + i);
		count += digit / GROUP_DIGIT;
	}
	return count;
}

/* The number of digits before `end`, at most 20: as many as a 64-bit number has. */
GROUP_INLINE __u32 group_digits_before(const struct group_walk *walk, __u32 end)
{
	__u32 count = 0, digit = GROUP_DIGIT;

	for (__u32 i = 1; i <= 20; i++) {
		digit &= group_class(walk, end - i);
		count += digit / GROUP_DIGIT;
	}
	return count;
}

/* Are these `count` bytes hexadecimal digits? */
GROUP_INLINE int group_is_hex(const struct group_walk *walk, __u32 at, __u32 count)
{
	__u32 all = GROUP_HEX;

	for (__u32 i = 0; i < count; i++)
		all &= group_class(walk, at + i);
	return all != 0;
}

/* Is the name an id, or does it end with a separator and an id? */
GROUP_INLINE int group_ends_with_id(const struct group_walk *walk)
{
	__u32 begin = walk->length - GROUP_ID_LENGTH;

	return walk->length >= GROUP_ID_LENGTH && group_is_hex(walk, begin, GROUP_ID_LENGTH) &&
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

/* Copies the name from `begin` on to the key's text, shortened with a hash if it is too long. Zeros
 * after the name are hashed, too. */
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
	key->text[GROUP_TEXT_MAX - 1 - GROUP_HASH_LENGTH] = '+';
	for (__u32 i = 0; i < GROUP_HASH_LENGTH - 1; i++) {
		__u32 digit = hash >> (28 - 4 * i) & 15;

		/* 6 + digit carries into bit 4 from 10 on: a letter. */
		key->text[GROUP_TEXT_MAX - GROUP_HASH_LENGTH + i] =
			(char)('0' + digit + ((digit + 6) >> 4) * ('a' - '0' - 10));
	}
	return 0;
}

/* Adds the id at `begin` to the key of a user, which becomes that of the user's container. */
GROUP_LOOP int group_add_id(struct group_walk *walk)
{
	if (!walk)
		return 0;
	for (__u32 i = 0; i < GROUP_ID_LENGTH; i++)
		walk->key.text[GROUP_USER_SIZE + i] = (char)group_byte(walk, walk->begin + i);
	return 0;
}

#endif
