# SPDX-License-Identifier: MIT OR GPL-2.0
"""`make archive` and `make rpm`: the files in them, and the symbols of a C library that they need. They run in the
roots of other Debians, and the same input gives the same bytes."""

import json
import os
import re
import shutil
import subprocess
import tarfile

import pytest
from containers import copy_libraries
from distributions import ROOT, VERSION, epoch, in_root, made, run
from exporter_node import CAPTURE, answers_without_gpu, children, has_no_rights, running
from nvdkernels import debian
from sample import EVERYTHING
from throwaway_root import needs_root
from users import NAMELESS_IN_ROOT, open_mask
from waiting import free_port, until

# These tests need the programs that are built for other distributions.
pytestmark = pytest.mark.ci

MACHINE = os.uname().machine
NAME = f"nvdebug-{VERSION}-{MACHINE}"
STATIC, DYNAMIC = ("nvdebugctl", "nvqos", "nvdebug-exporter"), ("nvtaskset", "nvstgm")
NEWEST = {"nvtaskset": (2, 34), "nvstgm": (2, 34), "libnvtaskset.so": (2, 28)}


@pytest.fixture(scope="module")
def archive():
    return made("archive", "archive", "*.tar.gz")


@pytest.fixture(scope="module")
def unpacked(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    run("tar", "-C", folder, "-xf", archive)
    return folder / NAME


def file_of(unpacked, name):
    return unpacked / ("lib/nvtaskset" if name.endswith(".so") else "bin") / name


def test_the_archive_has_all_files(unpacked):
    found = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if not path.is_dir()}
    commands = json.loads(run(unpacked / "bin/nvdebugctl", "help", "--json"))["data"]["commands"]
    expected = {f"bin/{name}" for name in STATIC + DYNAMIC} | {
        "lib/nvtaskset/libnvtaskset.so", "nvqos.service", "nvdebug-exporter.service", "README.md", "LICENSE", "copyright",
        "share/man/man8/nvdebug-exporter.8", "share/nvdebug/dashboard.json", "share/nvdebug/fleet.json", "share/nvdebug/rules.yml"}
    expected |= {f"LICENSES/{path.name}" for path in (ROOT / "LICENSES").iterdir()}
    expected |= {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    for name in {*STATIC, *DYNAMIC} - {"nvdebug-exporter"}:
        expected |= {f"share/bash-completion/completions/{name}", f"share/zsh/vendor-completions/_{name}",
                     f"share/fish/vendor_completions.d/{name}.fish", f"share/man/man1/{name}.1"}
    expected |= {f"share/man/man1/nvdebugctl-{each['object']}.1" for each in commands if each["object"] != "help"}
    expected |= {f"share/nvdebug/schema/{name}" for name in (
        "common.json", "error.json", "recording.line.json", "nvtaskset.json", *(each["schema"] for each in commands if each["schema"]),
        *(path.name for tool in ("nvqos", "nvstgm") for path in (ROOT / "tools" / tool / "schema").iterdir()))}
    assert found == expected
    readme = (unpacked / "README.md").read_text(encoding="utf-8")
    assert VERSION in readme and "@" not in readme


def test_owner_time_and_mode_are_the_same_for_all(archive):
    """Owner, time and mode of a file do not depend on the builder."""
    with tarfile.open(archive) as file:
        members = file.getmembers()
    assert [each.name for each in members] == sorted(each.name for each in members)
    assert {(each.uid, each.gid, each.uname, each.gname, each.mtime) for each in members} == {(0, 0, "", "", int(epoch()))}
    assert {each.mode for each in members} == {0o644, 0o755}
    assert archive.read_bytes()[4:8] == b"\0\0\0\0"


def test_the_same_bytes_again(archive, tmp_path):
    """The bytes are the same below a name with a blank, and with another umask, language and time zone."""
    run("sh", "-c", 'umask 027; exec "$@"', "sh", ROOT / "packaging/archive", ROOT / "build/release", tmp_path / "one two",
        env={**os.environ, "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo", "SOURCE_DATE_EPOCH": epoch()})
    made_again = sorted((tmp_path / "one two").iterdir())
    # Another test may be making the archive in a folder beside it, so folders are left out.
    there = sorted(path.name for path in archive.parent.iterdir() if not path.is_dir())
    assert [path.name for path in made_again] == there
    for path in made_again:
        assert path.read_bytes() == (archive.parent / path.name).read_bytes()


@pytest.mark.skipif(not EVERYTHING, reason="compiles the programs anew: NVDEBUG_LONG")
def test_the_same_bytes_from_another_folder(archive, tmp_path):
    tree = tmp_path / "another place"
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in listed.split("\0"):
        if name and (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    run("make", "-s", "archive", cwd=tree, env={**os.environ, "SOURCE_DATE_EPOCH": epoch()})
    assert (tree / "build/archive" / archive.name).read_bytes() == archive.read_bytes()


def test_the_checksums_fit(archive):
    run("sha256sum", "--check", f"{NAME}.sha256", cwd=archive.parent)


@pytest.mark.parametrize("name", STATIC)
def test_static_programs_have_no_interpreter(unpacked, name):
    assert "INTERP" not in run("readelf", "-lW", file_of(unpacked, name))


@pytest.mark.parametrize("name", NEWEST)
def test_symbols_are_old_enough(unpacked, name):
    text = run("objdump", "-T", file_of(unpacked, name))
    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", text)}
    assert max(versions) <= NEWEST[name]
    assert not re.search(r"GLIBCXX|CXXABI|GLIBC_PRIVATE", text)
    needed = set(re.findall(r"NEEDED +(\S+)", run("objdump", "-p", file_of(unpacked, name))))
    assert needed <= {"libc.so.6", "libm.so.6", "libdl.so.2", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
    assert not re.search(r"R(UN)?PATH", run("objdump", "-p", file_of(unpacked, name)))


def serves(root, user):
    """Checks the exporter's two processes at a name of that root's, also without a driver and without the module."""
    program = ("chroot", *user, root, "/opt/nvdebug/bin/nvdebug-exporter")
    shutil.copyfile(CAPTURE, root / "opt/capture")
    with running("/opt/capture", program=program) as node:
        # An answer does not wait for a read that takes long.
        until(lambda: node.values("nvdebug_up") == {'{gpu="0"}': 1})
        assert f'nvdebug_exporter_build_info{{version="{VERSION}"}} 1\n' in node.scrape()
        front, = children(node)
        has_no_rights(front, is_nobody=not user)
        assert node.end() == (0, "nvdebug-exporter: a capture is read: its state stands still, and the times of its tasks grow\n")
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc/hosts").write_text("# nothing 127.0.0.1\n127.0.0.1  this-node node # here\n", encoding="ascii")
    for host, source in (("node", ()), ("localhost", ("--from", "module")), ("*", ("--from", "driver")), ("127.0.0.1", ())):
        said = answers_without_gpu([*program, *source, "--listen", f"{host}:{(port := free_port())}"], port)
        assert re.match(r"nvdebug-exporter: (/proc is not mounted here|there is no /dev/nvidiactl|no GPU is found)", said)
    for host in ("here", "nothing", "[::g]", "192.0.2.1"):
        status, text = in_root(root, *program[-1:], "--listen", f"{host}:{port}", user=user)
        assert status == 1 and text.startswith(f"nvdebug-exporter: cannot listen on {host}:{port}: ")


def works(root, unpacked, dynamic):
    """Checks the programs in a root, as root and as another user, and loads nvtaskset's library into a program of that
    root.

    dynamic: whether the C library there is new enough for the programs that are not static."""
    shutil.copytree(unpacked, root / "opt/nvdebug")
    for path in (root / "opt", root / "opt/nvdebug"):
        path.chmod(0o755)
    for user in ((), NAMELESS_IN_ROOT):
        for name in STATIC + DYNAMIC:
            status, text = in_root(root, f"/opt/nvdebug/bin/{name}", "--version", user=user)
            if name in STATIC or dynamic:
                assert (status, text) == (0, f"{name} {VERSION}\n")
            else:
                assert status != 0 and "GLIBC_2.3" in text
        status, text = in_root(root, "/opt/nvdebug/bin/nvdebugctl", "--json", "--from", "/nonexistent", "runlist", "list", user=user)
        assert status == 1 and '"code":"not_found"' in text
        serves(root, user)
        status, text = in_root(root, "/usr/bin/env", "LD_PRELOAD=/opt/nvdebug/lib/nvtaskset/libnvtaskset.so", "/bin/true", user=user)
        assert (status, text) == (0, "")


@open_mask()
def test_programs_work_in_a_root_with_a_c_library_alone(unpacked, tmp_path):
    """The root has the C library of this machine and libgcc_s, and no other library, passwd or /proc."""
    needs_root()
    root = tmp_path / "root"
    copy_libraries(root, "/bin/true", *(file_of(unpacked, name) for name in NEWEST))
    for name in ("/usr/bin/env", "/bin/true"):
        (root / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, root / name[1:])
    (root / "opt").mkdir()
    works(root, unpacked, dynamic=True)


@pytest.mark.skipif(not EVERYTHING, reason="each root takes minutes to make: NVDEBUG_LONG")
@pytest.mark.parametrize("suite, dynamic", (("bullseye", False), ("bookworm", True), ("trixie", True)))
@open_mask()
def test_programs_work_in_other_debians(unpacked, tmp_path, suite, dynamic):
    needs_root()
    root = tmp_path / "root"
    subprocess.run(["cp", "-a", debian.folder(suite), root], check=True)
    works(root, unpacked, dynamic)


def test_users_and_hosts_are_read_from_files(unpacked, tmp_path):
    """The C library's functions for users and hosts load plugins, which a static program must not do. So the programs
    read /etc/passwd and /etc/hosts themselves."""
    for name in STATIC:
        assert b"nsswitch.conf" not in file_of(unpacked, name).read_bytes()


# --- The list of the libraries that are linked in ---

@pytest.fixture(scope="module")
def bill(archive):
    return json.loads((archive.parent / f"{NAME}.spdx.json").read_text(encoding="utf-8"))


def test_the_bill_of_materials_is_spdx(archive, bill):
    """The bill has all that the schema of SPDX 2.3 demands, and is about this archive."""
    assert (bill["spdxVersion"], bill["dataLicense"], bill["SPDXID"]) == ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["creationInfo"]["created"])
    packages = {each["SPDXID"]: each for each in bill["packages"]}
    assert len(packages) == len(bill["packages"])
    for each in packages.values():
        assert re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", each["SPDXID"])
        assert {"name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"} <= set(each)
    for each in bill["relationships"]:
        assert {each["spdxElementId"], each["relatedSpdxElement"]} <= {*packages, "SPDXRef-DOCUMENT"}
    (digest,) = packages["SPDXRef-nvdebug"]["checksums"]
    assert digest["checksumValue"] == run("sha256sum", archive).split()[0]


def test_the_bill_has_the_linked_libraries(bill):
    """The bill has Debian's packages of the libraries, by program, with the versions that are installed."""
    linked = {}
    for each in bill["relationships"]:
        if each["relationshipType"] == "STATIC_LINK":
            linked.setdefault(each["spdxElementId"].removeprefix("SPDXRef-program-"), set()).add(each["relatedSpdxElement"])
    names = {each["SPDXID"]: each for each in bill["packages"]}
    linked = {program: {names[one]["name"] for one in ones} for program, ones in linked.items()}
    assert {"libc6-dev", "libstdc++-12-dev", "libgcc-12-dev", "zlib1g-dev"} <= set.intersection(*(linked[name] for name in STATIC))
    assert [program for program in STATIC + DYNAMIC if "libncurses-dev" in linked[program]] == ["nvdebugctl", "nvqos"]  # the live views
    for program in DYNAMIC:
        assert "libstdc++-12-dev" in linked[program]
        assert ("zlib1g-dev" in linked[program]) == (program == "nvstgm"), "nvstgm unpacks recordings"
    for each in bill["packages"]:
        if each.get("supplier") == "Organization: Debian":
            assert each["versionInfo"] == run("dpkg-query", "-W", "-f", "${Version}", each["name"])


def test_the_bill_has_the_compiled_headers(bill):
    """No linker sees libraries that are headers alone."""
    compiled = {}
    for each in bill["relationships"]:
        if each["relationshipType"] == "STATIC_LINK":
            compiled.setdefault(each["spdxElementId"].removeprefix("SPDXRef-program-"), set()).add(
                each["relatedSpdxElement"].removeprefix("SPDXRef-debian-"))
    everywhere = set.intersection(*(compiled[program] for program in STATIC + DYNAMIC))
    assert {"libexpected-dev", "nlohmann-json3-dev"} <= everywhere
    assert [program for program in STATIC + DYNAMIC if "libcli11-dev" in compiled[program]] == ["nvdebugctl"]
    assert [program for program in STATIC + DYNAMIC if "libtomlplusplus-dev" in compiled[program]] == ["nvqos"]
    comments = {each["name"]: each["comment"] for each in bill["packages"] if "comment" in each}
    assert comments["libcli11-dev"] == "Compiled in: headers alone" and comments["zlib1g-dev"].startswith("Linked in: /usr/lib/")


BUILD = """
rule compile
  command = g++ -std=c++20 -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule archive
  command = rm -f $out && ar qc $out $in
rule link
  command = g++ -static -Wl,-Map=$out.map $in -o $out
build main.o: compile main.cpp
build used.o: compile used.cpp
build unused.o: compile unused.cpp
build libown.a: archive used.o unused.o
build program-static: link main.o libown.a
"""


@pytest.fixture(name="tiny")
def fixture_tiny(tmp_path):
    """Builds a program below a name with a blank. Returns the folder and the command that prints its list."""
    folder = tmp_path / "one two"
    folder.mkdir()
    (folder / "build.ninja").write_text(BUILD)
    (folder / "main.cpp").write_text("int used();\nint main() { return used(); }\n")
    (folder / "used.cpp").write_text("#include <tl/expected.hpp>\nint used() { return tl::expected<int, int>(0).value(); }\n")
    (folder / "unused.cpp").write_text("#include <toml++/toml.h>\nint unused() { return toml::array().empty(); }\n")
    (folder / "archive.tar.gz").touch()
    run("ninja", "-C", folder)
    words = (ROOT / "packaging/sbom", "--version", "1", "--epoch", "0", "--archive", folder / "archive.tar.gz", "--build", folder,
             folder / "program-static")
    return folder, words


def test_members_that_are_not_linked_in_are_left_out(tiny):
    """The headers that such members include are not in the program."""
    names = {each["name"] for each in json.loads(run(*tiny[1]))["packages"] if "supplier" in each}
    assert {"libexpected-dev", "libstdc++-12-dev", "libc6-dev"} <= names and "libtomlplusplus-dev" not in names


def test_records_that_say_nothing_are_refused(tiny):
    """The files are a map that is no map, and records of a build that did not happen."""
    folder, words = tiny
    for name, sentence in (("program-static.map", "is no map of GNU ld"), (".ninja_deps", "ninja has no record of what main.o was"),
                           ("build.ninja", "ninja has no record of")):
        before = (folder / name).read_bytes()
        (folder / name).write_text("nothing\n")
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        assert done.returncode == 1 and sentence in done.stderr, name
        (folder / name).write_bytes(before)


# --- rpm ---

@pytest.fixture(scope="module")
def package(archive):
    return made("rpm", "rpm", "*.rpm")


def query(package, *words, form=None, folder):
    return run("rpm", "--dbpath", folder / "db", "-qp", *words, *(("--queryformat", form) if form else ()), package)


def test_the_rpm_has_all_files(package, unpacked, tmp_path):
    assert query(package, form="%{NAME} %{VERSION} %{LICENSE} %{ARCH}", folder=tmp_path) == \
        f"nvdebugctl {VERSION} MIT OR GPL-2.0-only {MACHINE}"
    files = query(package, "-l", folder=tmp_path).split()
    assert {f"/usr/bin/{path.name}" for path in (unpacked / "bin").iterdir()} <= set(files)
    assert {"/usr/lib/nvtaskset/libnvtaskset.so", "/usr/lib/systemd/system/nvqos.service",
            "/usr/lib/systemd/system/nvdebug-exporter.service", "/usr/share/nvdebug/rules.yml",
            "/usr/share/nvdebug/dashboard.json", "/usr/share/nvdebug/fleet.json",
            "/usr/share/man/man8/nvdebug-exporter.8"} <= set(re.sub(r"\.gz$", "", name) for name in files)
    assert not query(package, "--scripts", folder=tmp_path)
    required = query(package, "--requires", folder=tmp_path)
    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", required)}
    # RHEL 9 has this version.
    assert max(versions) <= (2, 34) and "libstdc++" not in required
    assert "libnvtaskset" not in query(package, "--provides", folder=tmp_path)


def test_the_rpm_is_installed_into_a_folder(package, tmp_path):
    """The packages that it requires are missing, because dnf would bring them. Nothing is written outside the
    folder."""
    needs_root()
    root = tmp_path / "root"
    root.mkdir()
    run("rpm", "--root", root, "--nodeps", "-i", package)
    assert run(root / "usr/bin/nvdebugctl", "--version") == f"nvdebugctl {VERSION}\n"
    assert run(root / "usr/bin/nvtaskset", "--version") == f"nvtaskset {VERSION}\n"
    for name in ("nvqos", "nvdebug-exporter"):
        unit = (root / f"usr/lib/systemd/system/{name}.service").read_text(encoding="utf-8")
        assert f"ExecStart=/usr/bin/{name} " in unit and "@" not in unit.replace("~@", "").replace("=@", "").replace(" @", "")
    run("rpm", "--root", root, "-e", "nvdebugctl")
    assert not (root / "usr/bin/nvdebugctl").exists()
