// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * pace RESOURCE FILE ACCESSES REPEATS: reads FILE, then the first word of a PCI resource ACCESSES
 * times, and prints the nanoseconds that each took; all of that REPEATS times.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * UINT64_C(1000000000) + time.tv_nsec;
}

static const volatile uint32_t *mapped(const char *resource)
{
	int fd = open(resource, O_RDWR | O_SYNC);
	void *at;

	if (fd < 0)
		err(1, "%s", resource);
	at = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		err(1, "%s: mmap", resource);
	close(fd);
	return at;
}

static uint64_t time_of_file(const char *file)
{
	static char text[1 << 16];
	uint64_t begin = now();
	int fd = open(file, O_RDONLY);
	ssize_t got;

	if (fd < 0)
		err(1, "%s", file);
	do
		got = read(fd, text, sizeof(text));
	while (got > 0);
	if (got < 0)
		err(1, "%s", file);
	close(fd);
	return now() - begin;
}

static uint64_t time_of_loop(const volatile uint32_t *word, unsigned long accesses)
{
	uint64_t begin = now();

	while (accesses--)
		(void)*word;
	return now() - begin;
}

int main(int argc, char **argv)
{
	const volatile uint32_t *word;
	unsigned long accesses, repeats;

	if (argc != 5)
		errx(1, "usage: pace RESOURCE FILE ACCESSES REPEATS");
	word = mapped(argv[1]);
	accesses = strtoul(argv[3], NULL, 10);
	for (repeats = strtoul(argv[4], NULL, 10); repeats; repeats--) {
		uint64_t file = time_of_file(argv[2]);

		printf("%llu %llu\n", (unsigned long long)file,
		       (unsigned long long)time_of_loop(word, accesses));
	}
	return 0;
}
