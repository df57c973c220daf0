# SPDX-License-Identifier: MIT OR GPL-2.0
"""An LLM engine with random weights, which takes requests over a Unix socket.

    engine.py KIND SHAPE PROMPT OUTPUT SOCKET CPUS

KIND is transformers (its continuous batching, batching.py), own (a static batch with CUDA graphs), auto (the first one of
these that works) or sleep (a stand-in without PyTorch: it sleeps, and its times mean nothing). SHAPE is a name of
llama.SHAPES. Prompts have PROMPT tokens, and at most OUTPUT tokens are made for each. CPUS is a list such as 2,3, or `all`.

A client connects, one at a time, and sends a line {"number", "prompt", "output"} for each request. After each step it gets a
line {"step": [[number, token, is it the last one], …]}, or {"failed": [[number, sentence], …]}. The requests of a client that
closes its connection are dropped. On stdout the engine prints `ready`, and then a line of JSON for each line on stdin: its
name and kind, and how many CUDA graphs it has captured so far.
"""

import collections
import contextlib
import gc
import itertools
import json
import os
import queue
import socket
import sys
import threading
import time
import traceback

from nvdlab import torch_loads
from nvdlab.collectives import die_with_the_parent
from nvdlab.llm import batching, llama

SLOTS = 48           # requests that run at a time
STEP_S, PROMPT_S = 0.004, 0.003  # of the stand-in


def marker():
    """Returns the function by which engines mark their busy periods for nvqos; one without effect where the module lacks it."""
    try:
        from nvdebugctl import mark  # pylint: disable=import-outside-toplevel
    except ImportError:
        return lambda state: None
    return mark


class Waiting:
    """Requests of clients, and the way back for their tokens. A request's key is (client, number)."""

    def __init__(self):
        self.inbox, self.lock, self.connection = queue.SimpleQueue(), threading.Lock(), None
        self.client, self.in_flight, self.mark = 0, set(), marker()

    def submit(self, request):
        with self.lock:
            key = (self.client, request["number"])
            if not self.in_flight:
                self.mark("busy")
            self.in_flight.add(key)
        self.inbox.put((key, request["prompt"], request["output"]))

    def is_wanted(self, key):
        return key in self.in_flight

    def _ended(self, keys):
        had = bool(self.in_flight)
        self.in_flight.difference_update(keys)
        if had and not self.in_flight:
            self.mark("idle")

    def deliver(self, step=(), failed=()):
        """Sends the tokens of a step, each (key, token, is it the last one), and failures, each (key, sentence)."""
        with self.lock:
            line = {"step": [[key[1], token, last] for key, token, last in step if key in self.in_flight],
                    "failed": [[key[1], text] for key, text in failed if key in self.in_flight]}
            self._ended([key for key, _, last in step if last] + [key for key, _ in failed])
            if self.connection and (line["step"] or line["failed"]):
                with contextlib.suppress(OSError):
                    self.connection.sendall(json.dumps(line).encode() + b"\n")

    def serve(self, path):
        """Takes clients, until the process ends."""
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path)
            listening.listen(4)
            while True:
                connection, _ = listening.accept()
                with self.lock:
                    self.client += 1
                    self.connection = connection
                with connection, connection.makefile("rb") as lines, contextlib.suppress(OSError, ValueError):
                    for line in lines:
                        self.submit(json.loads(line))
                with self.lock:
                    self.connection = None
                    self._ended(set(self.in_flight))


# --- engines; each has `name`, captures(), and run(waiting), which returns only if it fails ---

class Batch:
    """A static batch: each step prefills one prompt, if one waits and a slot is free, and decodes all slots in use."""

    def captures(self):
        return 0

    def run(self, waiting):
        free, used, asked = list(range(SLOTS)), {}, collections.deque()
        while True:
            with contextlib.suppress(queue.Empty):
                while True:
                    asked.append(waiting.inbox.get(block=not used and not asked))
            for slot in [slot for slot, one in used.items() if not waiting.is_wanted(one["key"])]:
                del used[slot]
                free.append(slot)
            stepped = []
            if asked and free:
                key, prompt, output = asked.popleft()
                slot = free.pop()
                used[slot] = {"key": key, "left": output, "at": len(prompt), "token": self.prefill(slot, prompt)}
                stepped.append(slot)
            going = [slot for slot in used if slot not in stepped]
            if going:
                for slot, token in zip(going, self.decode([(slot, used[slot]["token"], used[slot]["at"]) for slot in going])):
                    used[slot]["token"] = token
                    used[slot]["at"] += 1
                stepped += going
            for slot in stepped:
                used[slot]["left"] -= 1
            waiting.deliver([(used[slot]["key"], used[slot]["token"], used[slot]["left"] <= 0) for slot in stepped])
            for slot in [slot for slot in stepped if used[slot]["left"] <= 0]:
                del used[slot]
                free.append(slot)


class Sleeping(Batch):
    name, kind = "stand-in that sleeps; its times mean nothing", "sleep"

    def prefill(self, _, prompt):
        time.sleep(PROMPT_S)
        return sum(prompt) % 1000

    def decode(self, going):
        time.sleep(STEP_S)
        return [(31 * token + at) % 1000 for _, token, at in going]


class Own(Batch):
    """Llama's arithmetic with a static cache: a CUDA graph for a prompt, and one for a step of decoding."""

    name, kind = "own loop: static batch and cache, CUDA graphs for a prompt and for a step", "own"

    def __init__(self, torch, shape, prompt, output):
        self.torch, self.device = torch, "cuda" if torch.cuda.is_available() else "cpu"
        dtype = llama.dtype(torch, self.device)
        self.net = llama.Llama(torch, shape, self.device, dtype)
        self.prompt, places = prompt, prompt + output + 1  # the last place of a slot is where slots without a request write

        def numbers(count):
            return torch.zeros(count, dtype=torch.long, device=self.device)
        self.cache = [[torch.zeros(SLOTS, shape.kv_heads, places, shape.head, dtype=dtype, device=self.device)
                       for _ in "kv"] for _ in range(shape.layers)]
        self.lanes, self.places = torch.arange(SLOTS, device=self.device), torch.arange(places, device=self.device)
        self.tokens, self.at, self.next = numbers(SLOTS), numbers(SLOTS) + places - 1, numbers(SLOTS)
        self.asked, self.slot, self.first = numbers(prompt), numbers(1), numbers(1)
        self.graphs = 0
        with torch.no_grad():
            self.do_prompt, self.do_step = self.prepared(self._prompt), self.prepared(self._step)

    def captures(self):
        return self.graphs

    def prepared(self, forward):
        if self.device == "cpu":
            return forward
        self.graphs += 1
        return torch_loads.replayed(self.torch, forward)

    def _prompt(self):
        alone = self.net.causal(1)

        def attend(number, query, key, value):
            for kept, new in zip(self.cache[number], (key, value)):
                kept[self.slot, :, :self.prompt] = new.transpose(0, 1)[None]
            return alone(number, query, key, value)
        states = self.net.forward(self.asked, self.places[:self.prompt], attend)
        self.first.copy_(self.net.logits(states[-1:]).argmax(-1))

    def _step(self):
        hidden = self.torch.zeros(SLOTS, 1, 1, len(self.places), device=self.device).masked_fill(
            (self.places[None] > self.at[:, None])[:, None, None], float("-inf"))

        def attend(number, query, key, value):
            for kept, new in zip(self.cache[number], (key, value)):
                kept[self.lanes, :, self.at] = new
            keys, values = self.cache[number]
            query = query.view(SLOTS, keys.shape[1], -1, query.shape[-1])
            return self.net.mixed(query, keys, values, hidden).reshape(SLOTS, -1)
        self.next.copy_(self.net.logits(self.net.forward(self.tokens, self.at, attend)).argmax(-1))

    def put(self, kept, values):
        kept.copy_(self.torch.tensor(values, dtype=self.torch.long))

    def prefill(self, slot, prompt):
        if len(prompt) != self.prompt:
            raise ValueError(f"this engine takes prompts of {self.prompt} tokens, and got one of {len(prompt)}")
        self.put(self.asked, prompt)
        self.put(self.slot, [slot])
        with self.torch.no_grad():
            self.do_prompt()
        return self.first.tolist()[0]

    def decode(self, going):
        tokens, at = [0] * SLOTS, [len(self.places) - 1] * SLOTS
        for slot, token, place in going:
            tokens[slot], at[slot] = token, place
        self.put(self.tokens, tokens)
        self.put(self.at, at)
        with self.torch.no_grad():
            self.do_step()
        made = self.next.tolist()
        return [made[slot] for slot, _, _ in going]


def made(kind, shape, prompt, output):
    """Returns an engine that answers."""
    if kind == "sleep":
        return Sleeping()
    import torch  # pylint: disable=import-outside-toplevel
    if kind in ("transformers", "auto"):
        try:
            return batching.Batching(torch, shape, prompt, output, SLOTS)
        except Exception as error:  # pylint: disable=broad-exception-caught # of any version of a package that may be missing
            if kind == "transformers":
                raise
            traceback.print_exc()
            print(f"transformers' continuous batching does not work here ({error!r}); the own loop takes its place", file=sys.stderr)
        gc.collect()
        torch.cuda.empty_cache()
    return Own(torch, shape, prompt, output)


def main():
    kind, shape, prompt, output, path, cpus = sys.argv[1:]
    die_with_the_parent()
    if cpus != "all":
        os.sched_setaffinity(0, map(int, cpus.split(",")))
    sys.setswitchinterval(0.0005)  # the thread that reads requests must not hold up a step for the usual 5 ms
    waiting = Waiting()
    engine = made(kind, llama.SHAPES[shape], int(prompt), int(output))
    threading.Thread(target=waiting.serve, args=(path,), daemon=True).start()

    def guarded():
        try:
            engine.run(waiting)
        finally:
            traceback.print_exc()
            os._exit(1)
    threading.Thread(target=guarded, daemon=True).start()
    while not os.path.exists(path):
        time.sleep(0.001)
    print("ready", flush=True)
    for _ in itertools.takewhile(bool, iter(sys.stdin.readline, "")):
        print(json.dumps({"engine": engine.name, "kind": engine.kind, "shape": shape, "captures": engine.captures()}), flush=True)


if __name__ == "__main__":
    main()
