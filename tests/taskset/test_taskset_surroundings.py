# SPDX-License-Identifier: MIT OR GPL-2.0
"""The surroundings of nvtaskset: processes, locks, folders, and NVIDIA's MPS."""

import contextlib
import fcntl
import os
import pathlib
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys

import pytest
from desk import FAILED, LIBRARY, PATIENCE_S, PROGRAM, REFUSED, TOOL, TOOL_WORD, UNSUPPORTED, sms_in, sms_of
from throwaway_root import needs_root


# --- the terminal and processes ---

def test_names_do_not_reach_the_terminal(desk):
    """A command's name has colours, a title, a bell and a mark that reverses text."""
    program = desk.folder / os.fsdecode(b"a\x1b[31m\x1b]0;x\x07\xe2\x80\xae")
    shutil.copy(PROGRAM, program)
    running = desk.start_command("--no-mps -t 0-3", program, "device 0", "-")
    assert running.hear() == "ok" and running.launch()
    for words in (("-p", running.pid), ("--list",), ("--no-mps", "-x", "-t", "0", "true"),
                  ("--no-mps", "-t", "0", f"/nonexistent/{program.name}")):
        done = subprocess.run([str(word) for word in (TOOL, *words)], env=desk.env, check=False, capture_output=True)
        text = done.stdout + done.stderr
        assert b"a\xef\xbf\xbd[31m" in text and not re.search(rb"[\x00-\x09\x0b-\x1f\xff]|\xe2\x80\xae", text)


WAIT_ALL = """
import os, time
for _ in range(2):
    if os.fork() == 0:
        time.sleep(0.2)
        os._exit(0)
ended = 0
while True:
    try:
        os.wait()
        ended += 1
    except ChildProcessError:
        break
print(ended, os.getpid(), flush=True)
"""
SUBREAPER = "import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1, 0, 0, 0); os.execvp(sys.argv[1], sys.argv[1:])"
FAMILIES = (("unshare", "-pf", "--kill-child", "--mount-proc"), (sys.executable, "-c", SUBREAPER), ())


@pytest.mark.parametrize("before", FAMILIES)
def test_the_command_has_its_own_children_alone(desk, before):
    if before and before[0] == "unshare":
        needs_root()
    result = desk.command(*before, TOOL, "--no-mps", "-t", "0-3", sys.executable, "-c", WAIT_ALL)
    assert result.status == 0 and result.out.split()[0] == "2", result.err


@pytest.mark.parametrize("before", FAMILIES)
def test_the_mps_daemon_is_no_child_of_the_command(control, before, tmp_path):
    """The command waits for all its children, and the daemon, which runs on in a session of its own, is none of them."""
    control.does(f'case "$*" in *-d*) setsid sleep 600 > /dev/null 2>&1 & echo $! > {tmp_path}/daemon;; esac')
    (tmp_path / "wait.py").write_text(WAIT_ALL)
    command = shlex.join(str(word) for word in (*before, TOOL, "-t", "0-3", sys.executable, tmp_path / "wait.py"))
    result = control.shell(f"timeout -k 1 {PATIENCE_S} {command}")
    assert result.status == 0 and result.out.split()[0] == "2", result.err
    assert (tmp_path / "daemon").exists()
    if not before or before[0] != "unshare":
        os.kill(int((tmp_path / "daemon").read_text()), signal.SIGKILL)


def test_the_watcher_keeps_nothing_of_the_command(desk):
    """The watcher holds no lock, pipe or folder that the command has left."""
    lock = desk.folder / "lock"
    place = desk.folder / "place"
    place.mkdir()
    read, write = os.pipe()
    script = f"exec 9> {lock}; flock 9; exec {TOOL_WORD} --no-mps -t 0 bash -c 'exec 9>&- {write}>&-; cd /; echo begun; read line'"
    process = subprocess.Popen(["bash", "-c", script], env=desk.env, cwd=place, pass_fds=(write,), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    os.close(write)
    try:
        assert process.stdout.readline() == b"begun\n"
        assert select.select([read], [], [], PATIENCE_S)[0] and os.read(read, 1) == b""
        assert subprocess.run(["flock", "-n", lock, "true"], check=False).returncode == 0
        for folder in pathlib.Path("/proc").glob("[0-9]*/cwd"):
            with contextlib.suppress(OSError):
                assert folder.readlink() != place
    finally:
        process.communicate(b"\n")
        os.close(read)


@pytest.mark.parametrize("signal_name", ("SIGCHLD", "SIGPIPE"))
def test_signals_are_the_commands(desk, signal_name):
    """Signals that are ignored stay ignored for the command, and do not disturb nvtaskset."""
    number = getattr(signal, signal_name)
    start = f"import os, signal, sys; signal.signal({int(number)}, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])"
    for ignored, before in ((True, (sys.executable, "-c", start)), (False, ())):
        result = desk.command(*before, TOOL, "--no-mps", "-t", "0", "grep", "SigIgn", "/proc/self/status")
        assert bool(int(result.out.split()[1], 16) >> (number - 1) & 1) == ignored
    (desk.folder / "bin").mkdir()
    result = desk.command(sys.executable, "-c", start, TOOL, "--list", "--probe", LD_LIBRARY_PATH="/nonexistent")
    assert result.status == UNSUPPORTED and "CUDA (libcuda.so.1" in result.err


@pytest.mark.parametrize("words", (("--list",), ("--list", "-j"), ("-p",), ("-p", "-j"), ("--help",), ("--version",)))
def test_output_that_cannot_be_written(desk, words):
    program = desk.start("-t 0")
    if words[0] == "-p":
        words = (*words, str(program.pid))
    for to in ("> /dev/full", ">&-"):
        result = desk.command("sh", "-c", f"exec {TOOL_WORD} {' '.join(words)} {to}")
        assert result.status == FAILED and "cannot write" in result.err


def test_a_lock_that_another_holds(desk):
    """A choice waits for the lock for some seconds, and then names its holder. A task that chooses no TPCs does not wait."""
    needs_root()
    desk.done("--list")
    script = f"""
        mount -t tmpfs none /run
        mkdir -m 700 /run/nvtaskset
        flock /run/nvtaskset/lock sh -c 'echo $$; sleep 1000' &
        until [ -e /run/nvtaskset/lock ] && ! flock -n /run/nvtaskset/lock true; do sleep 0.01; done
        {TOOL_WORD} --no-mps -t 0 true && {TOOL_WORD} --prepare true && echo free
        for choice in '-s 2' '-x -t 0'; do
            ({TOOL_WORD} --no-mps $choice true; echo $?) &
            all="$all $!"
        done
        wait $all
        """
    result = desk.command("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script)
    assert result.answers[1:] == ["free", "2", "2"], result.err
    for line in result.err.splitlines():
        assert re.search(r"process \d+ \((flock|sh|sleep)\) holds the lock /run/nvtaskset/lock",
                         line) or "Terminated" in line


def test_a_lock_of_others_means_nothing(desk):
    with open(LIBRARY, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert desk.run("-x -s 2", "launch").status == 0


def test_the_probe_is_kept_in_the_users_own_folder(open_desk):
    """Root with another user's HOME or cache does not use the folder there."""
    needs_root()
    desk = open_desk
    home = desk.folder / "home"
    (home / ".cache/nvtaskset").mkdir(parents=True)
    for folder in (home, home / ".cache", home / ".cache/nvtaskset"):
        os.chown(folder, 65534, 65534)
    del desk.env["XDG_CACHE_HOME"]
    for env in ({"HOME": str(home)}, {"XDG_CACHE_HOME": str(home / ".cache")}):
        desk.done("--list", **env)
        assert not list((home / ".cache/nvtaskset").iterdir())


def test_root_finds_its_probe_without_a_home(desk):
    """Root finds its probe without a HOME, as in a service, and with any cache."""
    needs_root()
    desk.done("--list")
    probes = len(desk.launches("nvtaskset"))
    assert probes
    cache = desk.env.pop("XDG_CACHE_HOME")
    home = desk.env.pop("HOME", None)
    desk.done("--list")
    desk.done("--list", HOME=str(desk.folder))
    desk.done("--list", XDG_CACHE_HOME=f"{desk.folder}/other")
    assert len(desk.launches("nvtaskset")) == probes
    desk.env["XDG_CACHE_HOME"] = cache
    if home:
        desk.env["HOME"] = home
    assert not pathlib.Path(cache).exists() and not (desk.folder / "other").exists() and not (desk.folder / ".cache").exists()


def test_a_probe_that_another_put_there(desk):
    needs_root()
    desk.done("--list")
    kept = desk.kept()
    text = kept.read_text()
    target = desk.folder / "target"
    target.write_text("mine")
    for spoil in (lambda: os.chown(kept, 65534, 65534), lambda: (shutil.move(kept, desk.folder / "map"), kept.symlink_to(desk.folder / "map")),
                  lambda: (kept.unlink(), os.mkfifo(kept))):
        before = len(desk.launches("nvtaskset"))
        spoil()
        assert sms_in(desk.run("-t 0", "launch").answers[0]) == sms_of(0)
        assert len(desk.launches("nvtaskset")) > before and kept.read_text() == text and not kept.is_symlink()
        assert target.read_text() == "mine"


# --- MPS ---

# A script in the place of NVIDIA's control program. It records how it was called, and runs the file `does` beside it.
CONTROL = r"""#!/bin/bash
here=$(dirname "$0")
{ echo "called $* in $PWD"; env; ls -l /proc/$$/fd; grep SigIgn /proc/$$/status; } >> "$here/calls"
. "$here/does"
case "$*" in
-d) : > "$CUDA_MPS_PIPE_DIRECTORY/control" ;;
*) read line; [ "$line" != quit ] || rm "$CUDA_MPS_PIPE_DIRECTORY/control" ;;
esac
exit 0
"""


class Control:
    """Runs commands with the script in the place of NVIDIA's program, in a mount namespace with an empty /run."""

    def __init__(self, desk, folder):
        needs_root()
        self.desk, self.bin = desk, folder / "bin"
        self.bin.mkdir()
        self.program = self.bin / "nvidia-cuda-mps-control"
        self.program.write_text(CONTROL)
        self.program.chmod(0o755)
        self.does("")
        self.path = f"{self.bin}:{os.environ['PATH']}"

    def does(self, script):
        (self.bin / "does").write_text(script)

    def calls(self):
        file = self.bin / "calls"
        return file.read_text() if file.exists() else ""

    def shell(self, script, **env):
        return self.desk.command("unshare", "--mount", "sh", "-c",
                                 f"mount -t tmpfs none /run && mount -t tmpfs -o mode=1777 none /tmp2 2>/dev/null; {script}",
                                 PATH=self.path, **env)


@pytest.fixture
def control(desk, tmp_path):
    return Control(desk, tmp_path)


def test_the_mps_server_has_its_own_surroundings(control):
    result = control.shell(f"exec 7< /etc/passwd; cd /usr; trap '' INT; {TOOL_WORD} -t 0 sh -c 'echo $CUDA_MPS_PIPE_DIRECTORY'",
                           CUDA_VISIBLE_DEVICES="0", CUDA_MPS_ACTIVE_THREAD_PERCENTAGE="50", SECRET="x")
    assert result.status == 0 and result.out == "/run/nvtaskset/mps-1\n"
    calls = control.calls()
    begin = calls[calls.index("called -d"):]
    assert "in /\n" in begin.splitlines(True)[0]
    names = set(re.findall("^([A-Za-z_]+)=", calls, re.MULTILINE))
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"PATH",
                                                       "HOME", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"}
    assert "/etc/passwd" not in calls, calls
    (ignored,) = re.findall(r"SigIgn:\s+(\w+)", begin)
    assert not int(ignored, 16) >> (signal.SIGINT - 1) & 1
    assert "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE is 50" in result.err


def test_the_mps_server_is_in_a_scope_of_its_own(control):
    """The server is in a scope if systemd runs and grants one, and runs without a scope if not."""
    scope = control.bin / "systemd-run"
    scope.write_text(
        '#!/bin/sh\necho "scope $*" >> "$(dirname "$0")/calls"\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    scope.chmod(0o755)
    assert control.shell(f"mkdir -p /run/systemd/system; {TOOL_WORD} -t 0 true").status == 0
    assert "scope --scope" in control.calls() and "called -d" in control.calls()
    scope.write_text("#!/bin/sh\nexit 1\n")
    (control.bin / "calls").unlink()
    assert control.shell(f"mkdir -p /run/systemd/system; {TOOL_WORD} -t 0 true").status == 0
    assert "called -d" in control.calls()


@contextlib.contextmanager
def usual_place():
    """Provides /tmp/nvidia-mps for a mount to one test at a time, and removes it afterwards if it did not exist."""
    place, tmp = pathlib.Path("/tmp/nvidia-mps"), os.open("/tmp", os.O_RDONLY)
    fcntl.flock(tmp, fcntl.LOCK_EX)
    was_there = place.exists()
    place.mkdir(exist_ok=True)
    try:
        yield place
    finally:
        if not was_there:
            place.rmdir()
        os.close(tmp)


@pytest.mark.parametrize("owner, trusted", (("0", True), ("65534", False)))
def test_a_server_that_is_already_there(control, owner, trusted):
    """nvtaskset asks the server in /tmp/nvidia-mps only if the folder is root's or its own, because any user can make it."""
    with usual_place() as place:
        result = control.shell(f"mount -t tmpfs none {place} && : > {place}/control; chown {owner} {place}; {TOOL_WORD} -t 0 "
                               f"sh -c 'echo $CUDA_MPS_PIPE_DIRECTORY'")
    assert result.status == 0 and (result.out == "\n") == trusted, result
    assert ("CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps" in control.calls()) == trusted


@pytest.mark.parametrize("does, sentence", (("exit 1", "-d failed; its log is in /run/nvtaskset/mps-1"),
                                            ("kill -9 $$", "-d failed; its log is in")))
@pytest.mark.parametrize("ignores_children", (False, True))
def test_an_mps_server_that_cannot_start(control, does, sentence, ignores_children):
    control.does(does)
    start = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])"
    before = f"{sys.executable} -c '{start}' " if ignores_children else ""
    result = control.shell(f"{before}{TOOL_WORD} -t 0 true")
    assert result.status == FAILED and sentence in result.err and "is not there" not in result.err
    control.program.chmod(0o644)
    result = control.shell(f"{TOOL_WORD} -t 0 true")
    assert result.status == FAILED and "cannot be run: Permission denied" in result.err


def test_a_control_program_that_does_not_answer(control):
    """A control program that does not answer does not keep other tasks from choosing TPCs."""
    control.does("sleep 1000")
    result = control.shell("mkdir -p /run/nvtaskset/mps-1; chmod -R 700 /run/nvtaskset; : > /run/nvtaskset/mps-1/control; "
                           f"{TOOL_WORD} -t 0 true & {TOOL_WORD} --no-mps -x -s 2 true; echo $?; kill $!", timeout=str(PATIENCE_S))
    assert result.out == "0\n", result.err


@pytest.mark.parametrize("spoil", ("chown 65534 {}", "chmod 777 {}", "chmod 750 {}", "rmdir {}; mkdir -m 700 /run/other; ln -s /run/other {}"))
@pytest.mark.parametrize("folder", ("/run/nvtaskset", "/run/nvtaskset/mps-1"))
def test_folders_that_are_not_ours(control, folder, spoil):
    """nvtaskset starts no server, asks none and writes nothing in a folder of others."""
    prepare = "mkdir -m 700 /run/nvtaskset; "
    if folder.endswith("mps-1"):
        prepare += f"mkdir -m 700 {folder}; "
    prepare += spoil.format(*[folder] * spoil.count("{}")) + "; "
    plant = "mkdir -p -m 700 /run/nvtaskset/mps-1; : > /run/nvtaskset/mps-1/control; "
    for words in ("-t 0 true", "--quit-mps"):
        result = control.shell(f"{prepare}{plant}{TOOL_WORD} {words}")
        assert result.status == REFUSED and "is not this user's alone" in result.err
    assert "called" not in control.calls()


def test_the_mps_server_ends(control):
    result = control.shell(f"{TOOL_WORD} -t 0 true; {TOOL_WORD} --quit-mps; echo $?; {TOOL_WORD} --quit-mps; echo $?")
    assert result.out == "0\n2\n" and "has started no MPS server" in result.err


@pytest.mark.parametrize("options, folder", (
    ("--no-mps -t 1", ""), ("--prepare", ""), ("-t 1", "/run/nvtaskset/mps-1"), ("--turn 2 -t 1", "/run/nvtaskset/mps-2")))
def test_a_task_in_a_task_chooses_its_own_mps_server(control, options, folder):
    """The outer task is at a server that nvtaskset started. That is no choice of the user, so the inner task does not keep it."""
    show = "sh -c 'echo $CUDA_MPS_PIPE_DIRECTORY:$CUDA_MPS_LOG_DIRECTORY'"
    result = control.shell(f"{TOOL_WORD} -t 0 {TOOL_WORD} {options} {show}; {TOOL_WORD} --quit-mps")
    assert result.status == 0 and result.out == f"{folder}:{folder}\n" and not result.err


def test_no_mps_server_can_be_started(desk, tmp_path):
    (tmp_path / "bin").mkdir()
    for env in ({}, {"CUDA_MPS_PIPE_DIRECTORY": ""}):
        result = desk.tool("-t", "0", PROGRAM, "launch", PATH=str(tmp_path / "bin"), **env)
        assert result.status == FAILED and "--no-mps" in result.err and not result.out


def test_mps_is_the_users(desk):
    result = desk.tool("-t", "0", "sh", "-c", "echo $CUDA_MPS_PIPE_DIRECTORY", CUDA_MPS_PIPE_DIRECTORY="/mine")
    assert result.status == 0 and result.out == "/mine\n"
    assert "CUDA_MPS_PIPE_DIRECTORY is /mine, where no MPS server answers" in result.err
