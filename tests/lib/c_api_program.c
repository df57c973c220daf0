/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The C interface on a folder with the files of an A100: c_api_program FOLDER. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvdebug/nvdebug.h"

static int failures;

static void check(int right, const char *what, int line)
{
	if (right)
		return;
	printf("line %d: %s\n", line, what);
	failures++;
}

#define CHECK(condition) check(condition, #condition, __LINE__)

/* It worked. */
static void done(nvd_error *error, int line)
{
	check(!error, error ? nvd_error_sentence(error) : "", line);
	nvd_error_destroy(error);
}

#define DONE(call) done(call, __LINE__)

/* It failed with this code and says why. */
static void refused(nvd_error *error, enum nvd_code code, int line)
{
	check(error && nvd_error_code(error) == code && *nvd_error_sentence(error),
	      error ? nvd_error_sentence(error) : "no error", line);
	nvd_error_destroy(error);
}

#define REFUSED(call, code) refused(call, code, __LINE__)

static void check_identity(const nvd_gpu *gpu)
{
	struct nvd_identity identity = { .size = sizeof(identity) };
	struct nvd_identity untouched = { .size = 1, .channels = 77 };
	struct {
		struct nvd_identity identity;
		char newer[8];
	} newer = { .identity = { .size = sizeof(newer) }, .newer = "newer" };
	struct nvd_identity older = { .size = offsetof(struct nvd_identity, driver),
				      .driver = "mine" };

	DONE(nvd_gpu_identity(gpu, &identity));
	CHECK(identity.size == sizeof(identity));
	CHECK(!strcmp(identity.chip, "GA100"));
	CHECK(!strcmp(identity.pci_address, "0000:00:0a.0"));
	CHECK(!strcmp(identity.driver, ""));
	CHECK(identity.channels == 2048);
	CHECK(identity.ids_per_runlist == 1);
	CHECK(identity.video_memory_bytes == 42949672960);

	REFUSED(nvd_gpu_identity(gpu, &untouched), NVD_INVALID);
	CHECK(untouched.channels == 77);
	DONE(nvd_gpu_identity(gpu, &newer.identity));
	CHECK(newer.identity.size == sizeof(identity));
	CHECK(!strcmp(newer.newer, "newer"));
	DONE(nvd_gpu_identity(gpu, &older));
	CHECK(!strcmp(older.chip, "GA100"));
	CHECK(!strcmp(older.driver, "mine"));
}

static void check_engines(const nvd_gpu *gpu)
{
	struct nvd_engine engine = { .size = sizeof(engine) };
	nvd_engines *engines = NULL;
	int shared = -1;

	DONE(nvd_engines_read(gpu, &engines));
	CHECK(nvd_engines_count(engines) == 27);
	DONE(nvd_engines_get(engines, 26, &engine));
	CHECK(!strcmp(engine.name, "GSP0"));
	CHECK(engine.runlist == -1);
	CHECK(engine.engine_id == -1);
	CHECK(engine.pri_base == 0x110000);
	REFUSED(nvd_engines_get(engines, 27, &engine), NVD_INVALID);

	DONE(nvd_engines_share_runlist(engines, "GR0", "LCE1", &shared));
	CHECK(shared == 1);
	DONE(nvd_engines_share_runlist(engines, "GR0", "LCE2", &shared));
	CHECK(shared == 0);
	shared = 5;
	REFUSED(nvd_engines_share_runlist(engines, "GR0", "GR9", &shared), NVD_NOT_FOUND);
	CHECK(shared == 5);
	nvd_engines_destroy(engines);
}

static void check_runlist(const nvd_gpu *gpu)
{
	struct nvd_runlist_state state = { .size = sizeof(state) };
	struct nvd_channel channel = { .size = sizeof(channel) };
	struct nvd_tsg tsg = { .size = sizeof(tsg) };
	nvd_runlist *runlist = NULL;

	DONE(nvd_runlist_read(gpu, 0, &runlist));
	DONE(nvd_runlist_get(runlist, &state));
	CHECK(state.entries == 16 && state.tsgs == 5 && state.channels == 11);
	CHECK(!state.torn && !state.pending);

	CHECK(nvd_runlist_tsg_count(runlist) == 5);
	DONE(nvd_runlist_tsg(runlist, 4, &tsg));
	CHECK(tsg.id == 10);
	CHECK(tsg.timeslice_ns == 1998848);
	CHECK(tsg.share > 0.66 && tsg.share < 0.67);
	REFUSED(nvd_runlist_tsg(runlist, 5, &tsg), NVD_INVALID);

	CHECK(nvd_runlist_channel_count(runlist) == 11);
	DONE(nvd_runlist_channel(runlist, 4, &channel));
	CHECK(channel.id == 31);
	CHECK(channel.tsg == 11 && channel.tsg_entry == 1);
	CHECK(channel.enabled == 0);
	CHECK(channel.has_instance && !strcmp(channel.instance_aperture, "vid"));
	DONE(nvd_runlist_channel(runlist, 10, &channel));
	CHECK(channel.id == 22 && channel.tsg == 10 && channel.tsg_entry == 4);
	REFUSED(nvd_runlist_channel(runlist, 11, &channel), NVD_INVALID);
	nvd_runlist_destroy(runlist);

	runlist = NULL;
	REFUSED(nvd_runlist_read(gpu, 99, &runlist), NVD_NOT_FOUND);
	CHECK(!runlist);
}

static void check_controls(const nvd_gpu *gpu)
{
	const struct nvd_target channels[] = { { 0, 5 }, { -1, 6 } };
	const struct nvd_target wrong = { -2, 5 };
	nvd_lease *lease = NULL;

	/* the folder is no live /proc */
	REFUSED(nvd_channels_disable(gpu, channels, 2), NVD_UNSUPPORTED);
	REFUSED(nvd_channels_enable(gpu, channels, 2), NVD_UNSUPPORTED);
	REFUSED(nvd_channels_enable(gpu, &wrong, 1), NVD_INVALID);
	REFUSED(nvd_lease_disable(gpu, channels, 2, &lease), NVD_UNSUPPORTED);
	CHECK(!lease);
	nvd_lease_end(lease);
}

int main(int argc, char **argv)
{
	uint32_t indexes[1] = { 99 };
	nvd_tree *tree = NULL;
	nvd_gpu *gpu = NULL;
	nvd_error *error;
	size_t count = 0;

	if (argc != 2)
		return EXIT_FAILURE;
	error = nvd_tree_open("/no/such", &tree);
	CHECK(error && nvd_error_errno(error) == 2);
	CHECK(error && !strcmp(nvd_error_path(error), "/no/such"));
	nvd_error_destroy(error);
	CHECK(!tree);

	DONE(nvd_tree_open(argv[1], &tree));
	if (!tree)
		return EXIT_FAILURE;
	DONE(nvd_tree_gpus(tree, NULL, 0, &count));
	CHECK(count == 1);
	DONE(nvd_tree_gpus(tree, indexes, 1, &count));
	CHECK(indexes[0] == 0);
	DONE(nvd_gpu_create(tree, 0, &gpu));
	nvd_tree_destroy(tree);

	check_identity(gpu);
	check_engines(gpu);
	check_runlist(gpu);
	check_controls(gpu);
	nvd_gpu_destroy(gpu);

	nvd_error_destroy(NULL);
	nvd_tree_destroy(NULL);
	nvd_gpu_destroy(NULL);
	nvd_engines_destroy(NULL);
	nvd_runlist_destroy(NULL);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
