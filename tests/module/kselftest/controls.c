// SPDX-License-Identifier: MIT OR GPL-2.0
#include "controls.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ktap.h"
#include "tree.h"

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

int control_format(const struct gpu *gpu, const char *file, const char *format,
		   ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return control(gpu, file, text);
}

/*
 * Finds a channel with a preemption mode in its context, so that it can get
 * another mode.
 */
static const struct channel *with_mode(const struct channels *channels)
{
	for (size_t i = 0; i < channels->count; i++)
		if (isalpha((unsigned char)channels->at[i].compute[0]))
			return &channels->at[i];
	return &channels->at[0];
}

static bool fill_request(const struct gpu *gpu, const struct tsg *tsg,
			 const struct channels *channels,
			 struct request *request)
{
	const struct channel *channel = &channels->at[0];
	char *text = request->text;
	const char *file = request->file;
	size_t room = sizeof(request->text);

	if (!strcmp(file, DISABLE) || !strcmp(file, ENABLE)) {
		bool wanted = !strcmp(file, DISABLE);

		for (size_t i = 0; i < channels->count; i++)
			if (channels->at[i].enabled == wanted)
				channel = &channels->at[i];
		target_of(gpu, channel, text);
	} else if (!strcmp(file, PREEMPT_TSG) || !strcmp(file, SWITCH)) {
		snprintf(text, room, "%u:%u", tsg->runlist, tsg->id);
	} else if (!strcmp(file, TIMESLICE)) {
		snprintf(text, room, "%u:%u %s", tsg->runlist, tsg->id,
			 tsg->timeout == 77 ? "1000" : "78.848");
	} else if (!strcmp(file, PREEMPT_RUNLIST) || !strcmp(file, RESUBMIT)) {
		snprintf(text, room, "%u", tsg->runlist);
	} else if (!strcmp(file, SCHEDULING)) {
		snprintf(text, room, "%u off", tsg->runlist);
	} else if (!strcmp(file, MODE)) {
		channel = with_mode(channels);
		snprintf(text, room, "%u:%u %s", channel->runlist, channel->id,
			 strcmp(channel->compute, "WFI") ? "wfi" : "cta");
	} else {
		return false;
	}
	return true;
}

size_t working_requests(const struct gpu *gpu,
			struct request requests[REQUESTS_MAX])
{
	static struct files files;
	struct channels channels;
	struct tsgs tsgs;
	size_t count = 0;

	gpu_controls(gpu, &files);
	channels = gpu_channels(gpu);
	tsgs = gpu_tsgs(gpu);
	for (size_t i = 0; i < files.count; i++) {
		struct request *request = &requests[count];
		const struct file_kind *kind = file_kind(files.name[i]);

		ASSERT(kind && count < REQUESTS_MAX,
		       "%s/%s: a control that this test does not know",
		       gpu->name, files.name[i]);
		if (!channels.count || !tsgs.count)
			break;
		request->file = kind->name;
		if (fill_request(gpu, &tsgs.at[0], &channels, request))
			count++;
		else
			EXPECT(false, "%s/%s: no request for it", gpu->name,
			       files.name[i]);
	}
	free(channels.at);
	free(tsgs.at);
	return count;
}

size_t need_requests(const struct gpu *gpu,
		     struct request requests[REQUESTS_MAX])
{
	size_t count = working_requests(gpu, requests);

	if (!count)
		ktap_skip("%s has no controls, or no TSG to try them with",
			  gpu->name);
	return count;
}

void target_of(const struct gpu *gpu, const struct channel *channel,
	       char target[TARGET_MAX])
{
	if (gpu_ids_are_global(gpu))
		snprintf(target, TARGET_MAX, "%u", channel->id);
	else
		snprintf(target, TARGET_MAX, "%u:%u", channel->runlist,
			 channel->id);
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
	char *text = gpu_runlist(gpu, channel->runlist);
	struct channels now = { NULL, 0 };
	const struct channel *found;
	bool enabled;

	runlist_channels(text, channel->runlist, &now);
	found = channels_find(&now, channel);
	ASSERT(found, "%s/runlist%u: channel %u is gone", gpu->name,
	       channel->runlist, channel->id);
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

void restore_channels(const struct gpu *gpu, const struct channels *before)
{
	struct channels now = gpu_channels(gpu);

	for (size_t i = 0; i < before->count; i++) {
		const struct channel *was = &before->at[i], *is;
		char target[TARGET_MAX];

		is = i < now.count && channels_match(was, &now.at[i]) ?
		     &now.at[i] : channels_find(&now, was);
		if (!is || is->enabled == was->enabled)
			continue;
		target_of(gpu, was, target);
		control(gpu, was->enabled ? ENABLE : DISABLE, target);
	}
	free(now.at);
}
