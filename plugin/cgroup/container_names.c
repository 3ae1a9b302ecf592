/* SPDX-License-Identifier: MIT */
/*
 * Names of containers, found once and kept. Now and then the helper is asked for each file that has named some, and
 * sends it only if it has changed: docker has a file for each container, podman a list of all. A container that
 * no file names is searched for again.
 */
#include "container_names.h"

#include "user.h"
#include "user_state.h"
#include "util/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define USERS_PART 2 /* of all names, for containers of users */
#define TRIES_MAX 3  /* of a container whose files cannot be read in time */
#define ROUND_NS (60 * NS_PER_S)
#define UNWANTED_NS (3 * ROUND_NS) /* after which a name that nobody asks for is forgotten */
/* Between two searches for a container without a file: this part of the time that it has had none. */
#define SEARCH_SHARE 4
#define SEARCH_NS_MAX (60 * NS_PER_S)
#define CHECK_NS_MAX (250 * 1000000ULL)
#define CHECKS_MAX 3 /* in one refresh */
/* Between two checks: so long for each file, within these bounds. */
#define FILE_PERIOD_NS (50 * 1000000ULL)
#define CHECK_PERIOD_MIN_NS NS_PER_S
#define CHECK_PERIOD_MAX_NS (10 * NS_PER_S)

struct named_file {
	struct named_state state;
	unsigned names;   /* that are from it */
	uint64_t checked; /* number of its last check */
};

struct container_name {
	struct group_key key;
	char id[GROUP_ID_LENGTH + 1]; /* in the key */
	int status;                   /* of container_name() */
	unsigned tries;
	struct container container; /* if status is 0 */
	struct named_file *file;    /* NULL: none has it */
	uint64_t since_ns, due_ns;  /* without a file: for how long, and when to search again */
	uint64_t wanted_ns;
};

void container_names_init(struct container_names *names, struct users *users)
{
	*names = (struct container_names){ .users = users, .round = 1, .round_ns = clock_ns() };
	runtimes_init(&names->runtimes);
}

static bool is_of_user(const struct group_key *key)
{
	return key->kind == GROUP_USER_CONTAINER;
}

static void copy_id(char to[GROUP_ID_LENGTH + 1], const struct group_key *key)
{
	memcpy(to, key->text + (is_of_user(key) ? GROUP_USER_SIZE : 0), GROUP_ID_LENGTH);
	to[GROUP_ID_LENGTH] = '\0';
}

/* --- files --- */

static void drop_file(struct container_name *name)
{
	if (name->file && --name->file->names == 0)
		free(name->file);
	name->file = NULL;
}

/* The file that a list of containers is in, NULL: no name is from it yet. */
static struct named_file *find_named_list(const struct container_names *names,
					  const struct named_state *state)
{
	for (size_t i = 0; i < names->count && state->format == STATE_STORAGE; i++) {
		struct named_file *file = names->item[i]->file;

		if (file && file->state.view.pid == state->view.pid &&
		    !strcmp(file->state.path, state->path))
			return file;
	}
	return NULL;
}

/* The stamp of a known list stays: other names in it may have changed since. */
static void enter_file(const struct container_names *names, struct container_name *name,
		       const struct named_state *state)
{
	struct named_file *file = find_named_list(names, state) ?: calloc(1, sizeof(*file));

	if (!file)
		return;
	if (!file->names++)
		file->state = *state;
	name->file = file;
}

/* --- names --- */

/* true: what is known of it has changed. */
static bool set_container(struct container_name *name, int status,
			  const struct container *container)
{
	if (name->status == status && !memcmp(&name->container, container, sizeof(*container)))
		return false;
	name->status = status;
	name->container = *container;
	return true;
}

static int search_user_state(struct container_names *names, const struct group_key *key,
			     const char *id, struct file_helper *files,
			     struct container *ret_container, struct named_state *ret_state)
{
	uint64_t uid = strtoull(key->text + strlen("user-"), NULL, 10);
	char home[USER_HOME_MAX];

	if (uid == 0)
		return runtime_container(GROUP_CONTAINER, id, &names->runtimes, files,
					 ret_container, ret_state);
	if (uid >= UINT32_MAX || !user_home(names->users, uid, home))
		return -ENOENT;
	return user_container((uid_t)uid, home, id, files, ret_container, ret_state);
}

static int search_by_key(struct container_names *names, const struct container_name *name,
			 struct file_helper *files, struct container *ret_container,
			 struct named_state *ret_state)
{
	if (is_of_user(&name->key))
		return search_user_state(names, &name->key, name->id, files, ret_container,
					 ret_state);
	return runtime_container(name->key.kind, name->id, &names->runtimes, files, ret_container,
				 ret_state);
}

/* Searches in all files of its kind. true: what is known of it has changed. */
static bool search_name(struct container_names *names, struct container_name *name,
			struct file_helper *files, uint64_t now_ns)
{
	struct container container = { 0 };
	struct named_state state;
	uint64_t wait_ns = (now_ns - name->since_ns) / SEARCH_SHARE;
	int status = search_by_key(names, name, files, &container, &state);

	if (status == 0)
		enter_file(names, name, &state);
	name->due_ns = now_ns + (wait_ns < SEARCH_NS_MAX ? wait_ns : SEARCH_NS_MAX);
	/* What was known stays. */
	if (status && name->status == 0)
		return false;
	if (status == -EAGAIN && (name->status == -ENOENT || ++name->tries == TRIES_MAX))
		status = -ENOENT;
	return set_container(name, status, &container);
}

static int compare_container_names(const struct container_name *a, const struct container_name *b)
{
	return memcmp(a->id, b->id, GROUP_ID_LENGTH) ?: memcmp(&a->key, &b->key, sizeof(a->key));
}

/* The position of the first name that is not before this one. */
static size_t find_name_position(const struct container_names *names,
				 const struct container_name *name)
{
	size_t low = 0, high = names->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_container_names(names->item[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* NULL: there is no room or no memory. */
static struct container_name *insert_name(struct container_names *names, size_t at,
					  const struct container_name *name)
{
	struct container_name **grown, *inserted;

	if (names->count == CONTAINER_NAMES_MAX ||
	    (is_of_user(&name->key) && names->of_users == CONTAINER_NAMES_MAX / USERS_PART))
		return NULL;
	grown = reallocarray(names->item, names->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	names->item = grown;
	inserted = malloc(sizeof(*inserted));
	if (!inserted)
		return NULL;
	*inserted = *name;
	memmove(grown + at + 1, grown + at, (names->count - at) * sizeof(*grown));
	grown[at] = inserted;
	names->count++;
	names->of_users += is_of_user(&name->key);
	return inserted;
}

static int give_container(struct container_name *name, uint64_t now_ns,
			  struct container *ret_container)
{
	name->wanted_ns = now_ns;
	*ret_container = name->container;
	return name->status;
}

int container_name(struct container_names *names, const struct group_key *key,
		   struct file_helper *files, struct container *ret_container)
{
	uint64_t now_ns = clock_ns();
	struct container_name wanted = { .key = *key, .status = -EAGAIN, .since_ns = now_ns };
	struct container_name *name;
	size_t at;

	copy_id(wanted.id, key);
	at = find_name_position(names, &wanted);
	if (at < names->count && !compare_container_names(names->item[at], &wanted))
		return give_container(names->item[at], now_ns, ret_container);
	name = insert_name(names, at, &wanted);
	if (name) {
		search_name(names, name, files, now_ns);
		return give_container(name, now_ns, ret_container);
	}
	wanted.tries = TRIES_MAX - 1; /* there will not be another one */
	search_name(names, &wanted, files, now_ns);
	drop_file(&wanted);
	return give_container(&wanted, now_ns, ret_container);
}

/* --- checks --- */

struct file_check {
	const struct container_names *names;
	struct container_name *name; /* for which the file is checked */
	bool changed;                /* a name of the file */
};

/* Nobody changes the labels of a pod in the state of its sandbox. */
static void set_checked(struct file_check *check, struct container_name *name,
			const struct container *container)
{
	struct container checked = *container;

	checked.labels = name->container.labels;
	check->changed |= set_container(name, 0, &checked);
}

static void update_name(void *of, const char *id, const struct container *container)
{
	struct file_check *check = of;
	const struct container_names *names = check->names;
	struct container_name wanted = { 0 };

	if (!id[0]) {
		set_checked(check, check->name, container);
		return;
	}
	if (!runtime_is_id(id))
		return;
	memcpy(wanted.id, id, GROUP_ID_LENGTH);
	for (size_t i = find_name_position(names, &wanted);
	     i < names->count && !strcmp(names->item[i]->id, wanted.id); i++)
		if (names->item[i]->file == check->name->file)
			set_checked(check, names->item[i], container);
}

/* The file is gone: containers are searched for, and keep their names meanwhile. */
static void lose_names_of(const struct container_names *names, const struct named_file *file,
			  uint64_t now_ns)
{
	unsigned left = file->names;

	for (size_t i = 0; i < names->count && left; i++) {
		struct container_name *name = names->item[i];

		if (name->file != file)
			continue;
		left--;
		drop_file(name);
		name->since_ns = name->due_ns = now_ns;
	}
}

static bool check_named_file(const struct container_names *names, struct container_name *name,
			     struct file_helper *files, uint64_t now_ns)
{
	struct file_check check = { .names = names, .name = name };
	int status = named_state_check(&name->file->state, files, update_name, &check);

	if (status && status != -EALREADY && !helper_may_reply_later(status))
		lose_names_of(names, name->file, now_ns);
	return check.changed;
}

static bool check_container_name(struct container_names *names, struct container_name *name,
				 struct file_helper *files)
{
	uint64_t now_ns = clock_ns();

	if (!name->file)
		return now_ns >= name->due_ns && search_name(names, name, files, now_ns);
	/* Nobody renames what has a bundle. */
	if (name->file->state.format == STATE_BUNDLE || name->file->checked == names->checks)
		return false;
	name->file->checked = names->checks;
	names->checked_files++;
	return check_named_file(names, name, files, now_ns);
}

/* From where the last check had to stop. true: a name has changed. */
static bool check_all_names(struct container_names *names, struct file_helper *files,
			    uint64_t end_ns)
{
	bool changed = false;

	names->checks++;
	for (size_t n = names->count; n && clock_ns() < end_ns; n--) {
		if (names->next >= names->count)
			names->next = 0;
		changed |= check_container_name(names, names->item[names->next++], files);
	}
	return changed;
}

static void free_name(struct container_name *name)
{
	drop_file(name);
	free(name);
}

static void forget_unwanted(struct container_names *names, uint64_t now_ns)
{
	size_t remaining = 0;

	for (size_t i = 0; i < names->count; i++) {
		if (now_ns - names->item[i]->wanted_ns > UNWANTED_NS) {
			names->of_users -= is_of_user(&names->item[i]->key);
			free_name(names->item[i]);
		} else {
			names->item[remaining++] = names->item[i];
		}
	}
	names->count = remaining;
}

static uint64_t check_period(size_t files)
{
	uint64_t period_ns = files * FILE_PERIOD_NS;

	if (period_ns < CHECK_PERIOD_MIN_NS)
		return CHECK_PERIOD_MIN_NS;
	return period_ns < CHECK_PERIOD_MAX_NS ? period_ns : CHECK_PERIOD_MAX_NS;
}

/* If a name has changed, another one may have changed after its file was checked: two containers may have swapped
 * theirs. */
static bool check_if_due(struct container_names *names, struct file_helper *files, uint64_t now_ns)
{
	int checks = 0;

	if (now_ns < names->due_ns)
		return false;
	names->checked_files = 0;
	while (check_all_names(names, files, now_ns + CHECK_NS_MAX) && ++checks < CHECKS_MAX)
		;
	names->due_ns = now_ns + check_period(names->checked_files);
	return checks > 0;
}

void container_names_refresh(struct container_names *names, struct file_helper *files)
{
	uint64_t now_ns = clock_ns();
	bool round_ends = now_ns - names->round_ns >= ROUND_NS;

	if (round_ends)
		forget_unwanted(names, now_ns);
	if (!check_if_due(names, files, now_ns) && !round_ends)
		return;
	names->round++;
	names->round_ns = now_ns;
}

void container_names_done(struct container_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free_name(names->item[i]);
	free(names->item);
	runtimes_done(&names->runtimes);
	container_names_init(names, names->users);
}
