// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Kernel lockdown takes away the controls. It lasts until the next boot, so
 * this program locks down only if it is told to: proc_lockdown --destructive.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "suite.h"
#include "topology.h"

#define LOCKDOWN "/sys/kernel/security/lockdown"

/* As it was before. */
static struct topology unlocked;
static struct channels channels[GPUS_MAX];

/* "none [integrity] confidentiality" has this one in force? */
static bool in_force(const char *level)
{
	int fd = open(LOCKDOWN, O_RDONLY | O_CLOEXEC);
	char wanted[40], *text;
	bool found;

	snprintf(wanted, sizeof(wanted), "[%s]", level);
	text = fd < 0 ? NULL : read_to_end(fd, NULL);
	found = text && strstr(text, wanted);
	free(text);
	if (fd >= 0)
		close(fd);
	return found;
}

static void test_controls(const struct gpu *gpu)
{
	const struct channels *before = channels;

	ASSERT(in_force("integrity"), "lockdown is not in force");
	if (!gpu_has(gpu, DISABLE))
		ktap_skip("%s has no channel controls", gpu->name);
	for (const struct gpu *other = unlocked.gpus;
	     strcmp(other->name, gpu->name); other++)
		before++;
	ASSERT(before->count, "no channel to try it with");
	for (int c = 0; c < 2; c++) {
		const char *file = c ? ENABLE : DISABLE;
		char target[TARGET_MAX];
		int error;

		target_of(gpu, &before->at[0], target);
		error = control(gpu, file, target);
		EXPECT(error == EPERM, "%s: %s", file,
		       error ? strerror(error) : "taken");
	}
}

static void test_topology(const struct gpu *gpus)
{
	(void)gpus;
	ASSERT(in_force("integrity"), "lockdown is not in force");
	topology_expect(&unlocked, "under lockdown");
}

/* A list that only the window reaches is out of reach. */
static void test_runlists(const struct gpu *gpu)
{
	char window[VALUE_MAX];
	struct files files;

	ASSERT(in_force("integrity"), "lockdown is not in force");
	gpu_info(gpu, "feature pram_window", window);
	EXPECT(!strncmp(window, "no (", 4), "pram_window: %s", window);
	gpu_files(gpu, 0400, &files);
	for (size_t i = 0; i < files.count; i++) {
		char *text;

		if (strncmp(files.name[i], "runlist", 7))
			continue;
		text = gpu_read(gpu, files.name[i], NULL);
		EXPECT(text || errno == EOPNOTSUPP, "%s: %s", files.name[i],
		       strerror(errno));
		free(text);
	}
}

static const struct suite_test tests[] = {
	{ "controls", "writes are EPERM", test_controls, 0 },
	{ "topology", "world-readable files are as before", test_topology,
	  SUITE_ALL },
	{ "runlists", "runlists are readable unless they need the window",
	  test_runlists, 0 },
};

static bool lock_down(void)
{
	int fd = open(LOCKDOWN, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, "integrity", 9) == 9;

	if (fd >= 0)
		close(fd);
	return done;
}

int main(int argc, char **argv)
{
	bool destructive = argc == 2 && !strcmp(argv[1], "--destructive");

	if (argc == 2 && !destructive)
		return SUITE_MAIN(argc, argv, tests);
	if (access(LOCKDOWN, W_OK))
		return ktap_skip_all("no " LOCKDOWN);
	if (!destructive)
		return ktap_skip_all("lasts until reboot; say --destructive");
	topology_read(&unlocked);
	for (size_t i = 0; i < unlocked.count; i++)
		channels[i] = gpu_channels(&unlocked.gpus[i]);
	if (!lock_down() && !in_force("integrity"))
		return ktap_skip_all("this kernel does not lock down");
	return SUITE_MAIN(1, argv, tests);
}
