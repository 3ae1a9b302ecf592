/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Instances of units that systemd starts for single connections:
 *
 *     NUMBER-ADDRESS:PORT-ADDRESS:PORT
 *     NUMBER-PID-UID
 *     NUMBER-unknown
 *
 * Since systemd 257 the socket's cookie follows the number, as NUMBER-COOKIE, and the pidfd's id the
 * PID, as PID_ID. The other instances are an operator's: dates, versions, ranges, addresses. A PID
 * is therefore one of at least 100, and without an id after a cookie at least 300: more than the
 * parts of dates and of addresses. Such low PIDs are those of the kernel and of the boot.
 * Included by the BPF side and by the engine.
 */
#ifndef GROUP_CONNECTION_H
#define GROUP_CONNECTION_H

#include "group_name.h"

/* Where the number that ends at `end` begins; `end`: there is none. It has no leading zeros. */
GROUP_INLINE __u32 group_number_before(const struct group_walk *walk, __u32 end)
{
	__u32 begin = end - group_digits_before(walk, end);

	return end - begin > 1 && GROUP_SAME(walk, begin, "0") ? end : begin;
}

/* 1: these bytes are NUMBER. 2: NUMBER-COOKIE. 0: neither. */
GROUP_INLINE int group_count_numbers(const struct group_walk *walk, __u32 begin, __u32 end)
{
	__u32 last = group_number_before(walk, end), first;

	if (last == end || last == begin)
		return last != end;
	first = group_number_before(walk, last - 1);
	return first == begin && first != last - 1 && group_class(walk, last - 1) & GROUP_DASH ? 2
											       : 0;
}

/* By a socket file: the text from `begin` on ends with PID-UID or PID_ID-UID. */
GROUP_LOOP int group_is_local_connection(const struct group_walk *walk, __u32 begin)
{
	__u32 uid, end, pid, has_id;
	int numbers;

	if (!walk)
		return 0;
	uid = group_number_before(walk, walk->length);
	if (uid == walk->length || !(group_class(walk, uid - 1) & GROUP_DASH))
		return 0;
	end = uid - 1;
	pid = group_number_before(walk, end);
	has_id = pid != end && GROUP_SAME(walk, pid - 1, "_");
	if (has_id) {
		end = pid - 1;
		pid = group_number_before(walk, end);
	}
	if (end - pid < 3 || !(group_class(walk, pid - 1) & GROUP_DASH))
		return 0;
	numbers = group_count_numbers(walk, begin, pid - 1);
	return numbers == 1 ||
	       (numbers == 2 && (has_id || end - pid > 3 || group_byte(walk, pid) >= '3'));
}

/* Has the text from `at` on two ports, with a dash after the first and nothing after the last? */
GROUP_LOOP int group_has_ports(const struct group_walk *walk, __u32 at)
{
	__u32 text = GROUP_TEXT, in_port = 0, first = 0, last;

	if (!walk)
		return 0;
	for (__u32 i = 0; i < GROUP_DIRECTORY_MAX; i++) {
		__u32 class = group_class(walk, at + i);

		text &= class;
		class *= text;
		first |= in_port & class / GROUP_DASH;
		in_port = (class / GROUP_COLON | (in_port & class / GROUP_DIGIT)) & 1;
	}
	last = group_number_before(walk, walk->length);
	return first && last < walk->length && group_class(walk, last - 1) & GROUP_COLON;
}

/* Is the instance that begins there that of one connection? */
GROUP_INLINE int group_is_connection(const struct group_walk *walk, __u32 at)
{
	__u32 digits = group_digits(walk, at), end = walk->length - (sizeof("-unknown") - 1);

	if (digits == 0 || !(group_class(walk, at + digits) & GROUP_DASH))
		return 0;
	if (GROUP_ENDS(walk, walk->length, "-unknown"))
		return group_count_numbers(walk, at, end) != 0;
	return group_has_ports(walk, at) || group_is_local_connection(walk, at);
}

#endif
