// SPDX-License-Identifier: MIT OR GPL-2.0
#include "job_limit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"
#define LINE_BYTES 1024

static bool is_user(const struct identity *identity, const char *value)
{
	char uid[16];

	snprintf(uid, sizeof(uid), "%u", identity->uid);
	return strcmp(identity->user, value) == 0 || strcmp(uid, value) == 0;
}

/*
 * Reads a word of a line. Clears @fits for a condition that the job does not
 * meet. Returns false if it is no such word.
 */
static bool read_word(char *word, const struct identity *identity,
		      struct limit *limit, bool *fits)
{
	const struct {
		const char *name, *value;
	} names[] = {{"account", identity->account},
		     {"partition", identity->partition},
		     {"qos", identity->qos}};
	char *value = strchr(word, '=');
	size_t used = strlen(limit->conditions);

	if (!value)
		return false;
	*value++ = 0;
	if (strcmp(word, "share") == 0) {
		limit->has_share = option_part(value) != 0;
		snprintf(limit->share, VALUE_SIZE, "%s", value);
		return limit->has_share && strlen(value) < VALUE_SIZE;
	}
	if (strcmp(word, "allow") == 0) {
		limit->has_options = true;
		return options_read(limit->allowed, value);
	}
	if (!*value)
		return false;
	snprintf(limit->conditions + used, CONDITIONS_SIZE - used, "%s%s=%s",
		 used ? " " : "", word, value);
	for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++)
		if (strcmp(word, names[at].name) == 0) {
			*fits &= strcmp(value, names[at].value) == 0;
			return true;
		}
	*fits &= is_user(identity, value);
	return strcmp(word, "user") == 0;
}

bool limit_read(FILE *file, const char *path, const struct identity *identity,
		struct limit *limit, char sentence[static SENTENCE_SIZE])
{
	char line[LINE_BYTES], shown[VALUE_SIZE];
	bool is_found = false;

	memset(limit, 0, sizeof(*limit));
	for (unsigned int number = 1; fgets(line, sizeof(line), file);
	     number++) {
		struct limit read = {.line = number};
		bool fits = true, any = false;
		char *rest = NULL;

		if (!strchr(line, '\n') && !feof(file)) {
			snprintf(sentence, SENTENCE_SIZE,
				 "%.200s, line %u is longer than %d bytes: its administrator has to correct it",
				 path, number, LINE_BYTES - 2);
			return false;
		}
		line[strcspn(line, "#")] = 0;
		for (char *word = strtok_r(line, BLANKS, &rest); word;
		     word = strtok_r(NULL, BLANKS, &rest)) {
			option_printable(word, shown);
			any = true;
			if (read_word(word, identity, &read, &fits))
				continue;
			snprintf(sentence, SENTENCE_SIZE,
				 "%.200s, line %u has '%s': a line has account=, partition=, qos= and user=, and then share=PART (as 25%%) and allow=OPTIONS (as share,cap); its administrator has to correct it",
				 path, number, shown);
			return false;
		}
		if (any && fits && !is_found) {
			*limit = read;
			is_found = true;
		}
	}
	if (ferror(file)) {
		snprintf(sentence, SENTENCE_SIZE,
			 "%.200s cannot be read to its end on this node: %s",
			 path, strerror(errno));
		return false;
	}
	return true;
}

/* Writes the limit's origin: "account=students (/etc/…, line 3)". */
static const char *origin(const struct limit *limit, const char *path,
			  char text[static SENTENCE_SIZE])
{
	snprintf(text, SENTENCE_SIZE, "%s (%.120s, line %u)",
		 *limit->conditions ? limit->conditions : "all jobs", path,
		 limit->line);
	return text;
}

bool limit_fit(const struct limit *limit, const char *path, struct asked *asked,
	       size_t tasks, char sentence[static SENTENCE_SIZE])
{
	static const enum option parts[] = {OPTION_SHARE, OPTION_CAP};
	const long most = option_part(limit->share);
	const char *tpcs = asked->value[OPTION_TPCS];
	char from[SENTENCE_SIZE];

	origin(limit, path, from);
	for (int option = 0; limit->has_options && option < OPTIONS; option++) {
		if (!asked->by_user[option] || limit->allowed[option])
			continue;
		snprintf(sentence, SENTENCE_SIZE,
			 "--%s is not allowed for %.300s",
			 option_name(option), from);
		return false;
	}
	if (!limit->has_share)
		return true;
	/* The user has not asked for a cap that shards have set. */
	if (!asked->by_user[OPTION_CAP] &&
	    option_part(asked->value[OPTION_CAP]) > most)
		asked->given[OPTION_CAP] = false;
	for (size_t at = 0; at < sizeof(parts) / sizeof(*parts); at++) {
		const char *value = asked->value[parts[at]];

		if (!asked->given[parts[at]] || option_part(value) <= most)
			continue;
		snprintf(sentence, SENTENCE_SIZE,
			 "%s%s=%s is more than %s, the most for %.300s",
			 asked->from_shards ? "the step's shards are --" : "--",
			 option_name(parts[at]), value, limit->share, from);
		return false;
	}
	if (asked->given[OPTION_TIMESLICE] ||
	    (asked->given[OPTION_TPCS] &&
	     (!strchr(tpcs, '%') || option_part(tpcs) * (long)tasks > most))) {
		const enum option option = asked->given[OPTION_TPCS] ?
						   OPTION_TPCS :
						   OPTION_TIMESLICE;

		snprintf(sentence, SENTENCE_SIZE,
			 "--%s=%s %s %s, the most for %.300s", option_name(option),
			 asked->value[option],
			 option == OPTION_TPCS ?
				 "for each task is not known to be within" :
				 "has no bound within",
			 limit->share, from);
		return false;
	}
	if (asked_has_goal(asked) && !asked->given[OPTION_SHARE] &&
	    !asked->given[OPTION_CAP]) {
		asked->given[OPTION_CAP] = true;
		snprintf(asked->value[OPTION_CAP], VALUE_SIZE, "%s",
			 limit->share);
	}
	return true;
}
