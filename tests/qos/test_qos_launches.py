# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvqos limits launches in flight of what runs beside a service: the program over the stand-in for the driver, and
programs over nvtaskset's stand-in for CUDA. Takes root, as nvqos does."""

import json
import signal
import time

import jsonschema
import pytest
from desk import NEVER, attach_earlier_library, gate, most_in_flight, page_of
from qos_machine import FIRST_US, SCHEMAS
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["qos_machine"]

ADDRESS = "0000:01:00.0"
SCHEMA = json.loads((SCHEMAS / "nvqos.epoch.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _one_gpu(desk, monkeypatch):
    """The GPU of the stand-in for the driver is that of the one for CUDA."""
    place = desk.folder / "one/gpus" / ADDRESS
    place.mkdir(parents=True)
    (place / "information").write_text(f"GPU UUID: \t {desk.uuids[0]}\n", encoding="utf-8")
    monkeypatch.setenv("NVTASKSET_DRIVER_FOLDER", str(desk.folder / "one"))


def prepared(desk, machine):
    program = desk.start("--prepare", STAND_IN_LOOKS="50")
    machine.use_gpu(program.pid)
    return program


def leased(desk, program):
    return (gate(desk, program) or {"leased_limit": None})["leased_limit"]


def lines(nvqos):
    """Tenants of each epoch, while there is time."""
    end = time.monotonic() + PATIENCE_S
    for line in nvqos.stdout:
        assert time.monotonic() < end, line
        found = json.loads(line)
        jsonschema.validate(found, SCHEMA, jsonschema.Draft202012Validator)
        yield {tenant["name"]: tenant for tenant in found["data"]["tenants"]}


@pytest.mark.parametrize("how", (signal.SIGKILL, signal.SIGTERM))
def test_beside_a_service_until_nvqos_ends(desk, machine, how):
    service, program = machine.process(), prepared(desk, machine)
    machine.start("--quiet", f"{service.pid}=latency")
    assert comes_true(lambda: leased(desk, program) == 4)
    assert program.ask("burst 1 30 cuLaunchKernel") == "ok"
    assert most_in_flight(desk) == 4
    assert "at most 4 launches in flight (by nvqos): of 30, " in desk.told(program.pid)
    machine.nvqos.send_signal(how)
    machine.nvqos.wait(PATIENCE_S)
    assert comes_true(lambda: leased(desk, program) is None) if how == signal.SIGKILL else leased(desk, program) is None


def test_it_is_renewed_and_ends_if_nvqos_is_suspended(desk, machine):
    service, program = machine.process(), prepared(desk, machine)
    machine.start("--quiet", f"{service.pid}=latency")
    assert comes_true(lambda: leased(desk, program) == 4)
    machine.nvqos.send_signal(signal.SIGSTOP)
    assert comes_true(lambda: leased(desk, program) is None)
    machine.nvqos.send_signal(signal.SIGCONT)
    assert comes_true(lambda: leased(desk, program) == 4)


def test_until_the_service_ends(desk, machine):
    service, program = machine.process(), prepared(desk, machine)
    machine.start("--quiet", f"{service.pid}=latency")
    assert comes_true(lambda: leased(desk, program) == 4)
    service.kill()
    service.wait(PATIENCE_S)
    assert comes_true(lambda: leased(desk, program) is None)


def test_only_tasks_of_best_effort(desk, machine):
    service, program, promised = machine.process(), prepared(desk, machine), prepared(desk, machine)
    machine.start("--json", f"{service.pid}=latency", f"{promised.pid}=share:20%")
    for tenants in lines(machine.nvqos):
        if tenants["others"]["tasks"] and tenants[str(promised.pid)]["tasks"] and tenants["others"]["limited_tasks"]:
            break
    assert tenants["others"]["limited_tasks"] == 1 and tenants["others"]["in_flight_limit"] == 4
    for name in (str(service.pid), str(promised.pid)):
        assert tenants[name]["limited_tasks"] == 0 and tenants[name]["in_flight_limit"] is None
    assert leased(desk, promised) is None and leased(desk, program) == 4


def test_not_without_a_service(desk, machine):
    other, program = machine.process(), prepared(desk, machine)
    machine.start("--quiet", f"{other.pid}=share:30%")
    assert comes_true(lambda: machine.timeslice(program.pid) != FIRST_US)
    assert leased(desk, program) is None
    assert machine.ask(f"hold service latency pid={other.pid}").startswith("ok")
    assert comes_true(lambda: leased(desk, program) == 4)
    assert machine.ask("release service").startswith("ok")
    assert comes_true(lambda: leased(desk, program) is None)


def test_the_table_and_the_metrics_have_it(desk, machine):
    service = machine.process()
    prepared(desk, machine)
    machine.process()
    metrics = machine.folder / "qos.prom"
    machine.start(f"{service.pid}=latency", f"--metrics={metrics}")
    assert any(b", 4 launches (1 of 2)" in line for line in machine.nvqos.stdout)
    line = 'nvqos_limited_tasks{gpu="0",tenant="others",number="0"} 1\n'
    assert comes_true(lambda: line in metrics.read_text(encoding="utf-8"))


def test_a_library_of_an_earlier_nvtaskset(desk, machine):
    service, program = machine.process(), prepared(desk, machine)
    with page_of(program) as page:
        attach_earlier_library(page)
    machine.start("--quiet", f"{service.pid}=latency")
    assert comes_true(lambda: f"launches of program[{program.pid}] are not limited: it has the library of an earlier "
                      "nvtaskset; start it again" in machine.errors())
    assert leased(desk, program) is None


# --- at an MPS server, where nothing but launches keeps tasks apart ---

HOLD, WATCH = 0xffff, 0xfffe  # lib/partition/gate.hpp


@pytest.fixture
def mps(machine, monkeypatch):
    monkeypatch.setenv("NVQOS_STAND_IN_MPS", "1")
    return machine


def client(desk, machine, looks="0"):
    program = desk.start("--prepare", STAND_IN_LOOKS=looks)
    assert program.ask("burst 1 1 cuLaunchKernel") == "ok"
    machine.use_gpu(program.pid)
    return program


def demand(program):
    """The lease of its GPU, as it was written last."""
    with page_of(program) as page:
        return int.from_bytes(page[4158:4160], "little")


def holds(service, training):
    """A request of the service holds the other one's launches: for 0.1 s at most, as its end may not be seen, which on a
    loaded machine may have passed before it is looked at."""
    def once():
        assert service.ask("burst 1 3 cuLaunchKernel") == "ok"
        for _ in range(5):
            if demand(training) == HOLD:
                return True
            time.sleep(0.01)
        assert service.ask("wait cuCtxSynchronize") == "ok"
        return False
    return comes_true(once)


def test_launches_are_held_while_a_service_has_a_request(desk, mps):
    service, training = client(desk, mps, NEVER), client(desk, mps)
    mps.start("--quiet", f"{service.pid}=latency")
    assert comes_true(lambda: demand(service) == WATCH and demand(training) == 2)
    for _ in range(5):
        assert holds(service, training)
        training.say("burst 1 3 cuLaunchKernel")
        assert service.ask("wait cuCtxSynchronize") == "ok"
        assert comes_true(lambda: demand(training) == 2)
        assert training.hear() == "ok"
    assert "cannot be changed" not in mps.errors()
    mps.nvqos.send_signal(signal.SIGTERM)
    mps.nvqos.wait(PATIENCE_S)
    assert demand(service) == demand(training) == 0


def test_the_limit_beside_a_service_is_smaller_there(desk, mps):
    service, training = client(desk, mps), client(desk, mps)
    mps.start("--json", f"{service.pid}=latency")
    for tenants in lines(mps.nvqos):
        if tenants["others"]["limited_tasks"]:
            break
    assert tenants["others"]["in_flight_limit"] == demand(training) == 2


def test_a_request_whose_end_is_not_seen_holds_nothing_for_good(desk, mps):
    service, training = client(desk, mps, NEVER), client(desk, mps)
    mps.start("--quiet", f"{service.pid}=latency")
    assert comes_true(lambda: demand(training) == 2)
    assert holds(service, training)
    assert comes_true(lambda: demand(training) == 2)


@pytest.mark.parametrize("how", (signal.SIGKILL, signal.SIGTERM))
def test_speeds_are_kept_by_launches(desk, mps, how):
    service, training = client(desk, mps), client(desk, mps)
    for program in (service, training):
        program.say("burst 1 10000000 cuLaunchKernel")
    mps.start("--json", f"{service.pid}=speed:50%", wait=False)
    for tenants in lines(mps.nvqos):
        one, other = tenants[str(service.pid)], tenants["others"]
        assert one["held_tasks"] == other["held_tasks"] == 0
        if one["speed_percent"] and one["launches_alone_per_s"] and gate(desk, training)["waited"]:
            break
    assert one["paced_tasks"] == other["paced_tasks"] == 1
    assert one["limited_tasks"] == other["limited_tasks"] == 0 and other["in_flight_limit"] is None
    mps.nvqos.send_signal(how)
    mps.nvqos.wait(PATIENCE_S)
    assert comes_true(lambda: gate(desk, service)["demand"] is None and gate(desk, training)["demand"] is None)
    service.kill()
    launched = desk.log_file.stat().st_size
    assert comes_true(lambda: desk.log_file.stat().st_size > launched), "the other one goes on"
    training.kill()


@pytest.mark.parametrize("goal, others, reasons", (("speed:50%", "cap:60%", (None, "cannot be seen")),
                                                   ("speed:50%,cap:60%", "best-effort:2", ("cannot be seen", None))))
def test_a_cap_beside_a_speed_by_launches_cannot_be_seen(desk, mps, goal, others, reasons):
    """Launches show a speed. The time on the GPU, which a cap is about, is not known of clients of an MPS server."""
    service, training = client(desk, mps), client(desk, mps)
    for program in (service, training):
        program.say("burst 1 10000000 cuLaunchKernel")
    mps.start("--json", f"{service.pid}={goal}", f"others={others}", wait=False)
    for tenants in lines(mps.nvqos):
        both = tenants[str(service.pid)], tenants["others"]
        if both[0]["speed_percent"] and any(tenant["why_not"] for tenant in both):
            break
    assert tuple(tenant["why_not"] for tenant in both) == reasons
    capped = both[reasons.index("cannot be seen")]
    assert capped["kept"] is not True and capped["paced_tasks"] == 1
    service.kill()
    training.kill()


@pytest.mark.parametrize("goal, kept", (("latency:1us", False), ("latency:60s", True)))
def test_requests_are_judged(desk, mps, goal, kept):
    service = client(desk, mps)
    mps.start("--json", f"{service.pid}={goal}", wait=False)
    for tenants in lines(mps.nvqos):
        one = tenants[str(service.pid)]
        if one["requests"] and one["requests"] >= 100:
            break
        if demand(service) == WATCH:
            assert service.ask("repeat 20 launch")
    assert one["kept"] is kept and one["goal_p99_us"] == (1 if not kept else 60_000_000)
    assert one["request_p99_us"] > 1
    mps.nvqos.send_signal(signal.SIGTERM)
    assert mps.nvqos.wait(PATIENCE_S) == (0 if kept else 4)


def test_requests_that_are_not_seen(desk, mps):
    service = mps.process()
    mps.start("--quiet", f"{service.pid}=latency:5ms")
    assert comes_true(lambda: f"whether requests of {service.pid} take more than 5 ms is not seen: start it with "
                      "'nvtaskset --prepare'" in mps.errors())


def mask_of(program):
    """Words of the lease of TPCs, or None."""
    with page_of(program) as page:
        words = [int.from_bytes(page[6456 + 4 * n:6460 + 4 * n], "little") for n in range(12)]
    return words[4:] if words[0] or words[1] else None


@pytest.fixture(name="busy")
def _busy(desk, mps):
    """Two that launch again and again, on a GPU with a map of its TPCs. Launches take no time on it."""
    desk.done("--list")
    (desk.folder / "one/version").write_text((desk.folder / "driver/version").read_text(encoding="utf-8"), encoding="utf-8")
    programs = client(desk, mps), client(desk, mps)
    for program in programs:
        program.say("burst 1 10000000 cuLaunchKernel")
    yield programs
    for program in programs:
        program.kill()


def test_tpcs_are_divided_if_that_is_asked_for(mps, busy):
    service, training = busy
    mps.start("--json", "--tpcs", f"{service.pid}=speed:50%", wait=False)
    for tenants in lines(mps.nvqos):
        one, other = tenants[str(service.pid)], tenants["others"]
        if one["tpcs"] and mask_of(service) and mask_of(training):
            break
    assert one["tpcs"] + other["tpcs"] == 66
    mine, others = mask_of(service), mask_of(training)
    if mine and others:
        bits = [sum(word.bit_count() for word in words) for words in (mine, others)]
        assert sum(bits) == 66 and not any(a & b for a, b in zip(mine, others))
    mps.nvqos.send_signal(signal.SIGTERM)
    mps.nvqos.wait(PATIENCE_S)
    assert mask_of(service) is None and mask_of(training) is None


def test_tpcs_are_divided_as_long_as_the_file_has_it(mps, busy, tmp_path):
    service, training = busy
    goals = tmp_path / "goals.toml"
    tenant = f'[[tenant]]\npid = {service.pid}\ngoal = "speed:50%"\n'
    goals.write_text(f"tpcs = true\n{tenant}", encoding="utf-8")
    mps.start("--quiet", "--file", goals)
    assert comes_true(lambda: mask_of(service) and mask_of(training))
    goals.write_text(tenant, encoding="utf-8")
    mps.nvqos.send_signal(signal.SIGHUP)
    assert comes_true(lambda: not mask_of(service) and not mask_of(training))
    # A search has an attempt with masks before that.
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        assert not mask_of(service) and not mask_of(training)
        time.sleep(0.01)


def test_tpcs_that_are_not_known(desk, mps):
    service, _ = client(desk, mps), client(desk, mps)
    mps.start("--quiet", "--tpcs", f"{service.pid}=speed:50%")
    assert comes_true(lambda: "TPCs are not divided, as none are known here: run 'nvtaskset --list' once" in mps.errors())
