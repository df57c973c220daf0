// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Kernel lockdown takes away the controls. It lasts until the next boot, so
 * this program locks down only on demand: proc_lockdown --destructive.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "suite.h"
#include "topology.h"
#include "tree.h"

#define LOCKDOWN "/sys/kernel/security/lockdown"

/* The state before lockdown. */
static struct topology unlocked;
static struct request requests[GPUS_MAX][REQUESTS_MAX];
static size_t request_count[GPUS_MAX];

/*
 * Returns whether this level stands in brackets, as in "none [integrity]
 * confidentiality".
 */
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
	size_t g = 0;

	ASSERT(in_force("integrity"), "lockdown is not in force");
	while (strcmp(unlocked.gpus[g].name, gpu->name))
		g++;
	if (!gpu_has(gpu, DISABLE))
		ktap_skip("%s has no controls", gpu->name);
	ASSERT(request_count[g], "nothing to try the controls with");
	for (size_t i = 0; i < request_count[g]; i++) {
		const struct request *request = &requests[g][i];
		int error = control(gpu, request->file, request->text);

		EXPECT(error == EPERM, "%s: %s", request->file,
		       error ? strerror(error) : "taken");
	}
}

static void test_topology(const struct gpu *gpus)
{
	(void)gpus;
	ASSERT(in_force("integrity"), "lockdown is not in force");
	topology_expect(&unlocked, "under lockdown");
}

/* Under lockdown memory that only the window reaches is out of reach. */
static void test_state(const struct gpu *gpu)
{
	char window[VALUE_MAX];
	struct files files;

	ASSERT(in_force("integrity"), "lockdown is not in force");
	gpu_info(gpu, "feature pram_window", window);
	EXPECT(!strncmp(window, "no (", 4), "pram_window: %s", window);
	gpu_texts(gpu, 0400, &files);
	for (size_t i = 0; i < files.count; i++) {
		char *text = gpu_read(gpu, files.name[i], NULL);

		EXPECT(text ||
		       (errno == EOPNOTSUPP &&
			file_is(files.name[i], FILE_MEMORY)) ||
		       (errno == ENODEV &&
			file_is(files.name[i], FILE_UNCONNECTED)),
		       "%s: %s", files.name[i], strerror(errno));
		free(text);
	}
}

/* Lockdown forbids translate, because it would show words of any memory. */
static void test_translate(const struct gpu *gpu)
{
	int fd = gpu_open(gpu, "translate", O_RDWR);
	int error;

	ASSERT(in_force("integrity"), "lockdown is not in force");
	ASSERT(fd >= 0, "translate: %s", strerror(errno));
	error = write(fd, "0x1000 0x0", 10) < 0 ? errno : 0;
	EXPECT(error == EPERM, "translate: %s", strerror(error));
	close(fd);
}

static const struct suite_test tests[] = {
	{ "controls", "writes are EPERM", test_controls, 0 },
	{ "translate", "requests are EPERM", test_translate, 0 },
	{ "topology", "world-readable files are as before", test_topology,
	  SUITE_ALL },
	{ "state", "files are readable unless they need the window",
	  test_state, 0 },
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
		request_count[i] = working_requests(&unlocked.gpus[i],
						    requests[i]);
	if (!lock_down() && !in_force("integrity"))
		return ktap_skip_all("this kernel does not lock down");
	return SUITE_MAIN(1, argv, tests);
}
