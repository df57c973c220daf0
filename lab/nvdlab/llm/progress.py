# SPDX-License-Identifier: MIT OR GPL-2.0
"""A file by which a neighbour counts its steps, and is asked to make them, to wait, or to fail."""

import mmap
import struct
import time

KEPT = 1 << 16                 # moments of the last steps
HEAD = struct.Struct("QQQ")    # steps so far; 0, or READY and IS_GRAPH; the command
READY, IS_GRAPH = 1, 2         # the program is ready; its step is one CUDA graph
WAIT, GO, FAULT = range(3)     # commands
LOOK_S = 0.002


def create(path):
    path.write_bytes(bytes(HEAD.size + 8 * KEPT))


class Counter:
    """The neighbour's side."""

    def __init__(self, path):
        with open(path, "r+b") as file:
            self.shared = mmap.mmap(file.fileno(), 0)
        self.done = 0

    def command(self):
        return HEAD.unpack_from(self.shared)[2]

    def ready(self, is_graph=False):
        struct.pack_into("Q", self.shared, 8, READY | IS_GRAPH * is_graph)

    def step(self):
        """Counts a step that has ended now."""
        struct.pack_into("Q", self.shared, HEAD.size + 8 * (self.done % KEPT), time.monotonic_ns())
        self.done += 1
        struct.pack_into("Q", self.shared, 0, self.done)

    def run(self, step, fault):
        """Makes steps while the command is GO, until the process is killed.

        @param step launches a step, and returns a function that waits for its end. While a step runs, the next one is queued.
        @param fault makes the GPU fail, once the command is FAULT
        """
        before = None
        while True:
            command = self.command()
            if command == FAULT:
                fault()
            after = step() if command == GO else None
            if before:
                before()
                self.step()
            elif after is None:
                time.sleep(LOOK_S)
            before = after


class View:
    """The side of the program that measures."""

    def __init__(self, path):
        self.path = path

    def _head(self):
        with open(self.path, "rb") as file:
            return HEAD.unpack(file.read(HEAD.size))

    def steps(self):
        return self._head()[0]

    def is_ready(self):
        return bool(self._head()[1])

    def is_graph(self):
        return bool(self._head()[1] & IS_GRAPH)

    def tell(self, command):
        with open(self.path, "r+b") as file:
            file.seek(16)
            file.write(struct.pack("Q", command))

    def times_us(self):
        """Returns the moments of the last steps, as far as they are kept, in microseconds of CLOCK_MONOTONIC."""
        whole = self.path.read_bytes()
        done = HEAD.unpack_from(whole)[0]
        return [struct.unpack_from("Q", whole, HEAD.size + 8 * (number % KEPT))[0] // 1000
                for number in range(max(0, done - KEPT + 1), done)]
