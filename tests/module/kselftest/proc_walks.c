// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A long walk ends in the middle when its process is killed or its GPU leaves
 * the bus. The model behind the GPU counts its accesses.
 *
 * proc_walks [--channels 2000|1000|500] [NAME]...
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model.h"
#include "options.h"
#include "pci.h"
#include "suite.h"
#include "tree.h"

#define WALKS 2
#define POLLS_MAX 100000

static unsigned long channels = 2000;

static const char *const files[] = { "runlist0", "contexts" };

/*
 * Returns the reads of registers and memory through BAR0 since the last reset.
 */
static unsigned long accesses(int model)
{
	const char *key = "\"reads\":";
	const char *at = strstr(model_ask(model, "stats"), key);

	ASSERT(at, "statistics without reads");
	return strtoul(at + strlen(key), NULL, 10);
}

static unsigned long cost_of(const struct gpu *gpu, int model, const char *file)
{
	char *text;

	model_ask(model, "stats reset");
	text = gpu_read(gpu, file, NULL);
	ASSERT(text, "%s: %s", file, strerror(errno));
	free(text);
	return accesses(model);
}

/* Starts a process that opens the file; its exit status is the result. */
static int start_walk(const struct gpu *gpu, const char *file)
{
	int pid = fork();

	ASSERT(pid >= 0, "fork: %s", strerror(errno));
	if (!pid)
		_exit(gpu_open(gpu, file, O_RDONLY) < 0 ? errno : 0);
	return pid;
}

static void wait_until(int model, unsigned long count)
{
	for (int polls = 0; polls < POLLS_MAX; polls++)
		if (accesses(model) >= count)
			return;
	EXPECT(false, "the walk does not go on");
}

/* Stops a walk of each file at some parts of its length. */
static void stop_walks(const struct gpu *gpu,
		       void (*stop)(const struct gpu *gpu, int pid,
				    const char *file))
{
	int model = model_open(gpu);
	unsigned long early = 0;

	need_file(gpu, "runlist0");
	if (channels == 2000)
		model_ask(model, "restart many");
	else
		model_ask(model, "restart many-%lu", channels);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		unsigned long whole = cost_of(gpu, model, files[i]);

		for (unsigned long part = 0; part < WALKS; part++) {
			int pid;

			model_ask(model, "stats reset");
			pid = start_walk(gpu, files[i]);
			wait_until(model, whole / 2 * part / WALKS);
			stop(gpu, pid, files[i]);
			early += accesses(model) < whole;
			expect_files(gpu, "after a walk");
		}
	}
	model_ask(model, "restart three-tasks");
	EXPECT(early >= WALKS, "%lu walks ended early", early);
	ktap_note("%lu of %zu walks ended early", early,
		  WALKS * sizeof(files) / sizeof(*files));
}

static void kill_walk(const struct gpu *gpu, int pid, const char *file)
{
	int status;

	(void)gpu;
	EXPECT(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid &&
	       (WIFSIGNALED(status) || !WEXITSTATUS(status)),
	       "%s: not killed", file);
}

static void remove_walk(const struct gpu *gpu, int pid, const char *file)
{
	struct address address;
	int status;

	need_pci(gpu, &address);
	pci_remove(&address);
	EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       (!WEXITSTATUS(status) || WEXITSTATUS(status) == ENODEV ||
		WEXITSTATUS(status) == ENOENT), "%s: %s", file,
	       WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : "killed");
	pci_rescan();
	expect_files(gpu, "after the rescan");
}

static void test_kill(const struct gpu *gpu)
{
	stop_walks(gpu, kill_walk);
}

static void test_remove(const struct gpu *gpu)
{
	stop_walks(gpu, remove_walk);
}

static const struct suite_test tests[] = {
	{ "kill", "processes are killed in long walks", test_kill,
	  0 },
	{ "remove", "GPUs leave in long walks", test_remove, 0 },
};

int main(int argc, char **argv)
{
	static const struct option options[] = { { "--channels", &channels } };

	argc = OPTIONS_TAKE(argc, argv, options);
	return SUITE_MAIN(argc, argv, tests);
}
