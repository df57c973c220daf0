# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs nvdebugctl, checks its JSON, and makes folders to run it on."""

import dataclasses
import functools
import json
import os
import re
import signal
import subprocess

import golden_text
import jsonschema
from building import built

GOLDEN = golden_text.FOLDER


@dataclasses.dataclass
class Result:
    status: int
    out: str
    err: str

    @property
    def json(self):
        """Returns the document, after a check against the schema that it names."""
        document = json.loads(self.out)
        validate(document)
        return document

    @property
    def data(self):
        return self.json["data"]


def tool():
    return built("bin/nvdebugctl")


def exporter():
    return built("bin/nvdebug-exporter")


def ctl(args, from_=None, env=None, **options):
    """Runs the tool with a list of arguments, or with a line that is split at blanks."""
    words = args.split() if isinstance(args, str) else list(args)
    if from_ is not None:
        words = ["--from", str(from_), *words]
    done = subprocess.run([tool(), *words], env={**os.environ, **(env or {})},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=60, **options)
    return Result(done.returncode, done.stdout, done.stderr)


class Started(subprocess.Popen):
    """A running tool. It heeds every signal, even if the program that runs the tests ignores some (nohup, "&" in a
    script). If the test fails, the tool is killed."""

    def __init__(self, from_, *words, **options):
        super().__init__([tool(), "--from", from_, *words], preexec_fn=_heed_signals, **options)

    def __exit__(self, kind, *rest):
        if kind is not None:
            self.kill()
        super().__exit__(kind, *rest)


def _heed_signals():
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def table():
    """Returns every command as the tool itself describes it."""
    return ctl("help --json").data["commands"]


def schemas():
    """Returns the folder of the schemas. The build makes them together with the tool."""
    return tool().parent / "schema"


def manuals():
    """Returns the folder of the man pages. The build makes them, too."""
    return tool().parent / "man"


def load_schema(name):
    return json.loads((schemas() / name).read_text(encoding="utf-8"))


def flat(schema, common):
    """Returns the schema with its references replaced by their definitions."""
    if isinstance(schema, list):
        return [flat(part, common) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: flat(part, common) for key, part in schema.items() if key != "$ref"}
    if "$ref" in schema:
        base = flat(common[schema["$ref"].rpartition("/")[2]], common)
        result = {**base, **result,
                  "properties": {**base.get("properties", {}), **result.get("properties", {})},
                  "required": [*base.get("required", []), *result.get("required", [])]}
    return result


def closed(schema):
    """Returns the schema without room for unknown keys. Consumers accept such keys, but tests do not, so that the tool
    prints no key without a description."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(part) for key, part in schema.items()}
    if schema.get("type") == "object":
        result["additionalProperties"] = False
    return result


@functools.cache
def validator(name):
    """Returns a strict validator of a schema file."""
    common = load_schema("common.json")["$defs"]
    return jsonschema.Draft202012Validator(closed(flat(load_schema(f"{name}.json"), common)))


def validate(document):
    kind, _, name = document["schema"].partition("/")
    assert kind == "nvdebug", document["schema"]
    validator(name).validate(document)


def files_of(text):
    """Returns {name: text} of a golden file, without the files that could not be opened."""
    files = {}
    for part in re.split(r"^==> ", text, flags=re.MULTILINE)[1:]:
        name, _, content = part.partition("\n")
        if "can't open" not in content:
            files[name] = content
    return files


def brief(text):
    """Returns a runlist without the lines below its channels."""
    return re.sub(r"^    .*\n", "", text, flags=re.MULTILINE)


@functools.cache
def gpu_files(board, workload):
    """Returns {name: text} of a GPU's /proc folder on that board."""
    files = {}
    for part in ("topology", "idle", workload):
        newer = files_of(golden_text.load(f"{board}/{part}"))
        for name in list(newer):
            if re.fullmatch(r"runlist\d+", name):
                newer[f"{name}_brief"] = brief(newer[name])
            elif re.fullmatch(r"runlist\d+_brief", name):
                newer[name.removesuffix("_brief")] = newer[name]
        files.update(newer)
    return files | {"ptimer": "1700000000000000000\n"}


def write_gpu(folder, board, workload="fig6"):
    """Makes a folder with the files of a GPU's /proc folder on that board."""
    folder.mkdir(parents=True)
    for name, text in gpu_files(board, workload).items():
        (folder / name).write_text(text, encoding="utf-8")


def core_tree(folder, board, workload):
    """Makes a folder that looks like /proc, with a modelled board as the module's core prints it in a process."""
    subprocess.run([built("tests/module/core/core_tree"), board, workload, folder / "gpu0"], check=True)
    topology = files_of(golden_text.load(f"{board}/topology"))
    (folder / "gpu0" / "info").write_text(topology["info"], encoding="utf-8")
    return folder


def write_tree(folder, *gpus):
    """Makes a folder that looks like /proc, with GPUs as (board, workload)."""
    for index, (board, workload) in enumerate(gpus):
        write_gpu(folder / f"gpu{index}", board, workload)
    return folder


def write_capture(path, folder, errors=None, version=1):
    """Makes a capture of the folder. errors is {"gpu0/runlist0": "EIO"}, for files that could not be read when it was
    made."""
    errors = errors or {}
    files = {str(file.relative_to(folder)): file.read_text(encoding="utf-8")
             for file in sorted(folder.rglob("*")) if file.is_file()}
    document = {
        "format": "nvdebug-capture", "version": version,
        "facts": {"captured_at": "2026-01-31T12:00:00Z", "kernel": "6.1.0", "module": "0.1.0",
                  "library": "0.1.0"},
        "files": {name: text for name, text in files.items() if name not in errors},
        "errors": errors,
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
