// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tree.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PUBLIC 0444
#define STATE 0400
#define CONTROL 0200
#define BOTH 0600

static const struct file_kind kinds[] = {
	{ "info", PUBLIC, 0 },
	{ "device_info", PUBLIC, 0 },
	{ "runlist#", STATE, FILE_MEMORY },
	{ "runlist#_brief", STATE, FILE_MEMORY },
	{ "contexts", STATE, FILE_MEMORY },
	{ "engines", STATE, FILE_MOVES },
	{ "translate", BOTH, FILE_ANSWERS },
	{ "disable_channel", CONTROL, 0 },
	{ "enable_channel", CONTROL, 0 },
	{ "preempt_tsg", CONTROL, 0 },
	{ "switch_to_tsg", CONTROL, 0 },
	{ "set_timeslice", BOTH, FILE_ANSWERS },
	{ "preempt_runlist", CONTROL, 0 },
	{ "resubmit_runlist", CONTROL, 0 },
	{ "scheduling", BOTH, 0 },
	{ "preemption_mode", CONTROL, 0 },
	{ "pce_map", PUBLIC, 0 },
	{ "lce_for_pce#", PUBLIC, FILE_UNCONNECTED },
	{ "shared_lce_for_grce#", PUBLIC, FILE_UNCONNECTED },
	{ "copy_topology", PUBLIC, 0 },
	{ "num_gpcs", PUBLIC, 0 },
	{ "num_tpc_per_gpc", PUBLIC, 0 },
	{ "num_ces", PUBLIC, 0 },
	{ "num_fbps", PUBLIC, 0 },
	{ "num_ltcs", PUBLIC, 0 },
	{ "gpc_mask", PUBLIC, 0 },
	{ "gpc#_tpc_mask", PUBLIC, 0 },
	{ "sm_map", PUBLIC, 0 },
	{ "work_distributor", STATE, 0 },
	{ "local_memory", PUBLIC, 0 },
	{ "ptimer", PUBLIC, FILE_MOVES },
};

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
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (is_named(file, kinds[i].name))
			return &kinds[i];
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
