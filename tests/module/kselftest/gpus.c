// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpus.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ktap.h"

const char *proc_root(void)
{
	const char *root = getenv("NVDEBUG_PROC");

	return root ? root : "/proc";
}

static int by_number(const void *a, const void *b)
{
	const struct gpu *left = a, *right = b;

	return atoi(left->name + 3) - atoi(right->name + 3);
}

size_t gpus_find(struct gpu gpus[GPUS_MAX + 1])
{
	DIR *folder = opendir(proc_root());
	struct dirent *entry;
	size_t count = 0;

	while (folder && count < GPUS_MAX && (entry = readdir(folder))) {
		unsigned int number;
		int end = 0;

		if (sscanf(entry->d_name, "gpu%u%n", &number, &end) != 1 ||
		    entry->d_name[end])
			continue;
		snprintf(gpus[count].name, sizeof(gpus[count].name), "gpu%u",
			 number);
		snprintf(gpus[count].folder, sizeof(gpus[count].folder),
			 "%s/gpu%u", proc_root(), number);
		count++;
	}
	if (folder)
		closedir(folder);
	qsort(gpus, count, sizeof(*gpus), by_number);
	memset(&gpus[count], 0, sizeof(*gpus));
	return count;
}

char *read_to_end(int fd, size_t *size)
{
	size_t room = 16384, used = 0;
	char *text = malloc(room);

	for (;;) {
		ssize_t got = text ? read(fd, text + used, room - used - 1) : -1;

		if (got < 0) {
			free(text);
			return NULL;
		}
		if (got == 0)
			break;
		used += (size_t)got;
		if (room - used < 4096) {
			room *= 2;
			text = realloc(text, room);
		}
	}
	text[used] = '\0';
	if (size)
		*size = used;
	return text;
}

static void gpu_path(const struct gpu *gpu, const char *file, char path[300])
{
	snprintf(path, 300, "%s/%s", gpu->folder, file);
}

int gpu_open(const struct gpu *gpu, const char *file, int flags)
{
	char path[300];

	gpu_path(gpu, file, path);
	return open(path, flags | O_CLOEXEC);
}

bool gpu_has(const struct gpu *gpu, const char *file)
{
	char path[300];

	gpu_path(gpu, file, path);
	return !access(path, F_OK);
}

char *gpu_read(const struct gpu *gpu, const char *file, size_t *size)
{
	int fd = gpu_open(gpu, file, O_RDONLY), error;
	char *text;

	if (fd < 0)
		return NULL;
	text = read_to_end(fd, size);
	error = errno;
	close(fd);
	errno = error;
	return text;
}

bool gpu_file_of(int fd, unsigned int *gpu, char file[48])
{
	char link[40], path[300], *at;
	int error = errno;
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	errno = error;
	if (length < 0)
		return false;
	path[length] = '\0';
	/* The path of a file that is gone has " (deleted)" behind the name. */
	at = strstr(path, "/gpu");
	return at && sscanf(at, "/gpu%u/%47s", gpu, file) == 2;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

void gpu_files(const struct gpu *gpu, unsigned int mode, struct files *files)
{
	DIR *folder = opendir(gpu->folder);
	struct dirent *entry;

	ASSERT(folder, "%s: %s", gpu->folder, strerror(errno));
	files->count = 0;
	while ((entry = readdir(folder))) {
		struct stat status;

		if (fstatat(dirfd(folder), entry->d_name, &status, 0) ||
		    !S_ISREG(status.st_mode) || (status.st_mode & mode) != mode)
			continue;
		ASSERT(files->count < FILES_MAX &&
		       strlen(entry->d_name) < sizeof(files->name[0]),
		       "%s: more or longer names than this test has room for",
		       gpu->folder);
		strcpy(files->name[files->count++], entry->d_name);
	}
	closedir(folder);
	qsort(files->name, files->count, sizeof(files->name[0]), by_name);
}

void gpu_info(const struct gpu *gpu, const char *key, char value[VALUE_MAX])
{
	char *text = gpu_read(gpu, "info", NULL), *line, *rest;
	size_t length = strlen(key);

	ASSERT(text, "%s/info: %s", gpu->name, strerror(errno));
	value[0] = '\0';
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (!strncmp(line, key, length) &&
		    !strncmp(line + length, ": ", 2))
			snprintf(value, VALUE_MAX, "%s", line + length + 2);
	free(text);
}

void gpu_pci_address(const struct gpu *gpu, char value[VALUE_MAX])
{
	char device[VALUE_MAX], path[VALUE_MAX + 64], *parent;

	gpu_info(gpu, "pci_address", value);
	if (strcmp(value, "-"))
		return;
	gpu_info(gpu, "platform_device", device);
	snprintf(path, sizeof(path), "/sys/bus/platform/devices/%s/..", device);
	parent = realpath(path, NULL);
	if (!parent)
		return;
	snprintf(value, VALUE_MAX, "%s", strrchr(parent, '/') + 1);
	free(parent);
}

bool gpu_ids_are_global(const struct gpu *gpu)
{
	char value[VALUE_MAX];

	gpu_info(gpu, "channel_ids", value);
	return !strcmp(value, "global");
}

size_t gpu_runlists(const struct gpu *gpu, unsigned int *runlists, size_t max)
{
	struct files files;
	size_t count = 0;

	gpu_files(gpu, 0, &files);
	for (size_t i = 0; i < files.count && count < max; i++) {
		int end = 0;

		if (sscanf(files.name[i], "runlist%u%n", &runlists[count],
			   &end) == 1 && !files.name[i][end])
			count++;
	}
	return count;
}
