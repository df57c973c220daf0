# SPDX-License-Identifier: MIT OR GPL-2.0
"""The client of a run, a process of its own. It sends requests when they are due, and notes when their tokens come.

    client.py FILE

FILE is JSON: `requests` (plans.py); `in_flight`, if so many requests are kept in flight and none has a time; `patience_s`
behind the last one that is due; `cpus`; and `socket`, the Unix socket of engine.py, or `address` and `model` of an engine
that takes OpenAI's completions. The client prints `ready`, and reads a line with the moment of CLOCK_MONOTONIC (in
microseconds) from which requests are due. It writes FILE with the suffix .out, a list in the same order: each request's
`due`, `sent`, moments `tokens`, `got`, `asked`, `counted`, `error` and `ended`, in microseconds, and `text`, its tokens or
its text.

Through an address a request is a POST to ADDRESS/completions with a stream, and each message that has choices counts as a
token that came then, as `vllm bench serve` counts it. The number of tokens is the one of the last message's usage, if there
is one.
"""

import asyncio
import json
import os
import pathlib
import sys
import time
import urllib.parse

from nvdlab.collectives import die_with_the_parent

LONGEST = 1 << 22  # bytes of a line


def now_us():
    return time.monotonic_ns() // 1000


class Refused(Exception):
    """The engine did not do a request. The message is a sentence."""


class Engine:
    """Requests to engine.py: a line of JSON for each request, and a line back for each step of the engine."""

    def __init__(self, path):
        self.path, self.waiting = path, {}
        self.writer = None

    async def open(self):
        reader, self.writer = await asyncio.open_unix_connection(self.path, limit=LONGEST)
        self.task = asyncio.create_task(self.read(reader))

    async def read(self, reader):
        while line := await reader.readline():
            moment, message = now_us(), json.loads(line)
            for number, token, is_last in message.get("step", ()):
                if queue := self.waiting.get(number):
                    queue.put_nowait((moment, token, is_last))
            for number, sentence in message.get("failed", ()):
                if queue := self.waiting.get(number):
                    queue.put_nowait((moment, Refused(sentence), True))
        for queue in self.waiting.values():
            queue.put_nowait((now_us(), Refused("the engine has ended"), True))
        self.waiting = None

    async def tokens(self, number, request):
        """Yields (moment, token, 1) of each token."""
        if self.waiting is None:
            raise Refused("the engine has ended")
        queue = self.waiting[number] = asyncio.Queue()
        self.writer.write(json.dumps({"number": number, "prompt": request["prompt"], "output": request["output"]}).encode() + b"\n")
        is_last = False
        while not is_last:
            moment, token, is_last = await queue.get()
            if isinstance(token, Refused):
                raise token
            yield moment, token, 1
        if self.waiting is not None:
            del self.waiting[number]

    async def close(self):
        self.writer.close()
        self.task.cancel()


class Completions:
    """Requests to an engine that takes OpenAI's completions over HTTP, with a connection for each request."""

    def __init__(self, address, model):
        parts = urllib.parse.urlsplit(address)
        self.host, self.port, self.model = parts.hostname, parts.port or 80, model
        self.path = parts.path.rstrip("/") + "/completions"

    async def open(self):
        pass

    async def close(self):
        pass

    def asked(self, request):
        body = json.dumps({"model": self.model, "prompt": request["prompt"], "max_tokens": request["output"], "temperature": 0,
                           "ignore_eos": True, "stream": True, "stream_options": {"include_usage": True}}).encode()
        return (f"POST {self.path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n").encode() + body

    async def tokens(self, _, request):
        """Yields (moment, text, tokens of the message). The last one may be (moment, "", the tokens that were missed by counting)."""
        try:
            reader, writer = await asyncio.open_connection(self.host, self.port, limit=LONGEST)
        except OSError as error:
            raise Refused(f"{self.host}:{self.port}: {error.strerror or error}") from None
        try:
            writer.write(self.asked(request))
            count, usage = 0, None
            async for line in lines(reader):
                moment = now_us()
                if not line.startswith(b"data:") or line[5:].strip() == b"[DONE]":
                    continue
                data = json.loads(line[5:])
                if "error" in data:
                    raise Refused(f"the engine answered: {data['error']}")
                if data.get("choices"):
                    count += 1
                    yield moment, data["choices"][0].get("text") or "", 1
                if data.get("usage"):
                    usage = data["usage"].get("completion_tokens")
            if usage is not None and count and usage != count:
                yield None, "", usage - count
        finally:
            writer.close()


async def lines(reader):
    """Yields the lines of the body of an answer. Raises Refused if its status is not 200."""
    status = (await reader.readline()).split(None, 2)
    chunked = False
    while header := (await reader.readline()).strip().lower():
        chunked |= header.startswith(b"transfer-encoding:") and b"chunked" in header
    if len(status) < 2 or status[1] != b"200":
        raise Refused(f"the engine answered {b' '.join(status[1:]).decode(errors='replace').strip() or 'nothing'}: "
                      f"{(await reader.read(300)).decode(errors='replace').strip()}")
    kept = b""
    while True:
        if chunked:
            size = int((await reader.readline()).split(b";")[0] or b"0", 16)
            more = (await reader.readexactly(size + 2))[:-2] if size else b""
        else:
            more = await reader.read(1 << 16)
        *whole, kept = (kept + more).split(b"\n")
        for line in whole:
            yield line.rstrip(b"\r")
        if not more:
            if kept:
                yield kept
            return


async def one(engine, number, request, due):
    """Returns what FILE.out has of a request."""
    found = {"due": due, "sent": now_us(), "tokens": [], "got": 0, "asked": request["output"], "counted": request["counted"],
             "error": None, "text": []}
    try:
        async for moment, text, count in engine.tokens(number, request):
            found["got"] += count
            if moment is not None:
                found["tokens"].append(moment)
                found["text"].append(text)
        if not found["tokens"]:
            found["error"] = "no token came"
    except (Refused, OSError, ValueError, asyncio.IncompleteReadError) as error:
        found["error"] = str(error) or type(error).__name__
    except asyncio.CancelledError:
        found["error"] = "it did not end in time"
    return found | {"ended": now_us()}


async def by_the_clock(engine, asked):
    """Sends each request when it is due, however many are in flight."""
    made = []
    for number, request in enumerate(asked["requests"]):
        due = asked["begin_us"] + int(1e6 * request["due_s"])
        await asyncio.sleep(max(0, due - now_us()) / 1e6)
        made.append(asyncio.create_task(one(engine, number, request, due)))
    if made:
        await asyncio.wait(made, timeout=asked["patience_s"])
    for task in made:
        task.cancel()
    return await asyncio.gather(*made)


async def in_flight(engine, asked):
    """Keeps a number of requests in flight."""
    left, found = list(enumerate(asked["requests"])), {}

    async def work():
        while left:
            number, request = left.pop(0)
            found[number] = await one(engine, number, request, now_us())
    workers = [asyncio.create_task(work()) for _ in range(asked["in_flight"])]
    await asyncio.wait(workers, timeout=asked["patience_s"])
    left.clear()
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    return [found[number] for number in sorted(found)]


async def run(asked):
    """Returns the requests with their times."""
    engine = Engine(asked["socket"]) if "socket" in asked else Completions(asked["address"], asked["model"])
    await engine.open()
    print("ready", flush=True)
    asked["begin_us"] = int(sys.stdin.readline() or 0)
    found = await (in_flight if "in_flight" in asked else by_the_clock)(engine, asked)
    await engine.close()
    return found


def main():
    die_with_the_parent()
    path = pathlib.Path(sys.argv[1])
    asked = json.loads(path.read_text(encoding="utf-8"))
    if asked.get("cpus"):
        os.sched_setaffinity(0, asked["cpus"])
    try:
        found = asyncio.run(run(asked))
    except OSError as error:
        sys.exit(f"the engine cannot be reached: {error}")
    path.with_suffix(".out").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
