# SPDX-License-Identifier: MIT OR GPL-2.0
"""What jobs asked and got in `sacct`, with a real slurmdbd and its database. CI's own, because it takes packages from
Debian's mirror."""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from building import ROOT
from slurm import EVERY_OPTION, GPU, StandIn, sentences, srun
from slurm_accounts import BEGIN, AccountedCluster, answer, entry
from waiting import comes_true, free_port

pytestmark = pytest.mark.ci

PACKAGES = ("mariadb-server-core", "slurmdbd", "slurm-wlm-mysql-plugin", "libmariadb3", "libaio1", "libnuma1", "liburing2")
DBD = """
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
DbdHost=localhost
DbdPort={port}
SlurmUser=root
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database}
StorageUser=root
StorageLoc=accounts
PluginDir={plugins}
"""


@pytest.fixture(scope="module", name="packages")
def _packages():
    """Debian's packages of slurmdbd and its database, unpacked, because installing them would start services."""
    cache = pathlib.Path(subprocess.run([ROOT / "scripts/cache-dir"], capture_output=True, text=True, check=True).stdout.strip())
    cache.mkdir(parents=True, exist_ok=True)
    folder, work = cache / "slurmdbd", cache / "slurmdbd.new"
    with open(cache / "slurmdbd.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            subprocess.run(["apt-get", "-o", "APT::Sandbox::User=root", "download", *PACKAGES], cwd=work, check=True,
                           stdout=sys.stderr)
            for package in work.glob("*.deb"):
                subprocess.run(["dpkg-deb", "-x", package, work], check=True)
            work.rename(folder)
    return folder


class DatabaseCluster(AccountedCluster):
    """Has a slurmdbd, and a MariaDB of its own without users."""

    def __init__(self, packages):
        self.packages, self.port, self.database = packages, free_port(), free_port()
        self.libraries, = packages.glob("usr/lib/*/slurm-wlm")
        super().__init__("AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=localhost\n"
                         f"AccountingStoragePort={self.port}\nAccountingStoragePass={{folder}}/munge/socket")

    def before_controller(self):
        super().before_controller()
        data = self.folder / "database"
        data.mkdir()
        path = os.environ.get("LD_LIBRARY_PATH")
        self.env["LD_LIBRARY_PATH"] = ":".join(filter(None, (str(self.libraries.parent), path)))
        self.daemon(self.packages / "usr/sbin/mariadbd", "--no-defaults", "--user=root", f"--datadir={data}",
                    f"--lc-messages-dir={self.packages}/usr/share/mysql", "--skip-grant-tables", "--bind-address=127.0.0.1",
                    f"--port={self.database}", f"--socket={data}/socket", f"--pid-file={data}/pid",
                    "--innodb-buffer-pool-size=16M")
        assert comes_true((data / "socket").exists), self.logs()
        own = pathlib.Path("/usr/lib") / self.libraries.relative_to(self.packages / "usr/lib")
        conf = self.folder / "slurmdbd.conf"
        conf.write_text(DBD.format(folder=self.folder, port=self.port, database=self.database,
                                   plugins=f"{own}:{self.libraries}"), encoding="utf-8")
        conf.chmod(0o600)
        self.daemon(self.packages / "usr/sbin/slurmdbd", "-D")
        assert comes_true(lambda: self.run("sacctmgr", "-i", "add", "cluster", "test").status == 0), self.logs()
        for words in ("account students", "account staff", "qos serving", "user root account=students",
                      "user root account=staff qos+=serving"):
            assert self.run("sacctmgr", "-i", "add", *words.split()).status == 0, words

    def comments(self, job):
        """Returns the states and comments of the job's runs."""
        lines = self.run("sacct", "-n", "-X", "-D", "-P", "-o", "state,admincomment", "-j", str(job)).out.splitlines()
        return [tuple(BEGIN.sub(" ", line).split("|")) for line in lines]


@pytest.fixture(scope="module", name="running_database")
def _running_database(slurm_is_built, packages):
    with DatabaseCluster(packages) as cluster:
        yield cluster


@pytest.fixture(name="database")
def _database(running_database):
    running_database.plugstack("account")
    yield running_database
    running_database.settle()


def test_sacct_has_what_jobs_asked_and_got(database):
    comment = "scontrol update JobId=$SLURM_JOB_ID AdminComment='of the site'"
    with StandIn(database.socket, answer) as nvqos:
        number, _ = database.batch(f"{comment}\nsrun --gpu-share=20% true", GPU, "--gpu-share=30%")
        expected = f"of the site; {entry(f'{number}.0')}; {entry(f'{number}.batch')}"
        assert comes_true(lambda: database.comments(number) == [("COMPLETED", expected)]), database.comments(number)
        number, _ = database.batch("sleep 1000", GPU, "--gpu-share=30%")
        assert comes_true(lambda: len(nvqos.of("hold")) == 3)
        database.run("scancel", str(number))
        expected = [("CANCELLED by 0", entry(f"{number}.batch"))]
        assert comes_true(lambda: database.comments(number) == expected), database.comments(number)
    assert not database.accounts()


def test_each_task_of_an_array_has_its_own_line(database):
    with StandIn(database.socket, answer):
        base, _ = database.batch("true", GPU, "--gpu-share=30%", "--array=0-1")
        expected = {("COMPLETED", entry(f"{number}.batch")) for number in (base, base + 1)}
        assert comes_true(lambda: set(database.comments(base)) == expected), (database.comments(base), database.logs())


def test_each_run_of_a_requeued_job_has_its_line(database):
    with StandIn(database.socket, answer) as nvqos:
        number, _ = database.batch('[ "$SLURM_RESTART_COUNT" ] || sleep 1000', GPU, "--gpu-share=30%", "--requeue")
        assert comes_true(lambda: nvqos.of("hold"))
        assert database.run("scontrol", "requeue", str(number)).status == 0
        line = entry(f"{number}.batch")
        assert comes_true(lambda: ("REQUEUED", line) in database.comments(number)), database.comments(number)
        assert comes_true(lambda: database.begin_again(number) or ("COMPLETED", line) in database.comments(number)), database.logs()
    assert database.comments(number) == [("REQUEUED", line), ("COMPLETED", line)]


def test_limits_by_account_and_qos(database):
    limits = database.folder / "limits"
    limits.write_text("account=staff qos=serving share=90%\naccount=students share=20% allow=share\nshare=50%\n", encoding="utf-8")
    database.plugstack(f"limits={limits}", EVERY_OPTION)
    with StandIn(database.socket) as nvqos:
        for words, sentence in ((["-A", "students", "--gpu-share=21%"], "is more than 20%, the most for account=students"),
                                (["-A", "students", "--gpu-cap=20%"], "--gpu-cap is not allowed for account=students"),
                                (["-A", "staff", "--gpu-share=51%"], "is more than 50%, the most for all jobs"),
                                (["-A", "staff", "--qos=serving", "--gpu-share=91%"],
                                 "is more than 90%, the most for account=staff qos=serving")):
            done = srun(database, GPU, *words, command=("echo", "it ran"))
            assert done.status != 0 and done.out == "" and sentence in sentences(done.err)[0]
        assert not nvqos.asked
        assert srun(database, GPU, "-A", "staff", "--qos=serving", "--gpu-latency").status == 0
        assert nvqos.of("hold")[0].goal == "cap:90%,latency"
