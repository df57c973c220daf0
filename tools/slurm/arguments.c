// SPDX-License-Identifier: MIT OR GPL-2.0
#include "arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MOST 60
#define SHARDS_MOST 10000

/*
 * Returns the text after "name=" in the word; NULL: the word begins otherwise.
 */
static const char *value_of(const char *word, const char *name)
{
	size_t length = strlen(name);

	return strncmp(word, name, length) == 0 && word[length] == '=' ?
		       word + length + 1 :
		       NULL;
}

/* Returns a number from 1 to most; 0: the text is no such number. */
static unsigned long number_of(const char *text, unsigned long most)
{
	char *end;
	unsigned long number;

	if (!isdigit((unsigned char)*text))
		return 0;
	number = strtoul(text, &end, 10);
	return *end || number > most ? 0 : number;
}

static bool read_word(struct arguments *arguments, const char *word)
{
	const char *value;

	if (strcmp(word, "best-effort") == 0) {
		arguments->best_effort = true;
	} else if (strcmp(word, "all-gpus") == 0) {
		arguments->all_gpus = true;
	} else if (strcmp(word, "account") == 0) {
		arguments->account = true;
	} else if ((value = value_of(word, "socket"))) {
		arguments->service.path = value;
		return *value == '/';
	} else if ((value = value_of(word, "nvtaskset"))) {
		arguments->nvtaskset = value;
		return *value == '/';
	} else if ((value = value_of(word, "timeout"))) {
		arguments->service.timeout_ms =
			1000 * (int)number_of(value, SECONDS_MOST);
		return arguments->service.timeout_ms > 0;
	} else if ((value = value_of(word, "allow"))) {
		return options_read(arguments->allowed, value);
	} else if ((value = value_of(word, "limits"))) {
		arguments->limits = value;
		return *value == '/';
	} else if ((value = value_of(word, "shards"))) {
		arguments->shards = number_of(value, SHARDS_MOST);
		return arguments->shards > 0;
	} else {
		return false;
	}
	return true;
}

bool arguments_read(struct arguments *arguments, int count, char *words[],
		    char sentence[static SENTENCE_SIZE])
{
	*arguments = (struct arguments){
		.service = {.path = "/run/nvdebug/nvqos.sock",
			    .timeout_ms = 5000},
		.nvtaskset = NVTASKSET,
		/* the other options would take the GPU from other jobs */
		.allowed = {[OPTION_SHARE] = true,
			    [OPTION_CAP] = true,
			    [OPTION_TPCS] = true,
			    [OPTION_BEST_EFFORT] = true,
			    [OPTION_GANG] = true},
	};
	for (int at = 0; at < count; at++) {
		if (read_word(arguments, words[at]))
			continue;
		snprintf(sentence, SENTENCE_SIZE,
			 "plugstack.conf gives spank_nvdebug.so '%.100s': it takes socket=/PATH, timeout=SECONDS (1 to 60), shards=NUMBER, allow=OPTIONS (as share,cap), limits=/PATH, nvtaskset=/PATH, account, all-gpus and best-effort",
			 words[at]);
		return false;
	}
	return true;
}

bool arguments_allow(const struct arguments *arguments, enum option option,
		     char sentence[static SENTENCE_SIZE])
{
	size_t used;

	if (arguments->allowed[option])
		return true;
	used = (size_t)snprintf(sentence, SENTENCE_SIZE,
				"the cluster's administrator does not allow --%s (plugstack.conf, allow=); these are allowed:",
				option_name(option));
	for (int other = 0; other < OPTIONS; other++)
		if (arguments->allowed[other])
			used += (size_t)snprintf(sentence + used,
						 SENTENCE_SIZE - used, " --%s",
						 option_name(other));
	if (sentence[used - 1] == ':')
		snprintf(sentence + used, SENTENCE_SIZE - used, " none");
	return false;
}
