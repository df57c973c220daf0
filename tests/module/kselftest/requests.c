// SPDX-License-Identifier: MIT OR GPL-2.0
#include "requests.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "leases.h"

#define SEVERAL 3

struct named named_read(const struct gpu *gpu)
{
	return (struct named){ gpu_channels(gpu), gpu_tsgs(gpu) };
}

static bool is_one_of(const char *file, const char *const *files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(file, files[i]))
			return true;
	return false;
}

#define IS_ONE_OF(file, files) \
	is_one_of(file, files, sizeof(files) / sizeof(*(files)))

static bool takes_several(const char *file)
{
	static const char *const files[] = { DISABLE, ENABLE, PREEMPT_TSG,
					     PREEMPT_RUNLIST, RESUBMIT,
					     SCHEDULING };

	return IS_ONE_OF(file, files);
}

/* Picks a channel, preferably one with a preemption mode. */
static const struct channel *any_channel(const struct named *named,
					 struct rng *rng)
{
	const struct channel *channel = NULL;

	for (size_t tries = 0; tries < named->channels.count; tries++) {
		channel = &named->channels.at[rng_below(rng,
						named->channels.count)];
		if (isalpha((unsigned char)channel->compute[0]))
			break;
	}
	return channel;
}

static int put_name(const struct named *named, struct rng *rng,
		    const char *file, char *text, size_t room)
{
	static const char *const of_runlists[] = { PREEMPT_RUNLIST, RESUBMIT,
						   SCHEDULING };
	static const char *const of_tsgs[] = { PREEMPT_TSG, SWITCH, TIMESLICE };
	const struct tsg *tsg =
		&named->tsgs.at[rng_below(rng, named->tsgs.count)];
	const struct channel *channel;

	if (IS_ONE_OF(file, of_runlists))
		return snprintf(text, room, "%u", tsg->runlist);
	if (IS_ONE_OF(file, of_tsgs))
		return snprintf(text, room, "%u:%u", tsg->runlist, tsg->id);
	channel = strcmp(file, MODE) ?
		  &named->channels.at[rng_below(rng, named->channels.count)] :
		  any_channel(named, rng);
	return snprintf(text, room, "%u:%u", channel->runlist, channel->id);
}

/* Puts the rest of a request, behind the name of its target. */
static int put_rest(struct rng *rng, const char *file, char *text, size_t room)
{
	if (!strcmp(file, TIMESLICE))
		return snprintf(text, room, " %zu.%zu",
				64 + rng_below(rng, 4000), rng_below(rng, 10));
	if (!strcmp(file, SCHEDULING))
		return snprintf(text, room, " %s",
				rng_once_in(rng, 3) ? "off" : "on");
	if (!strcmp(file, MODE))
		return snprintf(text, room, " %s",
				rng_once_in(rng, 2) ? "wfi" : "cta");
	if (!strcmp(file, "translate"))
		return snprintf(text, room, " %#llx%s",
				(unsigned long long)rng_next(rng) >> 24,
				rng_once_in(rng, 2) ? " base" : "");
	text[0] = '\0';
	return 0;
}

size_t any_request(const struct named *named, struct rng *rng, const char *file,
		   char text[REQUEST_MAX])
{
	size_t targets = takes_several(file) ? 1 + rng_below(rng, SEVERAL) : 1;
	int size = 0;

	if (!named->channels.count || !named->tsgs.count)
		return 0;
	if (is_leasable(file) && rng_once_in(rng, 2))
		size = snprintf(text, REQUEST_MAX, "lease");
	while (targets--) {
		if (size)
			text[size++] = ' ';
		size += put_name(named, rng, file, text + size,
				 REQUEST_MAX - (size_t)size);
		size += put_rest(rng, file, text + size,
				 REQUEST_MAX - (size_t)size);
	}
	return (size_t)size;
}
