# SPDX-License-Identifier: MIT OR GPL-2.0
"""A real Slurm that runs the example account-job at the end of each job, and what nvqos and account-job write."""

import re
import subprocess

from building import ROOT
from slurm import Cluster
from waiting import comes_true, free_port

EXAMPLE = ROOT / "docs/examples/slurm/account-job"
BEGIN = re.compile(r" begin=\d{10,} ")
GOT = "gpu=0 asked=share:30% got=31.2% used=12.4s kept=39.8/40.0s"


class AccountedCluster(Cluster):
    """Has account-job as EpilogSlurmctld."""

    def __init__(self, conf="AccountingStorageType=accounting_storage/none"):
        super().__init__(conf=conf + "\nEpilogSlurmctld={folder}/account-job")

    def before_controller(self):
        text = EXAMPLE.read_text(encoding="utf-8")
        program = self.folder / "account-job"
        assert text.count("file=/var/log/slurm/nvdebug-account\n") == 1
        program.write_text(text.replace("file=/var/log/slurm/nvdebug-account\n",
                                        f"file={self.folder}/accounts; export SLURM_CONF={self.env['SLURM_CONF']}\n"
                                        f"exec 2>>{self.folder}/account-job.log\n"), encoding="utf-8")
        program.chmod(0o755)

    def accounts(self):
        """Returns the entries that were written, by the job's number."""
        try:
            lines = (self.folder / "accounts").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return {}
        found = {}
        for line in lines:
            number = int(re.search(r" job=(\d+) user=root account=\S+ partition=all nvdebug: ", line)[1])
            entries = line[line.index("nvdebug: "):].split("; ")
            assert all(BEGIN.search(entry) for entry in entries), line
            found.setdefault(number, []).append([BEGIN.sub(" ", entry) for entry in entries])
        return found

    def begin_again(self, job):
        """Has a requeued job begin at once. Slurm holds it back for two minutes from the end of its epilog on, which may
        come after this."""
        self.run("scontrol", "update", f"JobId={job}", "StartTime=now")

    def has_left(self, job):
        """Returns whether the job has ended with its epilog."""
        return comes_true(lambda: not self.run("squeue", "-h", "-j", str(job)).out.strip())


class TwoNodes(AccountedCluster):
    """Has the nodes n1 and n2. Each slurmd has a host name, which is not the node's, and a folder of nvqos' socket, of its own."""

    def __init__(self):
        super().__init__()
        self.run_folder, self.other = self.folder / "run", self.folder / "run-of-n2"
        self.socket, self.other_socket = self.run_folder / "nvqos.sock", self.other / "nvqos.sock"

    def before_controller(self):
        super().before_controller()
        self.run_folder.mkdir()
        self.other.mkdir()
        conf, gres = self.folder / "slurm.conf", self.folder / "gres.conf"
        node, = re.findall("^NodeName=localhost .*\n", text := conf.read_text(encoding="utf-8"), re.M)
        # Slurm takes no node of the name localhost beside others.
        node = node.replace("=localhost", "=n1")
        nodes = f"{node.strip()} NodeHostname=host1\n{node.strip().replace('=n1', '=n2')} NodeHostname=host2 Port={free_port()}\n"
        conf.write_text(text.replace(node.replace("=n1", "=localhost"), nodes), encoding="utf-8")
        gres.write_text(gres.read_text(encoding="utf-8").replace("NodeName=localhost", "NodeName=n[1-2]"), encoding="utf-8")
        self.slurmd("host2", f"mount --bind {self.other} {self.run_folder} && ")

    def daemon(self, *words):
        if words[0] == "slurmd":
            self.slurmd("host1")
        else:
            super().daemon(*words)

    def slurmd(self, name, before=""):
        script = f'hostname {name} && {before}exec slurmd -D -c -f {self.folder}/slurm.conf'
        with open(self.folder / "daemons.log", "ab") as log:
            self.started.append(subprocess.Popen(
                ["unshare", "--uts", "--mount", "--propagation", "private", "sh", "-c", script], env=self.env,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))


def answer(asked):
    return {"report": f"ok {GOT}", "release": "ok got 31.2 %"}.get(asked.verb, "ok")


def entry(step, text=GOT, node="localhost"):
    return f"nvdebug: step={step} node={node} {text}"
