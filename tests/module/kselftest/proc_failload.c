// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Every allocation of loading and unloading the module, and of GPUs that go and
 * come, fails in turn: either all of the work is done, or nothing of it. Needs
 * a kernel with fault injection, and the module's file (module.h).
 *
 * proc_failload [--every NUMBER] [NAME]...
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "faults.h"
#include "klog.h"
#include "leases.h"
#include "module.h"
#include "options.h"
#include "pci.h"
#include "state.h"
#include "suite.h"
#include "topology.h"
#include "workers.h"

#define NAPS_MAX 500

static bool is_loaded(void)
{
	return !access("/sys/module/nvdebug", F_OK);
}

static void expect_nothing(const struct gpu *gpus, const struct faults *walk)
{
	EXPECT(!is_loaded(), "the module is there after failure %u", walk->nth);
	for (; gpus->name[0]; gpus++)
		EXPECT(!folder_exists(gpus), "%s is there after failure %u",
		       gpus->name, walk->nth);
}

/*
 * Allocations before the module's own code are not walked, because the kernel
 * warns if it has no memory for the tracepoints of a module. Their number is not
 * exact, so the walk begins so many earlier. These are about sysfs, where a
 * failure does no harm.
 */
#define UNSURE 20

static unsigned int measure_loader(void)
{
	struct faults never = { .nth = FAULTS_NEVER };
	int error;

	faults_arm(&never);
	/* The module's first code refuses this parameter. */
	error = module_load("state_uid=-2");
	faults_disarm(&never);
	ASSERT(error == EINVAL && never.nth - never.left > UNSURE,
	       "%u points of a load that fails: %s", never.nth - never.left,
	       strerror(error));
	return never.nth - never.left - UNSURE;
}

static void test_load(const struct gpu *gpus)
{
	struct topology before;
	struct faults walk;

	faults_need();
	module_need();
	topology_read(&before);
	module_must_unload();
	walk = faults_walk_from(measure_loader());
	while (faults_more(&walk)) {
		int error;

		faults_arm(&walk);
		error = module_load("");
		faults_disarm(&walk);
		faults_count(&walk, error, "loading");
		if (error) {
			expect_nothing(gpus, &walk);
			continue;
		}
		topology_expect(&before, "loaded in spite of a failure");
		module_must_unload();
	}
	module_must_load("");
	topology_expect(&before, "loaded again");
	topology_free(&before);
	faults_note();
}

/*
 * Makes a list of the module's own, and takes a lease, which unloading then has
 * to end.
 */
static int take_everything(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_leases(gpu, requests);
	int fd = -1;

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(requests[i].file, SWITCH))
			EXPECT(!control(gpu, SWITCH, requests[i].text),
			       SWITCH ": %s", strerror(errno));
		if (!strcmp(requests[i].file, DISABLE))
			fd = lease(gpu, DISABLE, requests[i].text);
	}
	return fd;
}

static void test_unload(const struct gpu *gpu)
{
	struct faults walk;

	faults_need();
	module_need();
	for (walk = faults_walk(); faults_more(&walk);) {
		struct state before = state_read(gpu);
		int fd = take_everything(gpu), error;

		faults_arm(&walk);
		error = module_unload();
		faults_disarm(&walk);
		faults_count(&walk, error, "unloading");
		EXPECT(is_loaded() == !!error,
		       "half unloaded with failure %u", walk.nth);
		if (error)
			module_must_unload();
		module_must_load("");
		state_expect(gpu, &before, "unloaded and loaded");
		state_free(&before);
		close(fd);
	}
	faults_note();
}

static void test_remove(const struct gpu *gpu)
{
	struct address address;
	struct faults walk;

	faults_need();
	need_pci(gpu, &address);
	for (walk = faults_walk(); faults_more(&walk);) {
		struct state before = state_read(gpu);
		int fd = take_everything(gpu), error;

		faults_arm(&walk);
		error = pci_try_remove(&address);
		faults_disarm(&walk);
		faults_count(&walk, error, "removing");
		if (error)
			pci_remove(&address);
		EXPECT(!folder_exists(gpu), "%s is there after failure %u",
		       gpu->name, walk.nth);
		close(fd);
		pci_rescan();
		expect_files(gpu, "after a failure");
		state_expect(gpu, &before, "removed and found again");
		state_free(&before);
	}
	faults_note();
}

/* Waits until a worker has looked for GPUs and logged the result. */
static void find_again(const struct gpu *gpu)
{
	int log = klog_open();
	bool failed = false;

	pci_rescan();
	for (int i = 0; i < NAPS_MAX && !failed && !gpu_has(gpu, "info"); i++) {
		char *said;

		nap();
		klog_lines(log, &said);
		failed = strstr(said, "failed to create the directory of a GPU");
		free(said);
	}
	EXPECT(failed || folder_exists(gpu), "%s is not there, and why is not "
	       "said", gpu->name);
	close(log);
}

/*
 * PCI itself is spared, because the kernel warns when it cannot add a device. A
 * GPU whose folder got no memory has no folder until it is removed and found
 * again.
 */
static void test_find(const struct gpu *gpu)
{
	char *before = topology_text(gpu);
	struct address address;
	unsigned int nth, last;

	faults_need();
	need_pci(gpu, &address);
	pci_remove(&address);
	workers_arm(FAULTS_NEVER);
	find_again(gpu);
	last = FAULTS_NEVER - workers_disarm();
	for (nth = 1; nth <= last; nth += (unsigned int)faults_every) {
		struct faults walk = { .nth = nth };
		char *after;

		pci_remove(&address);
		workers_arm(nth);
		find_again(gpu);
		walk.hit = !workers_disarm();
		faults_count(&walk, folder_exists(gpu) ? 0 : ENOMEM,
			     "looking for GPUs");
		if (!folder_exists(gpu)) {
			pci_remove(&address);
			find_again(gpu);
		}
		after = topology_text(gpu);
		EXPECT(!strcmp(before, after), "%s is another after failure %u",
		       gpu->name, nth);
		free(after);
	}
	free(before);
	faults_note();
}

static const struct suite_test tests[] = {
	{ "load", "loading the module", test_load, SUITE_ALL },
	{ "unload", "unloading it, with leases and a list of its own",
	  test_unload, 0 },
	{ "remove", "a GPU that is removed", test_remove, 0 },
	{ "find", "a GPU that is found again", test_find, 0 },
};

int main(int argc, char **argv)
{
	static const struct option options[] = { { "--every", &faults_every } };

	argc = OPTIONS_TAKE(argc, argv, options);
	return SUITE_MAIN(argc, argv, tests);
}
