# SPDX-License-Identifier: MIT OR GPL-2.0
"""The neighbours of the benchmark of an LLM engine, without a GPU."""

import contextlib
import os
import subprocess
import sys
import time
import types
import weakref

import pytest
from building import ROOT

sys.path.insert(0, str(ROOT / "lab"))

# pylint: disable=wrong-import-position
from nvdlab import torch_loads  # noqa: E402
from nvdlab.llm import neighbours, progress  # noqa: E402

PATIENCE_S = 60
ENV = dict(os.environ) | {"PYTHONPATH": str(ROOT / "lab")}


def test_a_neighbour_counts_steps_while_it_is_asked_to(tmp_path):
    path = tmp_path / "steps"
    progress.create(path)
    view = progress.View(path)
    with subprocess.Popen([sys.executable, neighbours.__file__, "sleep", "tiny", path, "all"], env=ENV, stderr=subprocess.PIPE) as made:
        def until(reached):
            end = time.monotonic() + PATIENCE_S
            while not reached():
                assert time.monotonic() < end and made.poll() is None
                time.sleep(0.01)
        until(view.is_ready)
        assert view.steps() == 0 and not view.times_us()
        view.tell(progress.GO)
        until(lambda: view.steps() > 20)
        view.tell(progress.WAIT)
        times = view.times_us()
        assert times == sorted(times) and all(after - before >= 9000 for before, after in zip(times, times[1:]))
        view.tell(progress.FAULT)
        assert made.wait(PATIENCE_S) == 1 and b"fails as it was asked to" in made.stderr.read()


def test_a_counter_keeps_the_last_moments(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "KEPT", 8)
    progress.create(tmp_path / "steps")
    counter, view = progress.Counter(tmp_path / "steps"), progress.View(tmp_path / "steps")
    for _ in range(20):
        counter.step()
    assert not view.is_ready()
    for is_graph in (False, True):
        counter.ready(is_graph)
        assert view.is_ready() and view.is_graph() == is_graph
    assert view.steps() == 20 and len(view.times_us()) == 7 and view.times_us() == sorted(view.times_us())


class Cuda:
    """A stand-in for torch.cuda: a graph replays nothing, and calls are noted."""

    def __init__(self, fails=False):
        self.calls, self.fails = [], fails

    def synchronize(self):
        self.calls.append("synchronize")

    def Stream(self):  # pylint: disable=invalid-name # as PyTorch has it
        self.calls.append("stream")

    def stream(self, _):
        return contextlib.nullcontext()

    def CUDAGraph(self):  # pylint: disable=invalid-name
        return types.SimpleNamespace(replay=lambda: self.calls.append("replay"))

    @contextlib.contextmanager
    def graph(self, _, stream):
        self.calls.append(f"capture on {stream}")
        yield
        if self.fails:
            raise RuntimeError("operation not permitted when stream is capturing")


def test_a_graph_waits_for_its_tensors_and_keeps_them():
    class Forward:
        def __call__(self):
            torch.cuda.calls.append("forward")
    torch = types.SimpleNamespace(cuda=Cuda())
    forward = Forward()
    kept = weakref.ref(forward)
    replay = torch_loads.replayed(torch, forward)
    del forward
    assert torch.cuda.calls == ["synchronize", "stream", *["forward"] * 3, "synchronize", "capture on None", "forward"]
    assert kept() is not None, "the graph has the addresses of its tensors"
    replay()
    assert torch.cuda.calls[-1] == "replay"


def test_a_training_that_cannot_be_a_graph_launches_its_kernels(capsys):
    assert neighbours.as_a_graph(types.SimpleNamespace(cuda=Cuda(fails=True)), lambda: None) is None
    assert "not permitted when stream is capturing" in capsys.readouterr().err
    assert neighbours.as_a_graph(types.SimpleNamespace(cuda=Cuda()), lambda: None)


@pytest.mark.parametrize("launch_ms", (0, 0.15, 1))
@pytest.mark.parametrize("of_4096_ms", (0.17, 3.0, 40.0))
def test_a_long_kernel_takes_its_time_whatever_its_launch_takes(launch_ms, of_4096_ms):
    def took_ms(size):
        return launch_ms + of_4096_ms * (size / 4096) ** 3
    assert took_ms(neighbours.size_for(took_ms)) == pytest.approx(neighbours.LONG_MS, rel=0.2)


# --- with PyTorch, on the processor ---

@pytest.mark.ci
@pytest.mark.parametrize("kind", ("train", "diffusion", "long", "engine"))
def test_a_neighbour_makes_steps(tmp_path, kind):
    pytest.importorskip("torch", reason="PyTorch is not a package that the tests install; apt-get install python3-torch")
    progress.create(tmp_path / "steps")
    view = progress.View(tmp_path / "steps")
    with subprocess.Popen([sys.executable, neighbours.__file__, kind, "tiny", tmp_path / "steps", "all"],
                          env=ENV | {"PYTHONPATH": ":".join([str(ROOT / "lab"), *filter(None, [os.environ.get("PYTHONPATH")])])}) as made:
        try:
            view.tell(progress.GO)
            end = time.monotonic() + 2 * PATIENCE_S
            while view.steps() < 3:
                assert made.poll() is None and time.monotonic() < end
                time.sleep(0.05)
        finally:
            made.kill()
