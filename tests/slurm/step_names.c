// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Prints how the plugin reads a step's variables, which are this program's own:
 * the names of the step's GPUs, one on each line, and "mig" if they are parts
 * of GPUs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/slurm/step.h"

spank_err_t spank_getenv(spank_t spank, const char *name, char *text, int size)
{
	const char *value = getenv(name);

	(void)spank;
	if (!value)
		return ESPANK_ENV_NOEXIST;
	if ((int)strlen(value) >= size)
		return ESPANK_NOSPACE;
	strcpy(text, value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	va_list list;

	(void)spank;
	va_start(list, item);
	*va_arg(list, uint32_t *) = item == S_JOB_ID ? 17 : 0;
	va_end(list);
	return ESPANK_SUCCESS;
}

int main(void)
{
	struct step step;

	if (!step_read(NULL, &step))
		return 1;
	for (size_t gpu = 0; gpu < step.gpus.count; gpu++)
		printf("%s\n", step.gpus.name[gpu]);
	if (step.has_mig)
		printf("mig\n");
	return 0;
}
