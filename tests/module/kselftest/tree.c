// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tree.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ktap.h"

#define PUBLIC 0444
#define STATE 0400
#define CONTROL 0200
#define BOTH 0600

const struct file_kind file_kinds[] = {
	{ "info", PUBLIC, 0, UNKNOWN, BLACKWELL, NULL },
	{ "device_info", PUBLIC, 0, KEPLER, BLACKWELL, "device_info" },
	{ "runlist#", STATE, FILE_MEMORY, KEPLER, BLACKWELL, "runlist" },
	{ "runlist#_brief", STATE, FILE_MEMORY, KEPLER, BLACKWELL, "runlist" },
	{ "contexts", STATE, FILE_MEMORY, KEPLER, BLACKWELL, "contexts" },
	{ "engines", STATE, FILE_MOVES, KEPLER, BLACKWELL, "engines" },
	{ "translate", BOTH, FILE_ANSWERS, KEPLER, BLACKWELL, NULL },
	{ "disable_channel", CONTROL, 0, KEPLER, BLACKWELL, "channel_control" },
	{ "enable_channel", CONTROL, 0, KEPLER, BLACKWELL, "channel_control" },
	{ "preempt_tsg", CONTROL, 0, KEPLER, BLACKWELL, "runlist_control" },
	{ "switch_to_tsg", CONTROL, 0, KEPLER, BLACKWELL, "runlist_control" },
	{ "set_timeslice", BOTH, FILE_ANSWERS, KEPLER, BLACKWELL,
	  "runlist_control" },
	{ "preempt_runlist", CONTROL, 0, KEPLER, BLACKWELL, "runlist_control" },
	{ "resubmit_runlist", CONTROL, 0, KEPLER, BLACKWELL,
	  "runlist_control" },
	{ "scheduling", BOTH, 0, KEPLER, BLACKWELL, "runlist_control" },
	{ "preemption_mode", CONTROL, 0, PASCAL, BLACKWELL, "preemption_mode" },
	{ "pce_map", STATE, 0, PASCAL, BLACKWELL, "copy_topology" },
	{ "lce_for_pce#", STATE, FILE_UNCONNECTED, PASCAL, BLACKWELL,
	  "copy_topology" },
	{ "shared_lce_for_grce#", STATE, FILE_UNCONNECTED, PASCAL, BLACKWELL,
	  "copy_topology" },
	{ "copy_topology", STATE, 0, PASCAL, BLACKWELL, "copy_topology" },
	{ "num_gpcs", PUBLIC, 0, KEPLER, BLACKWELL, "gpc_topology" },
	{ "num_tpc_per_gpc", PUBLIC, 0, KEPLER, BLACKWELL, "gpc_topology" },
	{ "num_ces", PUBLIC, 0, KEPLER, BLACKWELL, "gpc_topology" },
	{ "num_fbps", PUBLIC, 0, KEPLER, BLACKWELL, "gpc_topology" },
	{ "num_ltcs", PUBLIC, 0, MAXWELL, BLACKWELL, "gpc_topology" },
	{ "gpc_mask", PUBLIC, 0, KEPLER, BLACKWELL, "gpc_topology" },
	{ "gpc#_tpc_mask", PUBLIC, 0, KEPLER, BLACKWELL, "gpc_topology" },
	{ "sm_map", STATE, FILE_OF_SOME, MAXWELL, BLACKWELL,
	  "work_distributor" },
	{ "work_distributor", STATE, FILE_OF_SOME, MAXWELL, BLACKWELL,
	  "work_distributor" },
	{ "local_memory", PUBLIC, 0, KEPLER, BLACKWELL, NULL },
	{ "ptimer", STATE, FILE_MOVES, KEPLER, BLACKWELL, NULL },
};

const size_t file_kind_count = sizeof(file_kinds) / sizeof(*file_kinds);

static bool is_named(const char *file, const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern != '#') {
			if (*file++ != *pattern)
				return false;
			continue;
		}
		if (!isdigit((unsigned char)*file))
			return false;
		while (isdigit((unsigned char)*file))
			file++;
	}
	return !*file;
}

const struct file_kind *file_kind(const char *file)
{
	for (size_t i = 0; i < file_kind_count; i++)
		if (is_named(file, file_kinds[i].name))
			return &file_kinds[i];
	return NULL;
}

bool file_is(const char *file, unsigned int flag)
{
	const struct file_kind *kind = file_kind(file);

	return kind && (kind->flags & flag);
}

bool file_is_state(const char *file)
{
	const struct file_kind *kind = file_kind(file);

	return kind && kind->mode == STATE;
}

static void keep(struct files *files, bool (*wanted)(const char *file))
{
	size_t kept = 0;

	for (size_t i = 0; i < files->count; i++)
		if (wanted(files->name[i]))
			memmove(files->name[kept++], files->name[i],
				sizeof(files->name[i]));
	files->count = kept;
}

static bool is_text(const char *file)
{
	return !file_is(file, FILE_ANSWERS);
}

void gpu_texts(const struct gpu *gpu, unsigned int mode, struct files *files)
{
	gpu_files(gpu, mode, files);
	keep(files, is_text);
}

static bool is_control(const char *file)
{
	return strcmp(file, "translate") != 0;
}

void gpu_controls(const struct gpu *gpu, struct files *files)
{
	gpu_files(gpu, 0200, files);
	keep(files, is_control);
}

bool gpu_feature(const struct gpu *gpu, const char *name)
{
	char key[VALUE_MAX], value[VALUE_MAX];

	snprintf(key, sizeof(key), "feature %s", name);
	gpu_info(gpu, key, value);
	return !strcmp(value, "yes");
}

enum generation gpu_generation(const struct gpu *gpu)
{
	static const char *const names[] = {
		[KEPLER] = "Kepler", [MAXWELL] = "Maxwell",
		[PASCAL] = "Pascal", [VOLTA] = "Volta",
		[TURING] = "Turing", [AMPERE] = "Ampere", [ADA] = "Ada",
		[HOPPER] = "Hopper", [BLACKWELL] = "Blackwell",
	};
	char chip[VALUE_MAX], name[VALUE_MAX];

	gpu_info(gpu, "chip", chip);
	gpu_info(gpu, "generation", name);
	if (!strncmp(chip, "GM10", 4))
		return KEPLER;
	for (int i = KEPLER; i <= BLACKWELL; i++)
		if (!strcmp(name, names[i]))
			return (enum generation)i;
	return UNKNOWN;
}

bool file_fits(const struct file_kind *kind, enum generation generation)
{
	return generation >= kind->first && generation <= kind->last;
}

void need_file(const struct gpu *gpu, const char *file)
{
	char name[VALUE_MAX];

	if (gpu_has(gpu, file))
		return;
	gpu_info(gpu, "generation", name);
	ASSERT(!file_fits(file_kind(file), gpu_generation(gpu)) ||
	       file_is(file, FILE_OF_SOME),
	       "%s: %s is missing on %s", gpu->name, file, name);
	ktap_skip("%s has no %s", name, file);
}
