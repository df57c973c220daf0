// SPDX-License-Identifier: MIT OR GPL-2.0
#define _GNU_SOURCE
#include "module.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ktap.h"

static const char *module_file(void)
{
	const char *file = getenv("NVDEBUG_KO");

	return file ? file : "/lib/nvdebug.ko";
}

void module_need(void)
{
	if (access(module_file(), R_OK))
		ktap_skip("%s: %s; give its place in NVDEBUG_KO", module_file(),
			  strerror(errno));
	if (geteuid())
		ktap_skip("only root can load modules");
}

/*
 * vm/run also loads the module with this, so that the cost of a read does not
 * depend on the host's speed.
 */
#define PATIENT	"burst_us=60000000"

int module_load(const char *params)
{
	int fd = open(module_file(), O_RDONLY | O_CLOEXEC), error = 0;
	char *all;

	if (fd < 0)
		return errno;
	if (asprintf(&all, PATIENT " %s", params) < 0)
		abort();
	if (syscall(SYS_finit_module, fd, all, 0))
		error = errno;
	free(all);
	close(fd);
	return error;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "nvdebug", O_NONBLOCK) ? errno : 0;
}

void module_must_load(const char *params)
{
	int error = module_load(params);

	ASSERT(!error, "loading with \"%s\": %s", params, strerror(error));
}

void module_must_unload(void)
{
	int error = module_unload();

	ASSERT(!error, "unloading: %s", strerror(error));
}
