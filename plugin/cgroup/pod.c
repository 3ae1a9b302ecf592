/* SPDX-License-Identifier: MIT */
/*
 * Names of pods. Kubernetes appends to the name of the owner:
 *
 *     DaemonSet, Job       -RANDOM
 *     Deployment           -HASH-RANDOM
 *     CronJob              -DUE-RANDOM
 *     Indexed Job          -INDEX-RANDOM
 *     StatefulSet          -INDEX, which stays
 *
 * RANDOM has 5 characters. What is before it is cut to 58 bytes, so that of a long name the last dash, HASH or DUE
 * may be cut off (names.SimpleNameGenerator).
 */
#include "pod.h"

#include <stdio.h>
#include <string.h>

#define SAFE "bcdfghjklmnpqrstvwxz2456789" /* the alphabet of rand.SafeEncodeString() */
#define HASH "456789bcdf"                  /* what it makes of decimal digits */
#define DIGITS "0123456789"
#define RANDOM_LENGTH 5
#define GENERATED_LENGTH 63 /* of a name that may have been cut */

static bool has_only(const char *text, size_t length, const char *of)
{
	return length && strspn(text, of) >= length;
}

/* Cuts off the last dash and its part, if that has from `least` to `most` characters, all of this alphabet. */
static bool cut_part(char *text, const char *of, size_t least, size_t most)
{
	char *dash = strrchr(text, '-');
	size_t length = dash ? strlen(dash + 1) : 0;

	if (!dash || dash == text || length < least || length > most ||
	    !has_only(dash + 1, length, of))
		return false;
	*dash = '\0';
	return true;
}

/* *ret_is_cut: the dash before it was cut off, with what else was too long. */
static bool cut_random(char *pod, bool *ret_is_cut)
{
	size_t length = strlen(pod);

	*ret_is_cut = false;
	if (cut_part(pod, SAFE, RANDOM_LENGTH, RANDOM_LENGTH))
		return true;
	if (length != GENERATED_LENGTH ||
	    !has_only(pod + length - RANDOM_LENGTH, RANDOM_LENGTH, SAFE))
		return false;
	pod[length - RANDOM_LENGTH] = '\0';
	*ret_is_cut = true;
	return true;
}

/* The minute in which a run was due, counted from 1970; before Kubernetes 1.21 the second. Dates such as 20240101
 * are none. */
static bool is_due(const char *text, size_t length)
{
	if (!has_only(text, length, DIGITS))
		return false;
	return (length == 8 && strncmp(text, "25", 2) >= 0) || (length == 10 && *text == '1');
}

/* Removes -DUE at the end, or before -INDEX. */
static bool cut_due(char *job)
{
	char *index = strrchr(job, '-'), *due = index;

	if (!index || index == job)
		return false;
	if (is_due(index + 1, strlen(index + 1))) {
		*index = '\0';
		return true;
	}
	do
		due--;
	while (due > job && *due != '-');
	if (due == job || !is_due(due + 1, (size_t)(index - due - 1)) ||
	    !has_only(index + 1, strlen(index + 1), DIGITS))
		return false;
	memmove(due, index, strlen(index) + 1);
	return true;
}

/* Of a name that was too long, only the first characters of HASH or DUE may be left. */
static enum workload settle_cut(char *pod)
{
	if (cut_part(pod, HASH, 1, 10))
		return WORKLOAD_DEPLOYMENT;
	return cut_part(pod, DIGITS, 5, 8) ? WORKLOAD_JOB : WORKLOAD_DAEMONSET;
}

static enum workload settle_by_shape(char *pod)
{
	bool is_cut;

	if (!cut_random(pod, &is_cut))
		return WORKLOAD_POD;
	if (is_cut)
		return settle_cut(pod);
	if (cut_due(pod))
		return WORKLOAD_JOB;
	return cut_part(pod, SAFE, 7, 10) ? WORKLOAD_DEPLOYMENT : WORKLOAD_DAEMONSET;
}

static bool cut_hash(char *pod, const char *hash, bool is_cut)
{
	char *dash = strrchr(pod, '-');

	if (!dash || dash == pod ||
	    (is_cut ? strncmp(hash, dash + 1, strlen(dash + 1)) : strcmp(hash, dash + 1)) != 0)
		return false;
	*dash = '\0';
	return true;
}

/* The name of the job, without DUE, and -INDEX. A pod's name that was too long has only the begin of the job's. */
static void settle_job(char *pod, const char *name, bool is_long)
{
	char index[POD_TEXT_MAX];
	size_t same = 0, length;

	while (pod[same] && pod[same] == name[same])
		same++;
	if ((name[same] && !is_long) ||
	    (pod[same] && (pod[same] != '-' || pod[same + 1 + strspn(pod + same + 1, DIGITS)])))
		return;
	snprintf(index, sizeof(index), "%s", pod + same);
	snprintf(pod, POD_TEXT_MAX, "%s", name);
	cut_due(pod);
	length = strlen(pod);
	snprintf(pod + length, POD_TEXT_MAX - length, "%s", index);
}

static enum workload settle_by_labels(char *pod, const struct pod_labels *labels)
{
	bool is_long = strlen(pod) == GENERATED_LENGTH, is_cut;

	if (labels->is_fixed || !labels->is_owned || !cut_random(pod, &is_cut))
		return WORKLOAD_POD;
	if (labels->job[0]) {
		settle_job(pod, labels->job, is_long);
		return WORKLOAD_JOB;
	}
	if (labels->template_hash[0]) {
		cut_hash(pod, labels->template_hash, is_cut);
		return WORKLOAD_DEPLOYMENT;
	}
	return WORKLOAD_DAEMONSET;
}

enum workload pod_settle(char pod[POD_TEXT_MAX], const struct pod_labels *labels)
{
	return labels->are_known ? settle_by_labels(pod, labels) : settle_by_shape(pod);
}

static void copy_label(char to[POD_TEXT_MAX], const char *value)
{
	snprintf(to, POD_TEXT_MAX, "%s", value);
}

/* Whatever the label is called: of a ReplicaSet or another owner without labels of its own, it is part of what
 * selects its pods. */
static bool is_owner_of(const char *owner, const char *pod)
{
	char base[POD_TEXT_MAX];
	bool is_cut;

	copy_label(base, pod);
	return cut_random(base, &is_cut) && !is_cut && !strcmp(base, owner);
}

void pod_label_note(struct pod_labels *labels, const char *pod, const char *key, const char *value)
{
	if (!strncmp(key, "io.kubernetes.", strlen("io.kubernetes.")))
		return; /* the kubelet's, which every pod has */
	if (!strcmp(key, POD_CONFIG_SOURCE))
		labels->is_fixed |= strcmp(value, "api") != 0;
	else if (!strcmp(key, "pod-template-hash") || !strcmp(key, "rollouts-pod-template-hash"))
		copy_label(labels->template_hash, value);
	else if (!strcmp(key, "job-name") || !strcmp(key, "batch.kubernetes.io/job-name"))
		copy_label(labels->job, value);
	/* run=NAME of kubectl, and the pod-name of a StatefulSet. */
	labels->is_fixed |= !strcmp(value, pod);
	labels->is_owned |= labels->template_hash[0] || labels->job[0] ||
			    !strcmp(key, "controller-revision-hash") || is_owner_of(value, pod);
}
