// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Prints the rights on a GPU's files, as they are now. A line has a kind of
 * person, a thing, and the result: "PERSON | THING | yes", or the hidden part,
 * or the errno. User and group are given by number: who_may GPU STATE_UID
 * STATE_GID.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "controls.h"
#include "ktap.h"
#include "people.h"

#define USER 1000
#define BIT(cap) (1ULL << (cap))

/*
 * Capabilities of root in a container of Docker and Podman that is not
 * privileged.
 */
#define CONTAINER_CAPABILITIES                                               \
	(BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FSETID) |          \
	 BIT(CAP_FOWNER) | BIT(CAP_MKNOD) | BIT(CAP_NET_RAW) |               \
	 BIT(CAP_SETGID) | BIT(CAP_SETUID) | BIT(CAP_SETFCAP) |              \
	 BIT(CAP_SETPCAP) | BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_SYS_CHROOT) | \
	 BIT(CAP_KILL) | BIT(CAP_AUDIT_WRITE))

static unsigned int state_uid, state_gid;

static void nobody_else(void)
{
}

static void without_sys_admin(void)
{
	drop_capability(CAP_SYS_ADMIN);
}

static void without_rawio(void)
{
	drop_capability(CAP_SYS_RAWIO);
}

static void root_of_container(void)
{
	enter_container();
	keep_capabilities(CONTAINER_CAPABILITIES);
}

static void user(void)
{
	become(USER, USER);
}

static void user_with_sys_admin(void)
{
	become_with(USER, CAP_SYS_ADMIN);
}

static void user_with_dac_override(void)
{
	become_with(USER, CAP_DAC_OVERRIDE);
}

static void user_of_state(void)
{
	become(state_uid, USER);
}

static void member_of_state(void)
{
	become(USER, state_gid);
}

static void namespace_of_root(void)
{
	enter_user_namespace(0);
}

static void namespace_of_user(void)
{
	user();
	enter_user_namespace(USER);
	enter_container();
}

static const struct person {
	const char *name;
	void (*become)(void);
	bool inherits; /* files are opened before */
} people[] = {
	{ "root", nobody_else, false },
	{ "root without `CAP_SYS_ADMIN`", without_sys_admin, false },
	{ "root without `CAP_SYS_RAWIO`", without_rawio, false },
	{ "root of a container (Docker's default)", root_of_container, false },
	{ "user", user, false },
	{ "user with `CAP_SYS_ADMIN`", user_with_sys_admin, false },
	{ "user with `CAP_DAC_OVERRIDE`", user_with_dac_override, false },
	{ "the user of `state_uid`", user_of_state, false },
	{ "a member of `state_gid`", member_of_state, false },
	{ "root of a user namespace that root made", namespace_of_root, false },
	{ "root of a user's own container", namespace_of_user, false },
	{ "user who inherited root's open files", user, true },
};

static const struct thing {
	const char *name;
	const char *file;
	int flags;
} things[] = {
	{ "topology", "device_info", O_RDONLY },
	{ "state", "runlist0", O_RDONLY },
	{ "`scheduling`", "scheduling", O_RDONLY },
	{ "`translate`", "translate", O_RDWR },
	{ "controls", ENABLE, O_WRONLY },
};

#define THINGS (sizeof(things) / sizeof(*things))

/* The request for each thing; NULL for a thing that is only read. */
static const char *requests[THINGS];

static void say(const struct person *person, const struct thing *thing,
		const char *result)
{
	printf("%s | %s | %s\n", person->name, thing->name, result);
}

static const char *attempt(const struct thing *thing, int fd)
{
	const char *request = requests[thing - things];
	const char *result = "yes";
	char *text;

	if (request && write(fd, request, strlen(request)) < 0)
		return strerrorname_np(errno);
	if (thing->flags == O_WRONLY)
		return result;
	text = read_to_end(fd, NULL);
	if (!text)
		return strerrorname_np(errno);
	if (strstr(text, " hidden "))
		result = "no addresses";
	free(text);
	return result;
}

static void try_all(const struct gpu *gpu, const struct person *person)
{
	int fds[THINGS], pid;

	pid = ktap_fork();
	if (pid) {
		if (ktap_wait(pid) != KTAP_PASS)
			exit(EXIT_FAILURE);
		return;
	}
	if (!person->inherits)
		person->become();
	for (size_t i = 0; i < THINGS; i++) {
		fds[i] = gpu_open(gpu, things[i].file, things[i].flags);
		if (fds[i] < 0)
			say(person, &things[i], strerrorname_np(errno));
	}
	if (person->inherits)
		person->become();
	for (size_t i = 0; i < THINGS; i++)
		if (fds[i] >= 0)
			say(person, &things[i], attempt(&things[i], fds[i]));
	fflush(stdout);
	ktap_end();
}

int main(int argc, char **argv)
{
	struct gpu gpus[GPUS_MAX + 1], *gpu = gpus;
	char target[TARGET_MAX], translate[TARGET_MAX + 8];
	struct channels channels;

	if (argc != 4) {
		fprintf(stderr, "usage: who_may GPU STATE_UID STATE_GID\n");
		return EXIT_FAILURE;
	}
	gpus_find(gpus);
	while (gpu->name[0] && strcmp(gpu->name, argv[1]))
		gpu++;
	state_uid = strtoul(argv[2], NULL, 0);
	state_gid = strtoul(argv[3], NULL, 0);
	channels = enabled_channels(gpu, 1);
	target_of(gpu, channels.at, target);
	snprintf(translate, sizeof(translate), "%u:%u 0",
		 channels.at->runlist, channels.at->id);
	requests[3] = translate;
	requests[4] = target;
	for (size_t i = 0; i < sizeof(people) / sizeof(*people); i++)
		try_all(gpu, &people[i]);
	return EXIT_SUCCESS;
}
