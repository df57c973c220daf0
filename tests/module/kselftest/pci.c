// SPDX-License-Identifier: MIT OR GPL-2.0
#include "pci.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"

#define PCI "/sys/bus/pci/"
#define NAPS_MAX 500

void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 10 * 1000 * 1000 }, NULL);
}

static int pci_write_one(const char *file)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, "1", 1) != 1)
		error = errno;
	close(fd);
	return error;
}

static void remove_path(const struct address *address, char path[100])
{
	snprintf(path, 100, PCI "devices/%.40s/remove", address->text);
}

void pci_rescan(void)
{
	int error = pci_write_one(PCI "rescan");

	ASSERT(!error, PCI "rescan: %s", strerror(error));
}

int pci_try_remove(const struct address *address)
{
	char path[100];

	remove_path(address, path);
	return pci_write_one(path);
}

void pci_remove(const struct address *address)
{
	int error = pci_try_remove(address);

	ASSERT(!error, "removing %s: %s", address->text, strerror(error));
}

void need_pci(const struct gpu *gpu, struct address *address)
{
	char path[100];

	gpu_pci_address(gpu, address->text);
	remove_path(address, path);
	if (access(path, W_OK))
		ktap_skip("%s: %s", path, strerror(errno));
}

#define DRIVER "pcigpu"

static int pci_write(const char *file, const char *text)
{
	ssize_t length = (ssize_t)strlen(text);
	int fd = open(file, O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, (size_t)length) != length)
		error = errno;
	close(fd);
	return error;
}

/* Returns whether the GPU is a SoC's. Such a GPU has its driver already. */
static bool is_integrated(const struct gpu *gpu)
{
	char value[VALUE_MAX];

	gpu_info(gpu, "platform_device", value);
	return strcmp(value, "-");
}

/* Sets the driver that the device is for, or none with "\n". */
static void override_driver(const struct address *address, const char *driver)
{
	char path[100];
	int error;

	snprintf(path, sizeof(path), PCI "devices/%.40s/driver_override",
		 address->text);
	error = pci_write(path, driver);
	ASSERT(!error, "%s: %s", path, strerror(error));
}

void pci_bind(const struct gpu *gpu)
{
	struct address address;
	int error;

	if (is_integrated(gpu))
		return;
	if (access(PCI "drivers/" DRIVER, F_OK))
		ktap_skip("no driver " DRIVER);
	gpu_pci_address(gpu, address.text);
	override_driver(&address, DRIVER);
	error = pci_write(PCI "drivers/" DRIVER "/bind", address.text);
	ASSERT(!error, "binding %s: %s", address.text, strerror(error));
}

void pci_unbind(const struct gpu *gpu)
{
	struct address address;
	int error;

	if (is_integrated(gpu))
		return;
	gpu_pci_address(gpu, address.text);
	error = pci_write(PCI "drivers/" DRIVER "/unbind", address.text);
	ASSERT(!error, "unbinding %s: %s", address.text, strerror(error));
	override_driver(&address, "\n");
}

bool folder_exists(const struct gpu *gpu)
{
	return !access(gpu->folder, F_OK);
}

void expect_folder(const struct gpu *gpu, bool there, const char *when)
{
	for (int tries = 0; tries < NAPS_MAX; tries++) {
		if (folder_exists(gpu) == there)
			return;
		nap();
	}
	EXPECT(false, "%s is %s %s", gpu->folder, there ? "missing" : "there",
	       when);
}

void expect_files(const struct gpu *gpu, const char *when)
{
	for (int tries = 0; tries < NAPS_MAX; tries++) {
		if (gpu_has(gpu, "info"))
			return;
		nap();
	}
	EXPECT(false, "%s/info is missing %s", gpu->folder, when);
}
