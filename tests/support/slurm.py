# SPDX-License-Identifier: MIT OR GPL-2.0
"""A Slurm of one node in a folder, from Debian's own programs, with two GPUs that are device nodes. A stand-in takes
the place of nvqos at its socket. It needs root."""

import contextlib
import os
import pathlib
import re
import secrets
import signal
import shutil
import socket
import subprocess
import threading

import desk
import pytest
from building import ROOT, build
from users import copy_for_all, open_folder
from waiting import PATIENCE_S, comes_true, free_port

PLUGIN = ROOT / "build/cmake/bin/spank_nvdebug.so"
# Each machine's /etc/hosts has this name.
HOST = "localhost"
IN_UTS = ["unshare", "--uts", "sh", "-c", f'hostname {HOST} && exec "$@"', "sh"]
GPUS, SHARDS = 2, 4
GPU = "--gres=gpu:1"
EVERY_OPTION = "allow=share,cap,tpcs,timeslice,latency,best-effort,gang"
CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld}
SlurmdPort={d}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin={task}
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
GresTypes=gpu,shard
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=1
CompleteWait=0
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=1000
PlugStackConfig={folder}/plugstack.conf
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=500 Gres=gpu:{gpus},shard:{shards}
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:8 MaxTime=INFINITE State=UP
"""


def make_device(path, number):
    """Makes a device node like a GPU's. If the machine's root may make none, it makes a plain file, which Slurm takes
    as well."""
    try:
        os.mknod(path, 0o666 | 0o020000, os.makedev(195, number))
    except PermissionError:
        path.touch()
    path.chmod(0o666)


class Job:
    """A running srun. Its output goes to files."""

    def __init__(self, process, out, err):
        self.process, self._out, self._err = process, out, err

    def wait(self):
        self.process.wait(PATIENCE_S)
        return self

    @property
    def status(self):
        return self.process.returncode

    @property
    def out(self):
        return self._out.read_text(encoding="utf-8")

    @property
    def err(self):
        return self._err.read_text(encoding="utf-8")


class Cluster:
    """Runs munged, slurmctld and slurmd. More lines of slurm.conf may have `{folder}`, the cluster's folder."""

    def __init__(self, constrain=False, conf="AccountingStorageType=accounting_storage/none", shards=SHARDS):
        self.removed = contextlib.ExitStack()
        self.folder = self.removed.enter_context(open_folder("nvdebug-slurm-"))
        # srun loads the plugin as the user who runs srun.
        self.plugin = copy_for_all(self.folder / "plugin", PLUGIN) / PLUGIN.name
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "CUDA"))}
        self.env["SLURM_CONF"] = str(self.folder / "slurm.conf")
        self.started, self.jobs = [], []
        self.constrain, self.conf, self.shards = constrain, conf, shards * GPUS
        self.socket = self.folder / "nvqos.sock"
        for name, mode in (("munge", 0o711), ("state", 0o755), ("work", 0o777)):
            (self.folder / name).mkdir()
            (self.folder / name).chmod(mode)

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        folder = self.folder
        key = folder / "munge/key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(1024))
        for gpu in range(GPUS):
            make_device(folder / f"nvidia{gpu}", gpu)
        ctld, d = free_port(), free_port()
        (folder / "slurm.conf").write_text((CONF + self.conf + "\n").format(
            host=HOST, ctld=ctld, d=d, folder=folder, gpus=GPUS, shards=self.shards,
            task="task/cgroup" if self.constrain else "task/none"), encoding="utf-8")
        (folder / "gres.conf").write_text(f"NodeName={HOST} Name=gpu File={folder}/nvidia[0-{GPUS - 1}]\n"
                                          f"NodeName={HOST} Name=shard Count={self.shards}\n", encoding="utf-8")
        if self.constrain:
            (folder / "cgroup.conf").write_text("CgroupMountpoint=/sys/fs/cgroup\nCgroupPlugin=cgroup/v1\n"
                                                "ConstrainDevices=yes\n", encoding="utf-8")
        self.plugstack()
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge/socket",
                    f"--pid-file={folder}/munge/pid", f"--log-file={folder}/munge/log", f"--seed-file={folder}/munge/seed")
        assert comes_true((folder / "munge/socket").exists), self.logs()
        self.before_controller()
        self.daemon("slurmctld", "-D", "-c", "-f", folder / "slurm.conf")
        self.daemon("slurmd", "-D", "-c", "-f", folder / "slurm.conf")
        assert comes_true(lambda: self.run("sinfo", "-h", "-o", "%t").out.strip() == "idle"), self.logs()

    def before_controller(self):
        """Is called once munged runs, for daemons and files that slurmctld needs."""

    def daemon(self, *words):
        with open(self.folder / "daemons.log", "ab") as log:
            self.started.append(subprocess.Popen([*IN_UTS, *map(str, words)], env=self.env, stdin=subprocess.DEVNULL,
                                                 stdout=log, stderr=log, start_new_session=True))

    def logs(self):
        return "\n".join(f"{path.name}: {path.read_text(encoding='utf-8', errors='replace')[-3000:]}"
                         for path in sorted(self.folder.glob("*.log")))

    def __exit__(self, *_):
        for job in self.jobs:
            if job.process.poll() is None:
                job.process.kill()
                job.process.wait()
        for pid in self.stepds():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in reversed(self.started):
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.removed.close()

    def plugstack(self, *words, kind="required"):
        """Sets the plugin's arguments. nvqos has 60 s to answer, unless a test sets another timeout."""
        (self.folder / "plugstack.conf").write_text(
            f"{kind} {self.plugin} socket={self.socket} timeout=60 {' '.join(map(str, words))}\n", encoding="utf-8")

    def begin(self, *words, user=(), env=None):
        """Starts a program of Slurm's in a folder that each user may write."""
        name = f"{len(self.jobs)}-{secrets.token_hex(2)}"
        out, err = self.folder / f"{name}.out", self.folder / f"{name}.err"
        with open(out, "wb") as to, open(err, "wb") as errors:
            process = subprocess.Popen([*IN_UTS, *user, *map(str, words)], env={**self.env, **(env or {})},
                                       cwd=self.folder / "work", stdin=subprocess.DEVNULL, stdout=to, stderr=errors)
        self.jobs.append(Job(process, out, err))
        return self.jobs[-1]

    def run(self, *words, **options):
        return self.begin(*words, **options).wait()

    def batch(self, script, *words):
        """Submits a batch script. Returns its job id and the file with its output."""
        path = self.folder / f"{secrets.token_hex(4)}.sh"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        done = self.run("sbatch", "--parsable", *words, path)
        assert done.status == 0, done.err
        number = int(done.out)
        return number, self.folder / "work" / f"slurm-{number}.out"

    def has_ended(self, job):
        return comes_true(lambda: not self.run("squeue", "-h", "-j", str(job)).out.strip())

    def stepds(self):
        """Returns the slurmstepds of this cluster, which its folder in their environment shows."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (path / "comm").read_text(encoding="utf-8").startswith("slurmstepd") and str(
                        self.folder).encode() in (path / "environ").read_bytes():
                    found.append(int(path.name))
        return found

    def settle(self):
        """Cancels all jobs and waits for their ends."""
        self.run("scancel", "--user=root")
        self.run("scancel", "--user=nobody")
        assert comes_true(lambda: not self.run("squeue", "-h").out.strip()), self.logs()


class Asker:
    """A request that arrived: its words, and facts from that moment."""

    def __init__(self, line):
        self.line = line
        self.verb, self.name, *rest = line.split(" ")
        self.goal = rest.pop(0) if self.verb in ("hold", "join") else ""
        self.words = [word.partition("=")[::2] for word in rest]
        self.programs = [self.program(pid) for pid in self.all("pid")]

    @staticmethod
    def program(pid):
        try:
            return os.readlink(f"/proc/{pid}/exe")
        except OSError:
            return None

    def all(self, key):
        return [value for name, value in self.words if name == key]

    def one(self, key):
        (value,) = self.all(key)
        return value


class StandIn:
    """A stand-in for nvqos at the socket. `answer` makes the answer to a request; None sends no answer."""

    def __init__(self, path, answer=lambda asked: "ok"):
        self.path, self.answer, self.asked = path, answer, []
        self._stop = threading.Event()

    def __enter__(self):
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen(8)
        self._listener.settimeout(0.05)
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        self._listener.close()
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()

    def _serve(self):
        silent = []
        while not self._stop.is_set():
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            client.settimeout(PATIENCE_S)
            with contextlib.suppress(OSError):
                asked = Asker(client.makefile(encoding="utf-8").readline().rstrip("\n"))
                self.asked.append(asked)
                answer = self.answer(asked)
                if answer is None:
                    silent.append(client)
                    continue
                client.sendall(answer if isinstance(answer, bytes) else f"{answer}\n".encode())
            client.close()
        for client in silent:
            client.close()

    def of(self, verb):
        return [asked for asked in self.asked if asked.verb == verb]


def sentences(text):
    """Returns the plugin's sentences as the user reads them."""
    return re.findall(r"nvdebug: (.*)", text)


def srun(cluster, *words, command=("true",), **options):
    return cluster.run("srun", *words, *command, **options)


@pytest.fixture(scope="module", name="slurm_is_built")
def _slurm_is_built():
    """Builds the plugin and nvqos."""
    if os.getuid():
        pytest.skip("Slurm's daemons take root, which CI has")
    build("slurm_plugin", "nvqos_stand_in", *desk.TARGETS)
    assert shutil.which("slurmctld") and shutil.which("munged"), "no Slurm: run 'scripts/install-deps slurm'"
    assert PLUGIN.exists(), "libslurm-dev was not there when it was configured"


@pytest.fixture(scope="module", name="running_cluster")
def _running_cluster(slurm_is_built):
    with Cluster() as cluster:
        yield cluster


@pytest.fixture(name="cluster")
def _cluster(running_cluster):
    running_cluster.plugstack()
    (running_cluster.folder / "work/go").unlink(missing_ok=True)
    yield running_cluster
    running_cluster.settle()
