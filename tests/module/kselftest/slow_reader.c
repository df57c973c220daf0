// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Reads a file into memory that never comes (userfaultfd(2)). The task stays
 * inside of read() until it is killed, as with memory of a FUSE server.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BYTES	4096

int main(int argc, char **argv)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register memory = {
		.range.len = BYTES,
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	void *into = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memory.range.start = (unsigned long)into;
	if (file < 0 || into == MAP_FAILED || ioctl(faults, UFFDIO_API, &api) ||
	    ioctl(faults, UFFDIO_REGISTER, &memory)) {
		perror("slow_reader");
		return 1;
	}
	return read(file, into, BYTES) < 0;
}
