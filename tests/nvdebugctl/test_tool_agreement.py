# SPDX-License-Identifier: MIT OR GPL-2.0
"""Help, man pages, completion, schemas and the contract agree with the table of commands."""

import functools
import json
import re
import subprocess

import jsonschema
import pytest
from building import ROOT
from ctl import ctl, load_schema, manuals, schemas, table, write_tree


def contract_names():
    """Yields every `OBJECT VERB` of the contract's table. `channel disable\\|enable CHANNEL…` names two."""
    contract = (ROOT / "docs/nvdebugctl.md").read_text(encoding="utf-8").replace("\\|", "/")
    section = contract.partition("\n## Objects and verbs\n")[2].partition("\n#")[0]
    for first_cell in re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE):
        for words in map(str.split, re.findall(r"`([^`]+)`", first_cell)):
            verbs = words[1].split("/") if len(words) > 1 else [""]
            for verb in verbs:
                yield f"{words[0]} {verb}" if re.fullmatch("[a-z]+", verb) else words[0]


# The names come from the contract, so that pytest can collect the tests before the tool is built.
NAMES = sorted(set(contract_names()))
OBJECTS = sorted({name.split()[0] for name in NAMES} - {"help"})


@functools.cache
def commands():
    """Returns the tool's own table of commands, by name."""
    return {name_of(command): command for command in table()}


@functools.cache
def common_options():
    """Returns the options of every command, and the options of all commands that read."""
    return set.intersection(*({option["name"] for option in each["options"]}
                              for each in commands().values())) | {
        "--gpu", "--from", "--json", "--pretty", "--csv", "--columns", "--no-header"}


@pytest.fixture(params=NAMES)
def command(request):
    return commands()[request.param]


def name_of(command):
    return " ".join(filter(None, (command["object"], command["verb"])))


def squeezed(text):
    return re.sub(r"\s+", " ", text)


def manual(page):
    """Returns a man page as plain text on one line."""
    done = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=200", manuals() / page],
                          capture_output=True, text=True, check=True)
    return squeezed(re.sub(r".\x08", "", done.stdout)).replace("’", "'").replace("‐", "-")


def page_of(command):
    return manual("nvdebugctl.1" if command["object"] == "help" else
                  f"nvdebugctl-{command['object']}.1")


def says(page, sentence):
    """Returns whether the page has the sentence. The first letter may have either case."""
    words = squeezed(sentence).replace("'", "").rstrip(".")
    page = page.replace("'", "")
    return words in page or words[0].upper() + words[1:] in page


def unbroken(text):
    """Joins the lines of help, which the tool breaks at words even in a pipe."""
    return " ".join(text.split())


def test_help_has_everything(command):
    name = name_of(command)
    result = ctl(f"{name} --help")
    assert (result.status, result.err) == (0, "")
    said = unbroken(result.out)
    assert command["synopsis"] in said and command["help"] in said
    for thing in command["arguments"] + command["options"]:
        assert thing["name"] in said and thing["help"] in said
    for example in command["examples"]:
        assert unbroken(example["line"]) in said
    assert command["verb"] is None or command["synopsis"] in unbroken(ctl([command["object"], "-h"]).out)
    assert command["object"] in ctl("--help").out
    assert ctl(["help", *name.split()]).out == result.out


def test_columns_help(command):
    if name_of(command) == "exec":
        return  # the remaining options are nvtaskset's
    result = ctl([*name_of(command).split(), "--columns", "help"])
    if not command["columns"]:
        assert result.status == 1 and "does not take --columns" in result.err
        return
    lines = list(map(unbroken, re.split(r"^  (?=\S)", result.out, flags=re.MULTILINE)[1:]))
    assert [line.split()[0] for line in lines] == [each["name"] for each in command["columns"]]
    for line, column in zip(lines, command["columns"]):
        assert column["help"] in line


def test_examples_are_of_the_command(command):
    assert command["examples"], "help shows examples"
    for example in command["examples"]:
        assert name_of(command) in example["line"] and "nvdebugctl" in example["line"]


def test_man_page(command):
    page = page_of(command)
    assert name_of(command) in page
    assert says(page, command["help"])
    for option in command["options"]:
        if option["name"] not in common_options():
            assert option["name"] in page and says(page, option["help"]), option["name"]
    for argument in command["arguments"]:
        assert argument["name"] in page and says(page, argument["help"]), argument["name"]
    for column in command["columns"]:
        assert column["name"] in page and says(page, column["help"]), column["name"]
    for example in command["examples"]:
        if command["object"] != "help":
            assert says(page, example["line"]), example["line"]
    if command["schema"] and command["object"] != "help":
        data = load_schema(command["schema"])["properties"]["data"]
        for key, help_ in properties(data).items():
            assert key in page and says(page, help_), key


def test_common_options_are_in_the_main_man_page():
    page = manual("nvdebugctl.1")
    common = common_options()
    options = {option["name"]: option for command in commands().values()
               for option in command["options"] if option["name"] in common}
    assert set(options) == common
    for name, option in options.items():
        assert name in page and says(page, option["help"]), name


def test_there_is_a_man_page_for_each_object_and_no_other():
    assert sorted(path.name for path in manuals().iterdir()) == [
        *(f"nvdebugctl-{name}.1" for name in OBJECTS), "nvdebugctl.1"]
    for name in OBJECTS:
        assert f"nvdebugctl-{name}(1)" in manual("nvdebugctl.1")


@pytest.mark.parametrize("page", ("nvdebugctl.1", *(f"nvdebugctl-{name}.1" for name in OBJECTS)))
def test_man_page_is_well_formed(page):
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", manuals() / page],
                          capture_output=True, text=True, check=False)
    assert done.stdout == ""


def described(schema, where):
    """Asserts that every key of every object has a description and is required."""
    if isinstance(schema, list):
        for part in schema:
            described(part, where)
    if not isinstance(schema, dict):
        return
    for name, part in schema.get("properties", {}).items():
        assert part is False or part.get("description"), f"{where}: {name} has no description"
    if schema.get("type") == "object" and "properties" in schema and "title" not in schema:
        assert set(schema["required"]) == set(schema["properties"]), where
    for key, part in schema.items():
        if key not in ("const", "enum"):
            described(part, f"{where}/{key}")


def test_schemas_describe_every_key():
    for path in schemas().iterdir():
        described(load_schema(path.name), path.name)


def test_schemas_are_well_formed():
    for path in schemas().iterdir():
        jsonschema.Draft202012Validator.check_schema(load_schema(path.name))


def test_a_schema_needs_no_other_file(tmp_path):
    """A user's script validates a document with one schema, and loads no other file."""
    def references(part):
        if isinstance(part, dict):
            yield from [part["$ref"]] if "$ref" in part else []
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            yield from references(inner)
    source = write_tree(tmp_path / "proc", ("a100", "mixed"))
    for line in ("runlist list", "runlist tree", "tsg list", "engine list", "gpu show", "check"):
        document = json.loads(ctl(f"{line} -j", source).out)
        schema = load_schema(document["schema"].partition("/")[2] + ".json")
        jsonschema.validate(document, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**document, "data": 7}, schema)
    for path in schemas().iterdir():
        schema = load_schema(path.name)
        assert all(name.rpartition("/")[2] in schema.get("$defs", {}) and name.startswith("#/$defs/")
                   for name in references(schema)), path.name


def test_there_is_a_schema_for_each_command_with_json_and_no_other():
    wanted = {command["schema"] for command in commands().values() if command["schema"]}
    assert {path.name for path in schemas().iterdir()} == wanted | {"common.json", "error.json",
                                                                    "recording.line.json"}


def properties(schema):
    """Returns the descriptions by key, in the order of the file, with the keys of the definition that the schema refers
    to."""
    base = {}
    if "$ref" in schema:
        base = properties(load_schema("common.json")["$defs"][schema["$ref"].rpartition("/")[2]])
    own = {name: part["description"] for name, part in schema.get("properties", {}).items()}
    return {**base, **own}


def objects(schema):
    """Yields every object schema in it."""
    if isinstance(schema, list):
        for part in schema:
            yield from objects(part)
    elif isinstance(schema, dict):
        if schema.get("type") == "object":
            yield properties(schema)
        for part in schema.values():
            yield from objects(part)


def test_columns_are_keys_of_json(command):
    """Some object of the schema has the columns as its keys, with the same descriptions."""
    if not command["columns"]:
        return
    columns = {column["name"]: column["help"] for column in command["columns"]}
    data = load_schema(command["schema"])["properties"]["data"]
    if "items" in data:
        assert properties(data["items"]) == columns
        return
    found = {}
    for each in objects(data):
        found.update({name: each[name] for name in each if each[name] == columns.get(name)})
    # In JSON, the object above a channel has the channel's place.
    elsewhere = {"runlist", "tsg", "entries"} if name_of(command) == "runlist show" else set()
    assert found.keys() | elsewhere == columns.keys()


def test_completion_of_options_and_verbs(command):
    words = name_of(command).split()
    options = ctl(["__complete", "--", *words, "--"]).out.split()
    if command["object"] == "exec":  # its words are nvtaskset's
        assert options == [f"<nvtaskset>{len(words)}"]
        return
    assert options == [option["name"] for option in command["options"]]
    objects_ = ctl(["__complete", "--", ""]).out.split()
    assert command["object"] in objects_
    if command["verb"]:
        assert command["verb"] in ctl(["__complete", "--", command["object"], ""]).out.split()
    if command["columns"]:
        assert ctl(["__complete", "--", *words, "--columns", ""]).out.split() == [
            "help", *(column["name"] for column in command["columns"])]
    for option in command["options"]:
        if option["choices"]:
            assert ctl(["__complete", "--", *words, option["name"], ""]
                       ).out.split() == option["choices"]


def test_contract_names_every_command_and_no_other():
    assert NAMES == sorted(commands())


def test_version():
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    assert ctl("--version").out == f"nvdebugctl {version}\n"


def test_schema_version():
    said = set()
    for page in (ROOT / "docs/nvdebugctl.md", manuals() / "nvdebugctl.1"):
        text = page.read_text(encoding="utf-8")
        said |= set(re.findall(r'"schema_version": "([\d.]+)"', text))
    assert said == {ctl("help -j").json["schema_version"]}
