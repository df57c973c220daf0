// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The module and GPUs come and go, with files open. Needs the module's file:
 * see module.h. Afterwards the module is loaded with default parameters.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leases.h"
#include "module.h"
#include "pci.h"
#include "state.h"
#include "suite.h"
#include "topology.h"
#include "tree.h"

#define RELOADS 10
#define READS_MAX 100000
#define FDS_MAX 1024

/* Restores the state that an earlier test, failing half way, may have left. */
static void begin(const struct gpu *gpus)
{
	for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++) {
		if (folder_exists(gpu))
			continue;
		ktap_note("%s is missing from the start", gpu->name);
		module_load("");
		pci_rescan();
		expect_folder(gpu, true, "from the start");
	}
}

/*
 * Reads a file after its GPU or module is gone: it gives old text or an error.
 */
static void expect_harmless(int fd, const char *file, const char *old,
			    size_t size)
{
	char buffer[4096];

	for (size_t at = 0; at <= size; at += 1000) {
		ssize_t got = pread(fd, buffer, sizeof(buffer), (off_t)at);

		EXPECT(got <= 0 || (at + (size_t)got <= size &&
				    !memcmp(buffer, old + at, (size_t)got)),
		       "%s: other text at %zu than before", file, at);
	}
	lseek(fd, 0, SEEK_SET);
	EXPECT(read(fd, buffer, 1) <= 1, "%s: read", file);
}

static bool is_gone(int error)
{
	return error == ENOENT || error == ENODEV || error == EIO;
}

/* Makes a walk from nowhere, which only has to end. */
static void walk_once(const struct gpu *gpu)
{
	int fd = gpu_open(gpu, "translate", O_RDWR);
	char text[512];

	if (fd < 0) {
		EXPECT(is_gone(errno), "translate: open: %s", strerror(errno));
		return;
	}
	if (write(fd, "0x1000 0", 8) == 8)
		EXPECT(read(fd, text, sizeof(text)) > 0 || is_gone(errno),
		       "translate: read: %s", strerror(errno));
	else
		EXPECT(is_gone(errno), "translate: %s", strerror(errno));
	close(fd);
}

/* Opens and reads files of a GPU over and over until stopped. */
static void read_over_and_over(const struct gpu *gpu, int started, int stop)
{
	static const char *const files[] = { "runlist0", "runlist0_brief",
		"contexts", "engines", "device_info", "copy_topology" };
	bool told = false;
	char byte;

	for (int round = 0; round < READS_MAX; round++) {
		size_t count = sizeof(files) / sizeof(*files);

		if (!folder_exists(gpu)) {
			nap();
			count = 0;
		}
		for (size_t i = 0; i < count; i++) {
			char *text = gpu_read(gpu, files[i], NULL);

			EXPECT(text || is_gone(errno), "%s: %s", files[i],
			       strerror(errno));
			EXPECT(!text || text[0] == '+' || text[0] == '#',
			       "%s: begins with %.10s", files[i], text);
			free(text);
		}
		if (count)
			walk_once(gpu);
		if (!told) {
			EXPECT(write(started, "", 1) == 1, "pipe: %s",
			       strerror(errno));
			told = true;
		}
		if (read(stop, &byte, 1) == 0)
			break;
	}
}

struct reader {
	int pid;
	int stop; /* closed to stop it */
};

static struct reader start_reader(const struct gpu *gpu)
{
	int started[2], stop[2];
	struct reader reader;
	char byte;

	ASSERT(!pipe(started) && !pipe2(stop, O_NONBLOCK | O_CLOEXEC),
	       "pipe: %s", strerror(errno));
	reader.pid = ktap_fork();
	if (reader.pid == 0) {
		close(stop[1]);
		read_over_and_over(gpu, started[1], stop[0]);
		ktap_end();
	}
	close(started[1]);
	close(stop[0]);
	ASSERT(read(started[0], &byte, 1) == 1, "the reader did not start");
	close(started[0]);
	reader.stop = stop[1];
	return reader;
}

static void stop_reader(const struct reader *reader)
{
	close(reader->stop);
	ktap_wait(reader->pid);
}

/* ---- the module ---- */

static void test_reload(const struct gpu *gpus)
{
	struct topology before;

	module_need();
	begin(gpus);
	topology_read(&before);
	for (unsigned int round = 0; round < suite_rounds(RELOADS); round++) {
		module_must_unload();
		for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++)
			EXPECT(!folder_exists(gpu), "round %u: %s is left",
			       round, gpu->folder);
		module_must_load("");
		topology_expect(&before, "after a reload");
	}
}

struct open_file {
	char name[80];
	int fd;
	char *text;
	size_t size;
};

/*
 * Opens every file and reads half of it. A file with answers gets a request
 * first.
 */
static size_t open_all(const struct gpu *gpus, struct open_file *open_files)
{
	size_t count = 0;

	for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++) {
		struct files files;

		gpu_files(gpu, 0400, &files);
		for (size_t i = 0; i < files.count && count < FDS_MAX; i++) {
			struct open_file *one = &open_files[count];
			const char *file = files.name[i];
			bool walk = !strcmp(file, "translate");

			if (file_is(file, FILE_ANSWERS) && !walk)
				continue;
			one->fd = gpu_open(gpu, file, walk ? O_RDWR : O_RDONLY);
			if (one->fd < 0)
				continue;
			EXPECT(!walk || write(one->fd, "0x1000 0", 8) == 8,
			       "%s: %s", file, strerror(errno));
			snprintf(one->name, sizeof(one->name), "%s/%s",
				 gpu->name, file);
			one->text = read_to_end(one->fd, &one->size);
			ASSERT(one->text, "%s: %s", one->name, strerror(errno));
			lseek(one->fd, (off_t)one->size / 2, SEEK_SET);
			count++;
		}
	}
	return count;
}

/* An open control, with a request that it would take. */
struct open_control {
	int fd;
	struct request request;
};

static size_t open_controls(const struct gpu *gpu, struct open_control *open)
{
	struct request requests[REQUESTS_MAX];
	size_t count = working_requests(gpu, requests);

	for (size_t i = 0; i < count; i++) {
		open[i].request = requests[i];
		open[i].fd = gpu_open(gpu, requests[i].file, O_WRONLY);
		ASSERT(open[i].fd >= 0, "%s/%s: %s", gpu->name,
		       requests[i].file, strerror(errno));
	}
	return count;
}

static void expect_dead(const struct open_control *open, size_t count,
			const char *when)
{
	for (size_t i = 0; i < count; i++)
		EXPECT(write(open[i].fd, open[i].request.text,
			     strlen(open[i].request.text)) < 0,
		       "%s: a write was taken %s", open[i].request.file, when);
}

static void close_controls(const struct open_control *open, size_t count)
{
	while (count)
		close(open[--count].fd);
}

static void test_open_across_unload(const struct gpu *gpus)
{
	static struct open_file open_files[FDS_MAX];
	static struct open_control controls[GPUS_MAX * REQUESTS_MAX];
	size_t count, control_count = 0;

	module_need();
	begin(gpus);
	for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++)
		control_count += open_controls(gpu, controls + control_count);
	count = open_all(gpus, open_files);
	ASSERT(count, "no file could be opened");
	module_must_unload();
	for (size_t i = 0; i < count; i++)
		expect_harmless(open_files[i].fd, open_files[i].name,
				open_files[i].text, open_files[i].size);
	expect_dead(controls, control_count, "without the module");
	module_must_load("");
	/*
	 * The new module has new files; the old ones stay dead, or keep the old
	 * text.
	 */
	for (size_t i = 0; i < count; i++) {
		expect_harmless(open_files[i].fd, open_files[i].name,
				open_files[i].text, open_files[i].size);
		close(open_files[i].fd);
	}
	expect_dead(controls, control_count, "by another life of the module");
	close_controls(controls, control_count);
}

/* Unloading the module withdraws a list that belongs to it. */
static void test_unload_while_switched(const struct gpu *gpus)
{
	static struct state before[GPUS_MAX];
	size_t count = 0;

	module_need();
	begin(gpus);
	for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++, count++) {
		const struct tsg *tsg;
		int error;

		before[count] = state_read(gpu);
		need_file(gpu, SWITCH);
		tsg = before[count].tsgs.at;
		ASSERT(tsg, "%s has no TSG to switch to", gpu->name);
		error = control_format(gpu, SWITCH, "%u:%u", tsg->runlist,
				       tsg->id);
		EXPECT(!error, "%s: %s", gpu->name, strerror(error));
	}
	module_must_unload();
	module_must_load("");
	for (size_t i = 0; i < count; i++)
		state_expect(&gpus[i], &before[i], "after a reload");
}

/*
 * Unloading the module ends the leases. Closing their files afterwards does
 * nothing.
 */
static void test_unload_while_leased(const struct gpu *gpus)
{
	static struct state before[GPUS_MAX];
	static int fds[GPUS_MAX][REQUESTS_MAX];
	size_t leases[GPUS_MAX], count = 0;

	module_need();
	begin(gpus);
	for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++, count++) {
		struct request requests[REQUESTS_MAX];

		before[count] = state_read(gpu);
		leases[count] = need_leases(gpu, requests);
		lease_all(gpu, requests, leases[count], fds[count]);
	}
	module_must_unload();
	module_must_load("");
	for (size_t i = 0; i < count; i++) {
		state_expect(&gpus[i], &before[i], "after a reload");
		close_all(fds[i], leases[i]);
		state_expect(&gpus[i], &before[i], "after a late close");
	}
}

static void test_unload_while_read(const struct gpu *gpus)
{
	struct topology before;
	struct reader reader;

	module_need();
	begin(gpus);
	topology_read(&before);
	reader = start_reader(gpus);
	for (unsigned int round = 0; round < suite_rounds(5); round++) {
		module_must_unload();
		module_must_load("");
	}
	stop_reader(&reader);
	topology_expect(&before, "after reloads with a reader");
}

/* ---- GPUs ---- */

static void test_remove_while_read(const struct gpu *gpu)
{
	char *text, *skeleton, *later;
	struct topology before;
	struct address address;
	struct reader reader;
	struct open_control controls[REQUESTS_MAX];
	size_t size, control_count;
	int fd;

	begin(gpu);
	need_pci(gpu, &address);
	topology_read(&before);
	fd = gpu_open(gpu, "runlist0", O_RDONLY);
	if (fd < 0 && errno == ENOENT)
		ktap_skip("%s has no runlist0", gpu->name);
	ASSERT(fd >= 0, "runlist0: %s", strerror(errno));
	text = read_to_end(fd, &size);
	ASSERT(text, "runlist0: %s", strerror(errno));
	skeleton = runlist_skeleton(text);
	control_count = open_controls(gpu, controls);

	reader = start_reader(gpu);
	pci_remove(&address);
	expect_folder(gpu, false, "after its GPU was removed");
	expect_harmless(fd, "runlist0", text, size);
	expect_dead(controls, control_count, "without a GPU");
	for (size_t i = 0; i < before.count; i++) {
		const struct gpu *other = &before.gpus[i];
		char *now;

		if (!strcmp(other->name, gpu->name))
			continue;
		EXPECT(folder_exists(other), "%s went with %s", other->name,
		       gpu->name);
		now = topology_text(other);
		EXPECT(!strcmp(now, before.text[i]), "%s changed with %s",
		       other->name, gpu->name);
		free(now);
	}
	pci_rescan();
	expect_files(gpu, "after the rescan");
	stop_reader(&reader);

	topology_expect(&before, "after removal and rescan");
	expect_harmless(fd, "runlist0", text, size);
	close(fd);
	expect_dead(controls, control_count, "by the GPU's next life");
	close_controls(controls, control_count);
	later = gpu_read(gpu, "runlist0", NULL);
	ASSERT(later, "runlist0 after the rescan: %s", strerror(errno));
	EXPECT(!strcmp(runlist_skeleton(later), skeleton),
	       "runlist0 is another one after the rescan");
}

/* Memory of a list is not freed while the removed GPU may still read it. */
static void test_remove_while_switched(const struct gpu *gpu)
{
	struct address address;
	struct topology topology;
	struct state before;
	const struct tsg *tsg;
	int error;

	begin(gpu);
	need_pci(gpu, &address);
	need_file(gpu, SWITCH);
	topology_read(&topology);
	before = state_read(gpu);
	tsg = before.tsgs.at;
	ASSERT(tsg, "no TSG to switch to");
	error = control_format(gpu, SWITCH, "%u:%u", tsg->runlist, tsg->id);
	EXPECT(!error, "switch: %s", strerror(error));
	pci_remove(&address);
	expect_folder(gpu, false, "after its GPU was removed");
	pci_rescan();
	expect_files(gpu, "after the rescan");
	state_expect(gpu, &before, "after removal and rescan");
}

static void test_remove_while_leased(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	struct topology topology;
	struct address address;
	int fds[REQUESTS_MAX];
	struct state before;
	size_t count;

	begin(gpu);
	need_pci(gpu, &address);
	topology_read(&topology);
	before = state_read(gpu);
	count = need_leases(gpu, requests);
	lease_all(gpu, requests, count, fds);
	pci_remove(&address);
	expect_folder(gpu, false, "after its GPU was removed");
	pci_rescan();
	expect_files(gpu, "after the rescan");
	state_expect(gpu, &before, "after removal and rescan");
	close_all(fds, count);
	state_expect(gpu, &before, "after a late close");
}

/* Leases are taken and dropped while the module is unloaded. */
static void test_unload_while_leasing(const struct gpu *gpus)
{
	static struct state before[GPUS_MAX];
	static int pids[GPUS_MAX];
	size_t count = 0;

	module_need();
	begin(gpus);
	for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++, count++) {
		struct request requests[REQUESTS_MAX];
		size_t leases;

		before[count] = state_read(gpu);
		leases = need_leases(gpu, requests);
		pids[count] = fork();
		ASSERT(pids[count] >= 0, "fork: %s", strerror(errno));
		for (size_t i = 0; !pids[count]; i++) {
			const struct request *one = &requests[i % leases];
			int fd = gpu_open(gpu, one->file, O_WRONLY);

			if (fd < 0) {
				nap();
				continue;
			}
			lease_through(fd, one->text);
			close(fd);
		}
	}
	for (unsigned int round = 0; round < suite_rounds(RELOADS); round++) {
		nap();
		module_must_unload();
		module_must_load("");
	}
	for (size_t i = 0; i < count; i++)
		EXPECT(!kill(pids[i], SIGKILL) &&
		       waitpid(pids[i], NULL, 0) == pids[i], "killing: %s",
		       strerror(errno));
	for (size_t i = 0; i < count; i++)
		state_expect(&gpus[i], &before[i], "after reloads");
}

/* All GPUs go, and all come back, in the same order. */
static void test_remove_all(const struct gpu *gpus)
{
	struct address address[GPUS_MAX];
	struct topology before;

	begin(gpus);
	for (size_t i = 0; gpus[i].name[0]; i++)
		need_pci(&gpus[i], &address[i]);
	topology_read(&before);
	for (size_t i = 0; i < before.count; i++)
		pci_remove(&address[i]);
	for (size_t i = 0; i < before.count; i++)
		expect_folder(&gpus[i], false, "without its GPU");
	pci_rescan();
	for (size_t i = 0; i < before.count; i++)
		expect_files(&gpus[i], "after the rescan");
	topology_expect(&before, "after the rescan");
}

/* The first GPU is absent at load, so the others count from 0 without it. */
static void test_late_gpu(const struct gpu *gpus)
{
	struct topology before, late;
	struct address address;
	char last[VALUE_MAX];

	module_need();
	begin(gpus);
	need_pci(&gpus[0], &address);
	topology_read(&before);
	module_must_unload();
	pci_remove(&address);
	module_must_load("");
	topology_read(&late);
	EXPECT(late.count == before.count - 1, "%zu of %zu GPUs", late.count,
	       before.count - 1);
	for (size_t i = 0; i < late.count && i + 1 < before.count; i++)
		EXPECT(!strcmp(late.text[i], before.text[i + 1]),
		       "%s is not the one after the absent one",
		       late.gpus[i].name);
	pci_rescan();
	expect_files(&gpus[before.count - 1], "after the rescan");
	gpu_pci_address(&gpus[before.count - 1], last);
	EXPECT(!strcmp(last, address.text), "the late GPU %s is not the last: %s",
	       address.text, last);
	module_must_unload();
	module_must_load("");
	topology_expect(&before, "after a reload with all GPUs");
}

static const struct suite_test tests[] = {
	{ "reload", "reloads give the same folders and topology",
	  test_reload, SUITE_ALL },
	{ "open_across_unload", "open files survive the module harmlessly",
	  test_open_across_unload, SUITE_ALL },
	{ "unload_while_switched", "unloading gives runlists back",
	  test_unload_while_switched, SUITE_ALL },
	{ "unload_while_leased", "and ends leases", test_unload_while_leased,
	  SUITE_ALL },
	{ "unload_while_leasing", "reloads while leases come and go",
	  test_unload_while_leasing, SUITE_ALL },
	{ "unload_while_read", "reloads while a process reads",
	  test_unload_while_read, SUITE_ALL },
	{ "remove_while_read", "a GPU leaves and comes back while it is read",
	  test_remove_while_read, 0 },
	{ "remove_while_switched", "so does the removal of the GPU",
	  test_remove_while_switched, 0 },
	{ "remove_while_leased", "and ends leases", test_remove_while_leased,
	  0 },
	{ "remove_all", "all GPUs leave and come back", test_remove_all,
	  SUITE_ALL },
	{ "late_gpu", "a GPU that comes late takes the lowest free number",
	  test_late_gpu, SUITE_ALL },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
