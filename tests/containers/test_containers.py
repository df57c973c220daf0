# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvtaskset --cdi makes devices for containers, here by podman and runc over the stand-in for CUDA. Its hook checks
images before they start."""

import json
import os
import shlex
import shutil
import subprocess

import jsonschema
import pytest
from containers import copy_libraries, libraries_of
from desk import LIBRARY, PROGRAM, REFUSED, ROOT, STAND_INS, TOOL, USAGE, sms_in, sms_of
from distributions import VERSION, made, run
from nvdkernels import debian
from sample import EVERYTHING
from watching import watched

pytest_plugins = ["containers"]
SCHEMA = json.loads((ROOT / "tests/data/cdi-0.5.0.json").read_text())
INSIDE = "/usr/lib/nvtaskset/libnvtaskset.so"
C_LIBRARY = "lib/x86_64-linux-gnu/libc.so.6"


def device(desk, name, *options, **env):
    """Returns the document of a device, which is written into a folder of the test."""
    folder = desk.folder / "cdi"
    assert desk.done("--no-mps", "--cdi", name, "--cdi-folder", folder, *options, **env) == f"nvdebug.io/tpcs={name}\n"
    file = folder / f"nvdebug.io-tpcs-{name}.json"
    assert file.stat().st_mode & 0o777 == 0o644
    document = json.loads(file.read_text())
    jsonschema.validate(document, SCHEMA)
    return document


def edits(document):
    return document["devices"][0]["containerEdits"]


# --- the file ---

def test_a_device_has_a_mount_and_a_hook(desk):
    document = device(desk, "0-3", "-t", "0-3")
    found = edits(document)
    assert (document["kind"], document["devices"][0]["name"]) == ("nvdebug.io/tpcs", "0-3")
    assert found["mounts"] == [{"hostPath": str(LIBRARY), "containerPath": INSIDE, "options": ["ro", "nosuid", "nodev", "bind"]}]
    assert found["hooks"] == [{"hookName": "createContainer", "path": str(TOOL), "args": ["nvtaskset", "--check-image"]}]
    env = dict(one.split("=", 1) for one in found["env"])
    # The environment alone keeps a program to its TPCs.
    program = desk.command(PROGRAM, "launch", **{**env, "CUDA_INJECTION64_PATH": str(LIBRARY)})
    assert env["CUDA_INJECTION64_PATH"] == INSIDE and sms_in(program.answers[0]) == sms_of(*range(4)), program.err


def test_a_running_daemon_sees_each_new_partition(desk):
    (desk.folder / "cdi").mkdir()
    with watched(desk.folder / "cdi") as folder:
        for times in (1, 2):
            device(desk, "half", "-g", "0")
            assert folder.renamed() == ["nvdebug.io-tpcs-half.json"] * times


def test_options_are_the_devices(desk):
    plain, free = edits(device(desk, "a", "-g", "0")), edits(device(desk, "b", "-g", "0", "--best-effort", "--whole-count"))
    assert set(free["env"]) - set(plain["env"]) == {"NVTASKSET_BEST_EFFORT=1", "NVTASKSET_WHOLE_COUNT=1"}
    assert "hooks" not in free
    prepared = edits(device(desk, "c", "--prepare"))
    assert prepared["env"] == [f"CUDA_INJECTION64_PATH={INSIDE}"] and prepared["hooks"]


def test_a_device_that_is_written_again_is_replaced(desk):
    first, second = device(desk, "one", "-t", "0"), device(desk, "one", "-t", "1")
    assert edits(first)["env"] != edits(second)["env"]
    assert [file.name for file in (desk.folder / "cdi").iterdir()] == ["nvdebug.io-tpcs-one.json"]


@pytest.mark.parametrize("options, sentence, status", (
    *((f"--cdi {name} -t 0", "--cdi takes a name", USAGE) for name in ("-a", "a/b", "a,b", "a-", "..", "ä", "x" * 64)),
    ("--cdi a", "no TPCs are chosen", USAGE),
    ("--cdi a -t 0 -p 1", "exclude each other", USAGE),
    ("--cdi-folder /x -t 0", "--cdi-folder is where --cdi writes", USAGE),
    ("--cdi a -t 66", "there is no TPC 66", USAGE),
    ("--cdi a -t 0 --cdi-folder /proc/x", "cannot write /proc/x/nvdebug.io-tpcs-a.json", REFUSED)))
def test_impossible_devices_are_refused(desk, options, sentence, status):
    desk.refused(options, sentence, exit_status=status)


def test_a_tool_that_others_can_change_is_refused(desk):
    """Runtimes run the tool as root."""
    place = desk.folder / "open"
    place.mkdir()
    for file in (TOOL, LIBRARY):
        shutil.copy2(file, place)
    place.chmod(0o777)
    done = desk.command(place / TOOL.name, "--cdi", "a", "-t", "0", "--cdi-folder", desk.folder / "cdi")
    assert done.status == REFUSED and "others than you and root can change" in done.err
    assert not (desk.folder / "cdi").exists()


# --- the hook ---

@pytest.fixture
def image(tmp_path):
    """Makes an image's root with the C library of this machine."""
    root = tmp_path / "bundle/rootfs"
    place = root / C_LIBRARY
    place.parent.mkdir(parents=True)
    (tmp_path / "bundle/config.json").write_text(json.dumps({"root": {"path": "rootfs"}}))
    (found,) = (path for path in libraries_of("/bin/true") if path.endswith("/libc.so.6"))
    shutil.copy(found, place)
    place.with_name("libdl.so.2").touch()
    return root


def check(root, text=None):
    """Calls the hook as a runtime does: without a variable, and with the state on stdin."""
    state = json.dumps({"ociVersion": "1.0.2", "pid": 1, "bundle": str(root.parent)}) if text is None else text
    done = subprocess.run([TOOL, "--check-image"], input=state, check=False, capture_output=True, text=True, timeout=30, env={})
    assert not done.stdout
    return done.returncode, done.stderr


def refused(root, *words):
    status, err = check(root)
    assert status == REFUSED and len(err.splitlines()) == 1 and all(word in err for word in words), err


def old_library(place, minor):
    """Makes a library with the versions of such a C library."""
    script = place.with_suffix(".map")
    names = ["GLIBC_2.2.5", *(f"GLIBC_2.{n}" for n in range(3, minor + 1))]
    script.write_text("".join(f"{name} {{ global: f{n}; }};\n" for n, name in enumerate(names)))
    source = place.with_suffix(".c")
    source.write_text("".join(f"int f{n};\n" for n in range(len(names))))
    subprocess.run(["gcc", "-shared", "-nostdlib", f"-Wl,--version-script={script}", "-o", place, source], check=True)


def test_this_machines_library_is_accepted(image):
    assert check(image) == (0, "")


@pytest.mark.parametrize("minor, fits", ((17, False), (27, False), (28, True), (99, True)))
def test_old_versions_are_refused(image, minor, fits):
    old_library(image / C_LIBRARY, minor)
    if fits:
        assert check(image) == (0, "")
    else:
        refused(image, f"is GNU's C library 2.{minor}", "--best-effort")


def test_musl_and_a_missing_library_are_refused(image):
    (image / C_LIBRARY).unlink()
    refused(image, "the image has no GNU C library (libc.so.6) at the usual places")
    (image / "lib/ld-musl-x86_64.so.1").touch()
    refused(image, "the image has musl's C library")


def test_a_library_without_libdl_is_refused(image):
    """Images that have only a program and its own libraries may lack libdl."""
    (image / C_LIBRARY).with_name("libdl.so.2").unlink()
    refused(image, "without its libdl.so.2")


def test_other_c_libraries_are_refused(image):
    """The first library has no versions, like musl's. The second one has 32 bits, so programs do not load it."""
    (image / "empty.c").write_text("int f;\n")
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", image / C_LIBRARY, image / "empty.c"], check=True)
    refused(image, "is not GNU's C library")
    whole = (image / C_LIBRARY).read_bytes()
    (image / C_LIBRARY).write_bytes(whole[:4] + b"\x01" + whole[5:])
    refused(image, "no GNU C library")


def test_a_library_that_is_cut_off_or_damaged_is_refused(image):
    """Wherever the library is cut off or damaged, the hook ends with a sentence. It never accepts the library, hangs
    or dies."""
    library = image / C_LIBRARY
    old_library(library, 27)
    whole = library.read_bytes()
    for end in [*range(0, 1024, 73), *range(1024, len(whole), 1487)]:
        library.write_bytes(whole[:end])
        refused(image, C_LIBRARY)
    for at in [*range(0, 64, 8), *range(64, min(len(whole), 4096), 40)]:
        library.write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8:])
        status, err = check(image)
        assert status == REFUSED and len(err.splitlines()) == 1, (at, err)


@pytest.mark.parametrize("make", (
    lambda place: place.mkdir(),
    os.mkfifo,
    lambda place: place.symlink_to("libc.so.6"),
    lambda place: place.write_bytes(b"#!/bin/sh\n"),
    lambda place: os.truncate(os.open(place, os.O_CREAT | os.O_WRONLY), 1 << 40)))
def test_other_files_are_refused(image, make):
    """The file is a folder, a FIFO, a link to itself, a script, or a file of more than 64 MiB."""
    (image / C_LIBRARY).unlink()
    make(image / C_LIBRARY)
    refused(image, C_LIBRARY)


def test_links_stay_in_the_image(image, tmp_path):
    """An absolute link begins at the image's root, and .. does not leave it."""
    place = image / C_LIBRARY
    place.rename(tmp_path / "outside")
    for target in (tmp_path / "outside", f"../../../{'../' * 30}{tmp_path}/outside", "/proc/self/root/lib/x86_64-linux-gnu/libc.so.6"):
        place.symlink_to(target)
        refused(image, "no GNU C library")
        place.unlink()
    (image / "opt").mkdir()
    shutil.copy(tmp_path / "outside", image / "opt/libc.so.6")
    place.symlink_to("/opt/libc.so.6")
    assert check(image) == (0, "")


@pytest.mark.parametrize("text, sentence", (
    ("", "no state of a container"), ("{", "no state of a container"), ('{"bundle": 7}', "no state of a container"),
    ('{"bundle": "/nonexistent"}', "cannot open /nonexistent/config.json"), ("endless", "is longer than 1 MiB")))
def test_a_malformed_state_is_refused(image, text, sentence):
    status, err = check(image, "x" * (2 << 20) if text == "endless" else text)
    assert status in (USAGE, REFUSED) and sentence in err and len(err.splitlines()) == 1


# --- real containers ---

def mounts(desk):
    """Returns the mounts of the stand-in for NVIDIA's driver. In production the driver's own toolkit mounts the
    driver."""
    folder = desk.folder
    env = {**{name: value for name, value in desk.env.items() if name.startswith("STAND_IN_")},
           "LD_LIBRARY_PATH": "/stand/libcuda", "LD_PRELOAD": "/stand/librm_stand_in.so", "STAND_IN_LOG": "/log/log"}
    (folder / "container-log").mkdir(exist_ok=True)
    return [f"--volume={STAND_INS}:/stand:ro", f"--volume={folder}/container-log:/log",
            *(f"--env={name}={value}" for name, value in env.items())]


def write_device(desk, name, *options):
    """Returns the shell's line that writes a device into the /run of a container's command."""
    words = [f"{key}={value}" for key, value in desk.env.items() if key.startswith(("STAND_IN_", "LD_", "XDG_", "NVTASKSET_"))]
    return shlex.join(str(word) for word in ("env", *words, TOOL, "--no-mps", "--cdi", name, *options)) + " >/dev/null"


@pytest.fixture(scope="module")
def whole_image(podman, tmp_path_factory):
    """Makes an image with libraries of this machine and no program, because the stand-in's program is mounted."""
    root = tmp_path_factory.mktemp("image")
    copy_libraries(root, PROGRAM, LIBRARY, STAND_INS / "libcuda/libcuda.so.1", STAND_INS / "librm_stand_in.so")
    (root / "tmp").mkdir()
    return podman.image("whole", root)


def test_a_container_is_kept_to_its_tpcs(desk, podman, whole_image):
    before = write_device(desk, "0-3", "-t", "0-3")
    program = ("/stand/program", "launch", "attribute 16")
    done = podman.run("--device=nvdebug.io/tpcs=0-3", *mounts(desk), whole_image, *program, before=before)
    assert done.returncode == 0, done.stderr
    launch, attribute = done.stdout.splitlines()
    assert sms_in(launch) == sms_of(*range(4)) and int(attribute) == 8
    done = podman.run(*mounts(desk), whole_image, *program, before=before)
    assert done.stdout.splitlines()[1] == "132", done.stderr


def test_a_container_without_a_c_library_does_not_start(desk, podman, tmp_path):
    root = tmp_path / "root"
    (root / "lib").mkdir(parents=True)
    (root / "bin").mkdir()
    shutil.copy("/bin/busybox", root / "bin/echo")
    (root / "lib/ld-musl-x86_64.so.1").touch()
    image = podman.image("musl", root)
    done = podman.run("--device=nvdebug.io/tpcs=a", image, "/bin/echo", "started", before=write_device(desk, "a", "-t", "0"))
    assert done.returncode != 0 and "started" not in done.stdout
    assert "nvtaskset: the image has musl's C library" in done.stderr
    before = write_device(desk, "a", "-t", "0", "--best-effort")
    assert podman.run("--device=nvdebug.io/tpcs=a", image, "/bin/echo", "started", before=before).stdout == "started\n"


@pytest.mark.skipif(not EVERYTHING, reason="two minutes: NVDEBUG_LONG")
def test_a_container_of_debian_11(desk, podman, tmp_path):
    """The C library of Debian 11 is 2.31. The stand-in is this machine's and does not run there, but the library is
    loaded."""
    root = debian.folder("bullseye")
    image = podman.image("bullseye", root)
    done = podman.run("--device=nvdebug.io/tpcs=a", image, "sh", "-c", f"LD_PRELOAD={INSIDE} true && echo loaded",
                      before=write_device(desk, "a", "-t", "0"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "loaded\n", "")


# --- the image of the node agent ---

@pytest.mark.ci
def test_the_image_of_the_node_agent_starts(podman):
    """buildah builds packaging/Containerfile, and both programs start in the image."""
    rootfs = made("image", "image", "rootfs")
    options = ("--root", podman.folder / "s", "--runroot", podman.folder / "r", "--storage-driver", "vfs")
    run("buildah", *options, "build", "--isolation", "chroot", "--file", ROOT / "packaging/Containerfile", "--tag", "localhost/agent:1",
        rootfs.parent)
    for program in ("nvdebug-exporter", "nvqos"):
        done = podman.run("--read-only", "localhost/agent:1", program, "--version")
        assert done.returncode == 0 and VERSION in done.stdout, done.stderr
    done = podman.run("--read-only", "--cap-drop=ALL", "localhost/agent:1", "nvqos", "command:x=share:60%", "command:y=share:60%")
    assert done.returncode != 0 and done.stderr.startswith("nvqos: ")
