# SPDX-License-Identifier: MIT OR GPL-2.0
"""Slurm's plugin names a step's GPUs by the variables that the releases of Slurm set. The tests run the plugin's own
code with stand-ins for Slurm's functions."""

import pathlib
import subprocess

import pytest
from building import ROOT
from waiting import PATIENCE_S

UUIDS = ("GPU-57a2ed01-1111-2222-3333-444455556666", "GPU-57a2ed02-1111-2222-3333-444455556666")
MIG = "MIG-57a2ed01-1111-2222-3333-444455556666"


@pytest.fixture(scope="module", name="names")
def fixture_names(tmp_path_factory):
    program = tmp_path_factory.mktemp("step") / "step_names"
    assert pathlib.Path("/usr/include/slurm/spank.h").exists(), "no libslurm-dev: run 'scripts/install-deps slurm'"
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-I{ROOT}", "-include", "stdarg.h", "-o", program,
                    ROOT / "tests/slurm/step_names.c", ROOT / "tools/slurm/step.c"], check=True, timeout=PATIENCE_S)

    def names(**variables):
        return subprocess.run([program], env=variables, check=True, capture_output=True, text=True, timeout=PATIENCE_S).stdout.split()
    return names


@pytest.mark.parametrize("variables, found", (
    ({}, []),
    ({"CUDA_VISIBLE_DEVICES": UUIDS[0]}, []),  # the user's own variable
    ({"SLURM_STEP_GPUS": "0", "CUDA_VISIBLE_DEVICES": "0"}, ["/dev/nvidia0"]),
    ({"SLURM_STEP_GPUS": "6,17", "CUDA_VISIBLE_DEVICES": "0,1"}, ["/dev/nvidia6", "/dev/nvidia17"]),
    ({"SLURM_STEP_GPUS": "6"}, ["/dev/nvidia6"]),
    ({"SLURM_STEP_GPUS": "0,1", "CUDA_VISIBLE_DEVICES": ",".join(UUIDS)}, list(UUIDS)),
    ({"SLURM_STEP_GPUS": "0,1", "CUDA_VISIBLE_DEVICES": UUIDS[0]}, ["/dev/nvidia0", "/dev/nvidia1"]),
    ({"SLURM_STEP_GPUS": UUIDS[0]}, [UUIDS[0]]),
    ({"SLURM_STEP_GPUS": "0", "CUDA_VISIBLE_DEVICES": "GPU-57a2 gpu=0"}, ["/dev/nvidia0"]),
    ({"SLURM_STEP_GPUS": "5", "CUDA_VISIBLE_DEVICES": MIG}, ["/dev/nvidia5", "mig"]),
    ({"SLURM_STEP_GPUS": "5,6", "CUDA_VISIBLE_DEVICES": f"MIG-{UUIDS[0]}/1/0,{MIG}"}, ["/dev/nvidia5", "/dev/nvidia6", "mig"]),
    ({"SLURM_STEP_GPUS": "0,x"}, []),
))
def test_gpus_of_a_step(names, variables, found):
    assert names(**variables) == found
