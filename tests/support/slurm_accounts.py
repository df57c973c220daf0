# SPDX-License-Identifier: MIT OR GPL-2.0
"""A real Slurm that runs the example account-job at the end of each job, and what nvqos and account-job write."""

import re

from building import ROOT
from slurm import Cluster
from waiting import comes_true

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


def answer(asked):
    return {"report": f"ok {GOT}", "release": "ok got 31.2 %"}.get(asked.verb, "ok")


def entry(step, text=GOT, node="localhost"):
    return f"nvdebug: step={step} node={node} {text}"
