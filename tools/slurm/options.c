// SPDX-License-Identifier: MIT OR GPL-2.0
#include "options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Parts of the time are numbers of millionths, so four decimals of a percentage
 * count.
 */
#define WHOLE 1000000L
#define DECIMALS 4
#define TPCS_MOST 999
#define WEIGHT_MOST 1000

static const char *const names[OPTIONS] = {
	[OPTION_SHARE] = "gpu-share",
	[OPTION_CAP] = "gpu-cap",
	[OPTION_TPCS] = "gpu-tpcs",
	[OPTION_TIMESLICE] = "gpu-timeslice",
	[OPTION_LATENCY] = "gpu-latency",
	[OPTION_BEST_EFFORT] = "gpu-best-effort",
	[OPTION_GANG] = "gpu-gang",
};

/*
 * The names of goals in nvqos(1). TPCs are not among them, because nvtaskset
 * gives them, and neither is a gang, which says how a goal is kept.
 */
static const char *const goals[OPTIONS] = {
	[OPTION_SHARE] = "share",
	[OPTION_CAP] = "cap",
	[OPTION_TIMESLICE] = "timeslice",
	[OPTION_LATENCY] = "latency",
	[OPTION_BEST_EFFORT] = "best-effort",
};

const char *option_name(enum option option)
{
	return names[option];
}

const char *option_short_name(enum option option)
{
	return names[option] + strlen("gpu-");
}

/*
 * Parses a number without a sign, up to most. Returns its end; NULL: there is
 * no such number.
 */
static const char *parse_number(const char *text, long most, long *number)
{
	const char *at = text;

	*number = 0;
	while (isdigit((unsigned char)*at) && *number <= most)
		*number = *number * 10 + (*at++ - '0');
	return at == text || *number > most ? NULL : at;
}

long option_part(const char *text)
{
	long part, decimals = 0;
	const char *at = parse_number(text, 100, &part);
	int count = 0;

	if (!at)
		return 0;
	if (*at == '.') {
		at++;
		for (; isdigit((unsigned char)*at) && count < DECIMALS; count++)
			decimals = decimals * 10 + (*at++ - '0');
		if (!count)
			return 0;
	}
	for (; count < DECIMALS; count++)
		decimals *= 10;
	part = part * (WHOLE / 100) + decimals;
	return strcmp(at, "%") == 0 && part <= WHOLE ? part : 0;
}

/*
 * Returns whether the text is a time above 0, such as "500us", "1.5ms" or "2s".
 */
static bool is_time(const char *text)
{
	const char *at = text;
	bool any = false;

	if (!isdigit((unsigned char)*at))
		return false;
	for (; isdigit((unsigned char)*at); at++)
		any |= *at != '0';
	if (*at == '.') {
		if (!isdigit((unsigned char)*++at))
			return false;
		for (; isdigit((unsigned char)*at); at++)
			any |= *at != '0';
	}
	return any && (strcmp(at, "us") == 0 || strcmp(at, "ms") == 0 ||
		       strcmp(at, "s") == 0);
}

static bool is_tpcs(const char *text)
{
	long number;
	const char *end = parse_number(text, TPCS_MOST, &number);

	if (!end || number < 1)
		return false;
	return !*end || (strcmp(end, "%") == 0 && number <= 100);
}

static bool is_weight(const char *text)
{
	long number;
	const char *end = parse_number(text, WEIGHT_MOST, &number);

	return end && !*end && number >= 1;
}

bool options_read(bool allowed[static OPTIONS], const char *list)
{
	const char *at = list;

	memset(allowed, 0, OPTIONS * sizeof(*allowed));
	while (*list) {
		size_t length = strcspn(at, ",");
		int option = 0;

		while (option < OPTIONS &&
		       (strlen(option_short_name(option)) != length ||
			strncmp(at, option_short_name(option), length) != 0))
			option++;
		if (option == OPTIONS)
			return false;
		allowed[option] = true;
		if (!at[length])
			break;
		at += length + 1;
	}
	return true;
}

/*
 * Returns a description of the values that the option takes, if this value is
 * wrong; NULL: the value is right.
 */
static const char *wanted(enum option option, const char *value)
{
	switch (option) {
	case OPTION_SHARE:
	case OPTION_CAP:
		return option_part(value) ?
			       NULL :
			       "a part of the GPU's time as 30%, above 0 and at most 100%, with four decimals at most";
	case OPTION_TPCS:
		return is_tpcs(value) ?
			       NULL :
			       "a number of TPCs, 8, or a part of the GPU's SMs, 25%";
	case OPTION_TIMESLICE:
		return is_time(value) ? NULL : "a time as 500us, 2ms or 1s";
	case OPTION_BEST_EFFORT:
		return !*value || is_weight(value) ?
			       NULL :
			       "a weight of 1 to 1000, or nothing";
	case OPTION_GANG:
		return strcmp(value, "off") == 0 || strcmp(value, "on") == 0 ?
			       NULL :
			       "off, if the job's tasks on several GPUs do not wait for each other, or on";
	default:
		return *value ? "no value" : NULL;
	}
}

void option_printable(const char *text, char out[static VALUE_SIZE])
{
	size_t at = 0;

	for (; text[at] && at < VALUE_SIZE - 1; at++)
		out[at] = isprint((unsigned char)text[at]) ? text[at] : '?';
	out[at] = 0;
}

bool asked_add(struct asked *asked, enum option option, const char *value,
	       char sentence[static SENTENCE_SIZE])
{
	const char *text = value ? value : "";
	const char *what = wanted(option, text);
	char shown[VALUE_SIZE];

	if (!what && strlen(text) >= VALUE_SIZE)
		what = "a shorter value";
	if (what) {
		option_printable(text, shown);
		snprintf(sentence, SENTENCE_SIZE, "--%s takes %s, not '%s'",
			 names[option], what, shown);
		return false;
	}
	asked->given[option] = asked->by_user[option] = true;
	snprintf(asked->value[option], VALUE_SIZE, "%s", text);
	return true;
}

/*
 * Returns false, with a sentence, if another option is given beside this one.
 */
static bool check_alone(const struct asked *asked, enum option option,
			const char *why, char sentence[static SENTENCE_SIZE])
{
	if (!asked->given[option])
		return true;
	for (int other = 0; other < OPTIONS; other++) {
		if (other == (int)option || !asked->given[other])
			continue;
		snprintf(sentence, SENTENCE_SIZE,
			 "--%s and --%s make no sense together: %s",
			 names[option], names[other], why);
		return false;
	}
	return true;
}

bool asked_check(const struct asked *asked,
		 char sentence[static SENTENCE_SIZE])
{
	static const enum option aims[] = {OPTION_SHARE, OPTION_LATENCY,
					   OPTION_BEST_EFFORT};
	int first = -1;

	if (!check_alone(asked, OPTION_TPCS,
			 "tasks with TPCs of their own run at the same time, as clients of one MPS server, whose time is that of all of them",
			 sentence) ||
	    !check_alone(asked, OPTION_TIMESLICE,
			 "a timeslice is set once, and the others change it all the time",
			 sentence))
		return false;
	for (size_t at = 0; at < sizeof(aims) / sizeof(*aims); at++) {
		if (!asked->given[aims[at]])
			continue;
		if (first >= 0) {
			snprintf(sentence, SENTENCE_SIZE,
				 "--%s and --%s make no sense together: a job has one of --gpu-share, --gpu-latency and --gpu-best-effort",
				 names[first], names[aims[at]]);
			return false;
		}
		first = (int)aims[at];
	}
	if (asked->given[OPTION_SHARE] && asked->given[OPTION_CAP] &&
	    option_part(asked->value[OPTION_CAP]) <
		    option_part(asked->value[OPTION_SHARE])) {
		snprintf(sentence, SENTENCE_SIZE,
			 "--gpu-cap=%s is less than --gpu-share=%s",
			 asked->value[OPTION_CAP], asked->value[OPTION_SHARE]);
		return false;
	}
	return true;
}

bool asked_has_goal(const struct asked *asked)
{
	for (int option = 0; option < OPTIONS; option++)
		if (asked->given[option] && goals[option])
			return true;
	return false;
}

/*
 * Returns whether nvqos takes the goal for tasks on several nodes. Timeslices,
 * and a cap of a job that is served first, have no windows by the clock.
 */
static bool can_have_windows(const struct asked *asked)
{
	return !asked->given[OPTION_TIMESLICE] &&
	       !(asked->given[OPTION_LATENCY] && asked->given[OPTION_CAP]);
}

void asked_goal(const struct asked *asked, bool is_on_other_nodes, char *goal,
		size_t size)
{
	const char *gang = "";
	size_t used = 0;

	goal[0] = 0;
	for (int option = 0; option < OPTIONS && used < size; option++) {
		const char *value = asked->value[option];

		if (!asked->given[option] || !goals[option])
			continue;
		used += (size_t)snprintf(goal + used, size - used, "%s%s%s%s",
					 used ? "," : "", goals[option],
					 *value ? ":" : "", value);
	}
	if (strcmp(asked->value[OPTION_GANG], "off") == 0)
		gang = GANG_OFF;
	else if (is_on_other_nodes && can_have_windows(asked))
		gang = GANG_NODES;
	if (used && used < size)
		snprintf(goal + used, size - used, "%s", gang);
}

static void set_part(struct asked *asked, enum option option, long part)
{
	asked->given[option] = true;
	snprintf(asked->value[option], VALUE_SIZE, "%ld.%04ld%%",
		 part / (WHOLE / 100), part % (WHOLE / 100));
}

/*
 * Returns false, with a sentence, if the option asks for a larger part than the
 * shards make up.
 */
static bool fits_time(const struct asked *asked, enum option option, long part,
		      const struct shards *shards,
		      char sentence[static SENTENCE_SIZE])
{
	if (!asked->given[option] || option_part(asked->value[option]) <= part)
		return true;
	snprintf(sentence, SENTENCE_SIZE,
		 "--%s=%s is more than the step's shards allow: %ld.%04ld%%, as it has %lu of %lu shards, less a twentieth, which switching takes",
		 names[option], asked->value[option], part / (WHOLE / 100),
		 part % (WHOLE / 100), shards->count,
		 shards->per_gpu * shards->gpus);
	return false;
}

static bool fits_tpcs(const struct asked *asked, const struct shards *shards,
		      size_t tasks, char sentence[static SENTENCE_SIZE])
{
	const char *value = asked->value[OPTION_TPCS];
	unsigned long all = shards->per_gpu * shards->gpus;
	unsigned long most = 100 * shards->count / all / (tasks ? tasks : 1);
	long number;
	const char *end = parse_number(value, TPCS_MOST, &number);

	if (end && *end == '%' && (unsigned long)number <= most)
		return true;
	snprintf(sentence, SENTENCE_SIZE,
		 "--%s=%s may be more than the step's shards allow: with %lu of %lu shards, each of its %zu tasks may have --%s=%lu%%",
		 names[OPTION_TPCS], value, shards->count, all, tasks,
		 names[OPTION_TPCS], most);
	return false;
}

bool asked_fit(struct asked *asked, const struct shards *shards, size_t tasks,
	       char sentence[static SENTENCE_SIZE])
{
	unsigned long all = shards->per_gpu * shards->gpus;
	long part;

	if (shards->count > all) {
		snprintf(sentence, SENTENCE_SIZE,
			 "the step has %lu shards of %lu GPUs, and plugstack.conf has shards=%lu for each: correct it to gres.conf's Count of shards for a GPU",
			 shards->count, shards->gpus, shards->per_gpu);
		return false;
	}
	part = (long)(WHOLE / 20 * 19 * shards->count / all);
	if (!asked_has_goal(asked) && !asked->given[OPTION_TPCS]) {
		set_part(asked, OPTION_SHARE, part);
		asked->from_shards = true;
		return true;
	}
	if (asked->given[OPTION_TPCS])
		return fits_tpcs(asked, shards, tasks, sentence);
	if (asked->given[OPTION_TIMESLICE]) {
		snprintf(sentence, SENTENCE_SIZE,
			 "--%s has no bound in the GPU's time, of which the step's %lu of %lu shards allow %ld.%04ld%%: ask for --%s",
			 names[OPTION_TIMESLICE], shards->count, all,
			 part / (WHOLE / 100), part % (WHOLE / 100),
			 names[OPTION_SHARE]);
		return false;
	}
	if (!fits_time(asked, OPTION_SHARE, part, shards, sentence) ||
	    !fits_time(asked, OPTION_CAP, part, shards, sentence))
		return false;
	if (!asked->given[OPTION_SHARE] && !asked->given[OPTION_CAP])
		set_part(asked, OPTION_CAP, part);
	return true;
}
