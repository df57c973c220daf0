// SPDX-License-Identifier: MIT OR GPL-2.0
#include "controls.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ktap.h"

int control_bytes(const struct gpu *gpu, const char *file, const void *bytes,
		  size_t size)
{
	int fd = gpu_open(gpu, file, O_WRONLY), error = 0;
	ssize_t written;

	if (fd < 0)
		return errno;
	written = write(fd, bytes, size);
	if (written < 0)
		error = errno;
	close(fd);
	EXPECT(error || (size_t)written == size,
	       "%s/%s: %zd of %zu bytes were taken", gpu->name, file, written,
	       size);
	return error;
}

int control(const struct gpu *gpu, const char *file, const char *text)
{
	return control_bytes(gpu, file, text, strlen(text));
}

void target_with_id(const struct gpu *gpu, const struct channel *channel,
		    const char *id, char target[TARGET_MAX])
{
	if (gpu_ids_are_global(gpu))
		snprintf(target, TARGET_MAX, "%s", id);
	else
		snprintf(target, TARGET_MAX, "%u:%s", channel->runlist, id);
}

void target_of(const struct gpu *gpu, const struct channel *channel,
	       char target[TARGET_MAX])
{
	char id[16];

	snprintf(id, sizeof(id), "%u", channel->id);
	target_with_id(gpu, channel, id, target);
}

void set_enabled(const struct gpu *gpu, const struct channel *channel,
		 bool enabled)
{
	const char *file = enabled ? ENABLE : DISABLE;
	char target[TARGET_MAX];
	int error;

	target_of(gpu, channel, target);
	error = control(gpu, file, target);
	ASSERT(!error, "%s/%s: \"%s\": %s", gpu->name, file, target,
	       strerror(error));
}

bool is_enabled(const struct gpu *gpu, const struct channel *channel)
{
	struct channels now = { NULL, 0 };
	const struct channel *found;
	char file[32], *text;
	bool enabled;

	snprintf(file, sizeof(file), "runlist%u", channel->runlist);
	text = gpu_read(gpu, file, NULL);
	ASSERT(text, "%s/%s: %s", gpu->name, file, strerror(errno));
	runlist_channels(text, channel->runlist, &now);
	found = channels_find(&now, channel);
	ASSERT(found, "%s/%s: channel %u is gone", gpu->name, file,
	       channel->id);
	enabled = found->enabled;
	free(now.at);
	free(text);
	return enabled;
}

struct channels enabled_channels(const struct gpu *gpu, size_t least)
{
	struct channels channels;
	size_t count = 0;

	if (!gpu_has(gpu, DISABLE))
		ktap_skip("%s has no channel controls", gpu->name);
	channels = gpu_channels(gpu);
	for (size_t i = 0; i < channels.count; i++) {
		struct channels kept = { channels.at, count };

		if (channels.at[i].enabled &&
		    !channels_find(&kept, &channels.at[i]))
			channels.at[count++] = channels.at[i];
	}
	channels.count = count;
	if (count < least)
		ktap_skip("%s has %zu enabled channels, need %zu", gpu->name,
			  count, least);
	return channels;
}

size_t restore_channels(const struct gpu *gpu, const struct channels *before)
{
	struct channels now = gpu_channels(gpu);
	size_t changed = 0;

	for (size_t i = 0; i < before->count; i++) {
		const struct channel *was = &before->at[i], *is;
		char target[TARGET_MAX];

		is = i < now.count && channels_match(was, &now.at[i]) ?
		     &now.at[i] : channels_find(&now, was);
		if (!is || is->enabled == was->enabled)
			continue;
		changed++;
		target_of(gpu, was, target);
		control(gpu, was->enabled ? ENABLE : DISABLE, target);
	}
	free(now.at);
	return changed;
}
