// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The guest's PID 1. Mounts the usual file systems, loads the modules named in
 * /etc/modules, then serves commands that arrive on the virtio-serial port
 * "nvdebug.agent" until the host requests power off.
 *
 * Every message is a 1-byte type, a 4-byte little-endian length and a payload:
 *   host to guest: 'C' run payload with /bin/sh -c; 'W' rows and columns of
 *     /dev/hvc0 (2 bytes each), also while a command runs; 'Q' power off
 *   guest to host: 'R' ready; 'O' stdout; 'E' stderr; 'X' exit status (4 bytes)
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGENT_PORT "nvdebug.agent"
#define PORT_LINKS "/dev/virtio-ports"
#define TERMINAL "/dev/hvc0"
#define COMMAND_MAX (1U << 20)

/*
 * Prints on the console log, where the host shows the message if no 'R'
 * arrives.
 */
static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(": %s\n", strerror(errno));
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void mount_one(const char *type, const char *where)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, NULL))
		die("init: mount %s", where);
}

static void load_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die("init: open %s", path);
	if (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)
		die("init: load %s", path);
	close(fd);
}

static void load_modules(void)
{
	char line[256];
	FILE *list = fopen("/etc/modules", "re");

	if (!list)
		die("init: open /etc/modules");
	while (fgets(line, sizeof(line), list)) {
		line[strcspn(line, "\n")] = '\0';
		load_module(line);
	}
	fclose(list);
}

/*
 * Makes the links that udev would make: programs and shells expect them, for
 * "<(...)" for example.
 */
static void link_descriptors(void)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/dev/fd" },
		{ "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" },
		{ "/proc/self/fd/2", "/dev/stderr" },
	};
	size_t n;

	for (n = 0; n < sizeof(links) / sizeof(links[0]); n++)
		if (symlink(links[n][0], links[n][1]) && errno != EEXIST)
			die("init: symlink %s", links[n][1]);
}

/*
 * Makes the link that udev would make: /dev/virtio-ports/NAME for a port that
 * has a name.
 */
static int link_port(const char *port, const char *name)
{
	char path[300], target[300];

	snprintf(target, sizeof(target), "/dev/%s", port);
	snprintf(path, sizeof(path), PORT_LINKS "/%s", name);
	if (symlink(target, path) && errno != EEXIST)
		die("init: symlink %s", path);
	return !strcmp(name, AGENT_PORT);
}

static int count_entries(DIR *folder)
{
	int count = 0;

	while (readdir(folder))
		count++;
	rewinddir(folder);
	return count;
}

/* Links every port, unless all ports had their names before. */
static int link_ports(void)
{
	static int linked;
	DIR *ports = opendir("/sys/class/virtio-ports");
	struct dirent *port;
	int found_agent = 0, count;

	if (!ports)
		return 0;
	count = count_entries(ports);
	if (count == linked) {
		closedir(ports);
		return 0;
	}
	mkdir(PORT_LINKS, 0755);
	linked = 2; /* two entries are . and .. */
	while ((port = readdir(ports))) {
		char path[300], name[128] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name",
			 port->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file)) {
			name[strcspn(name, "\n")] = '\0';
			linked++;
			found_agent |= link_port(port->d_name, name);
		}
		fclose(file);
	}
	closedir(ports);
	return found_agent;
}

static int open_agent_port(void)
{
	/*
	 * Ports appear asynchronously, so wait for 10 s, far longer than a boot
	 * takes.
	 */
	for (int tries = 0; tries < 1000; tries++) {
		int fd;

		if (link_ports()) {
			fd = open(PORT_LINKS "/" AGENT_PORT, O_RDWR | O_CLOEXEC);
			if (fd >= 0)
				return fd;
		}
		usleep(10000);
	}
	die("init: no port " AGENT_PORT);
}

static void write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die("init: write to the host");
		at += n;
		size -= (size_t)n;
	}
}

static void read_all(int fd, void *data, size_t size)
{
	char *at = data;

	while (size) {
		ssize_t n = read(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die("init: read from the host");
		if (n == 0) {
			/* The host's end is not connected yet. */
			usleep(1000);
			continue;
		}
		at += n;
		size -= (size_t)n;
	}
}

static void send_message(int fd, char type, const void *data, uint32_t size)
{
	char header[5];

	header[0] = type;
	memcpy(header + 1, &size, sizeof(size));
	write_all(fd, header, sizeof(header));
	write_all(fd, data, size);
}

static uint32_t receive_header(int port, char *type)
{
	char header[5];
	uint32_t size;

	read_all(port, header, sizeof(header));
	memcpy(&size, header + 1, sizeof(size));
	*type = header[0];
	return size;
}

static void __attribute__((noreturn)) die_of_message(char type, uint32_t size)
{
	errno = EPROTO;
	die("init: message %#x of %u bytes", type, size);
}

/* Sets the size; the kernel sends SIGWINCH to the programs on the terminal. */
static void set_terminal_size(int port, uint32_t message_size)
{
	uint16_t sizes[2];
	struct winsize size = { 0 };
	int fd;

	if (message_size != sizeof(sizes))
		die_of_message('W', message_size);
	read_all(port, sizes, sizeof(sizes));
	size.ws_row = sizes[0];
	size.ws_col = sizes[1];
	fd = open(TERMINAL, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return;
	ioctl(fd, TIOCSWINSZ, &size);
	close(fd);
}

static pid_t start_shell(const char *command, int out, int err)
{
	pid_t pid = fork();
	int null;

	if (pid < 0)
		die("init: fork");
	if (pid)
		return pid;
	setsid();
	null = open("/dev/null", O_RDONLY);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* Sends the contents of a pipe; returns false once the pipe is at its end. */
static int forward(int port, char type, int fd)
{
	static char buffer[64 * 1024];
	ssize_t n = read(fd, buffer, sizeof(buffer));

	if (n > 0)
		send_message(port, type, buffer, (uint32_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

/*
 * Forwards both pipes until they are at their end, or until the command has
 * ended and they are empty: a process that it left behind may hold them open.
 * Meanwhile the host may send the terminal's size.
 */
static int pump(int port, pid_t pid, int out, int err)
{
	struct pollfd pipes[3] = {
		{ .fd = out, .events = POLLIN },
		{ .fd = err, .events = POLLIN },
		{ .fd = port, .events = POLLIN },
	};
	int status, ended = 0;

	for (;;) {
		int open_pipes = pipes[0].fd >= 0 || pipes[1].fd >= 0;
		int ready = poll(pipes, ended ? 2 : 3,
				 ended ? 0 : open_pipes ? 20 : 1);

		if (ready < 0 && errno != EINTR)
			die("init: poll");
		if (ended && ready <= 0)
			return status;
		for (int i = 0; i < 2; i++)
			if (pipes[i].fd >= 0 && pipes[i].revents &&
			    !forward(port, i ? 'E' : 'O', pipes[i].fd))
				pipes[i].fd = -1;
		if (!ended && pipes[2].revents & POLLIN) {
			char type;
			uint32_t size = receive_header(port, &type);

			if (type != 'W')
				die_of_message(type, size);
			set_terminal_size(port, size);
		}
		/* PID 1 inherits orphans, so they are reaped on the way. */
		while (!ended) {
			pid_t child = waitpid(-1, &status, WNOHANG);

			if (child <= 0)
				break;
			ended = child == pid;
		}
	}
}

static int32_t run_command(int port, const char *command)
{
	int out[2], err[2], status;
	pid_t pid;

	/* More ports may have appeared after the agent's. */
	link_ports();
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		die("init: pipe");
	pid = start_shell(command, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	status = pump(port, pid, out[0], err[0]);
	close(out[0]);
	close(err[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

static void serve(int port)
{
	send_message(port, 'R', NULL, 0);
	for (;;) {
		char type, *command;
		uint32_t size = receive_header(port, &type);
		int32_t status;

		if (type == 'Q')
			return;
		if (type == 'W') {
			set_terminal_size(port, size);
			continue;
		}
		if (type != 'C' || size > COMMAND_MAX)
			die_of_message(type, size);
		command = malloc(size + 1);
		if (!command)
			die("init: %u bytes for a command", size);
		read_all(port, command, size);
		command[size] = '\0';
		status = run_command(port, command);
		free(command);
		send_message(port, 'X', &status, sizeof(status));
	}
}

int main(void)
{
	int port;

	mount_one("proc", "/proc");
	mount_one("sysfs", "/sys");
	mount_one("devtmpfs", "/dev");
	link_descriptors();
	mount_one("tmpfs", "/tmp");
	mount_one("securityfs", "/sys/kernel/security");
	mount_one("tracefs", "/sys/kernel/tracing");
	mount_one("debugfs", "/sys/kernel/debug");
	chmod("/tmp", 01777);
	setenv("PATH", "/bin:/sbin:/usr/bin:/usr/sbin", 1);
	setenv("HOME", "/", 1);
	load_modules();
	port = open_agent_port();
	serve(port);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
