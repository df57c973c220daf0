#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Checks that unmodified CuPy, Triton, JAX and PyTorch compute the same in a partition, and on its SMs alone.

    same_results.py NVTASKSET [FOLDER]

It needs an otherwise idle GPU, NumPy, and any of the four libraries; it names the libraries that are not installed. Inputs
are made on the CPU. With --whole-count each output must be the whole GPU's output bit by bit. Without it libraries choose
grids by the partition's number of SMs, and may add floating-point numbers in another order; then each output must be equal,
or as near as ROUNDING. Kernels that note their SMs must have run on all SMs of the partition, and on no others. Ends with 1
if an output differs. Writes FOLDER/same-results.json.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from common import record, run, words

GIVEN = words(__doc__, "nvtaskset", "[folder]") if sys.argv[1:2] != ["--one"] else None

import numpy  # noqa: E402 # pylint: disable=wrong-import-position # --help needs no NumPy

PARTITIONS = ("-t 0-3", "-t 0-15", "-g 1,3", "-s 25% --spread", "-t 0-3 --whole-count", "-s 25% --spread --whole-count")
ROUNDING = 1e-4  # of the largest absolute value of an output; bfloat16 outputs were equal
WORKS = {}


def work(function):
    WORKS[function.__name__] = function
    return function


def inputs():
    random = numpy.random.default_rng(7)
    return {"square": random.standard_normal((2048, 2048), dtype=numpy.float32),
            "other": random.standard_normal((2048, 2048), dtype=numpy.float32),
            "long": random.standard_normal(1 << 22, dtype=numpy.float32),
            "image": random.standard_normal((8, 16, 64, 64), dtype=numpy.float32),
            "filters": random.standard_normal((32, 16, 3, 3), dtype=numpy.float32)}


@work
def cupy():
    """Yields results of elementwise kernels, reductions, cuBLAS, cuFFT, sorting, and a kernel of our own in three launches."""
    import cupy
    given = {name: cupy.asarray(array) for name, array in inputs().items()}
    yield "elementwise", cupy.asnumpy(cupy.sin(given["long"]) * 3 + given["long"] ** 2)
    yield "sum", cupy.asnumpy(given["long"].sum(keepdims=True))
    yield "matmul", cupy.asnumpy(given["square"] @ given["other"])
    yield "fft", cupy.asnumpy(cupy.fft.fft(given["long"]))
    yield "sort", cupy.asnumpy(cupy.sort(given["long"]))
    where = cupy.RawKernel(r"""
        extern "C" __global__ void where(unsigned *seen) {
            unsigned sm; asm("mov.u32 %0, %%smid;" : "=r"(sm));
            for (long long begin = clock64(); clock64() - begin < 40000;);
            seen[sm] = 1;
        }""", "where")
    seen = cupy.zeros(256, dtype=cupy.uint32)
    where((1024,), (64,), (seen,))
    yield "SMs, launched", int(seen.sum())
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        seen.fill(0)
        stream.begin_capture()
        where((1024,), (64,), (seen,))
        graph = stream.end_capture()
        graph.launch(stream)
        stream.synchronize()
    yield "SMs, graph", int(seen.sum())
    together = cupy.RawKernel(where.code, "where", enable_cooperative_groups=True)
    seen.fill(0)
    together((cupy.cuda.Device().attributes["MultiProcessorCount"],), (64,), (seen,))
    yield "SMs, cooperative", int(seen.sum())


@work
def triton():
    """Yields results of an elementwise kernel, of a matrix product, and of a kernel that notes its SMs."""
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def scale(x, y, n, block: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        value = tl.load(x + at, mask=at < n)
        tl.store(y + at, tl.exp(value) * 0.5, mask=at < n)

    @triton.jit
    def dot(a, b, c, n, block: tl.constexpr):
        row = tl.program_id(0) * block + tl.arange(0, block)
        column = tl.program_id(1) * block + tl.arange(0, block)
        total = tl.zeros((block, block), dtype=tl.float32)
        for k in range(0, n, block):
            depth = k + tl.arange(0, block)
            total += tl.dot(tl.load(a + row[:, None] * n + depth[None, :]),
                            tl.load(b + depth[:, None] * n + column[None, :]))
        tl.store(c + row[:, None] * n + column[None, :], total)

    @triton.jit
    def where(seen, turns):
        sm = tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], dtype=tl.int32, is_pure=False, pack=1)
        value = 0.0
        for n in range(turns):
            value = value * 0.999 + n
        tl.store(seen + sm, (1 + 0 * value).to(tl.int32))

    given = {name: torch.from_numpy(array).cuda() for name, array in inputs().items()}
    out = torch.empty_like(given["long"])
    scale[(len(out) // 1024,)](given["long"], out, len(out), block=1024)
    yield "elementwise", out.cpu().numpy()
    out = torch.empty_like(given["square"])
    dot[(64, 64)](given["square"], given["other"], out, 2048, block=32)
    yield "dot", out.cpu().numpy()
    seen = torch.zeros(256, dtype=torch.int32, device="cuda")
    where[(2048,)](seen, 20000)
    yield "SMs, launched", int(seen.sum())


def pallas_where(jax, jnp):
    """Returns the SM of each of 4,096 blocks."""
    from jax.experimental import pallas
    from jax.experimental.pallas import triton

    def where(given, sm):
        sm[...], = triton.elementwise_inline_asm(
            "mov.u32 $0, %smid;", args=[given[...]], constraints="=r,r", pack=1,
            result_shape_dtypes=[jax.ShapeDtypeStruct((256,), jnp.int32)])
    rows = pallas.BlockSpec((256,), lambda block: (block,))
    return pallas.pallas_call(where, out_shape=jax.ShapeDtypeStruct((4096 * 256,), jnp.int32), grid=(4096,),
                              in_specs=[rows], out_specs=rows, compiler_params=triton.CompilerParams())(
        jnp.zeros(4096 * 256, jnp.int32))


@work
def jax():
    """Yields results of jitted functions, a scan, a gradient and sorting, and the SMs of a Pallas kernel."""
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax
    import jax.numpy as jnp
    given = {name: jnp.asarray(array) for name, array in inputs().items()}
    yield "jit", numpy.asarray(jax.jit(lambda x: jnp.tanh(x) * x + 1)(given["long"]))
    yield "matmul", numpy.asarray(jax.jit(jnp.matmul)(given["square"], given["other"]))
    yield "scan", numpy.asarray(jax.jit(lambda x: jax.lax.scan(lambda s, row: (s * 0.5 + row, s.sum()), x[0], x)[1])(
        given["square"]))
    yield "gradient", numpy.asarray(jax.jit(jax.grad(lambda x: (jnp.sin(x) ** 2).sum()))(given["long"]))
    yield "sort", numpy.asarray(jnp.sort(given["long"]))
    yield "SMs, Pallas", len(numpy.unique(numpy.asarray(pallas_where(jax, jnp))))


@work
def pytorch():
    """Yields results of eager kernels, cuBLAS, cuDNN, a gradient, sorting, a CUDA graph and torch.compile."""
    import torch
    torch.use_deterministic_algorithms(True, warn_only=True)
    given = {name: torch.from_numpy(array).cuda() for name, array in inputs().items()}
    yield "elementwise", torch.erf(given["long"] * 0.3).cpu().numpy()
    yield "softmax", torch.softmax(given["square"], 1).cpu().numpy()
    yield "matmul", (given["square"] @ given["other"]).cpu().numpy()
    half = given["square"].bfloat16() @ given["other"].bfloat16()
    yield "matmul, bf16", half.float().cpu().numpy()
    yield "convolution", torch.nn.functional.conv2d(given["image"], given["filters"]).cpu().numpy()
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(2048, 512), torch.nn.GELU(), torch.nn.Linear(512, 64)).cuda()
    net(given["square"]).square().mean().backward()
    yield "gradient", net[0].weight.grad.cpu().numpy()
    yield "sort", torch.sort(given["long"]).values.cpu().numpy()
    out, graph = torch.empty_like(given["square"]), torch.cuda.CUDAGraph()
    torch.matmul(given["square"], given["other"], out=out)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        torch.matmul(given["square"], given["other"], out=out)
        out.mul_(2)
    graph.replay()
    yield "graph", out.cpu().numpy()
    compiled = torch.compile(lambda x: torch.nn.functional.gelu(x * 2 + 1).sum(1))
    yield "compiled", compiled(given["square"]).cpu().numpy()
    torch.manual_seed(3)
    yield "generator", float(torch.randn(1 << 20, device="cuda").sum())
    yield "count", torch.cuda.get_device_properties(0).multi_processor_count


def one(name, folder):
    for case, value in WORKS[name]():
        if isinstance(value, numpy.ndarray):
            numpy.save(pathlib.Path(folder) / f"{case}.npy", value)
            value = "array"
        print(json.dumps([case, value]), flush=True)


def results(nvtaskset, options, name):
    """Runs a library in a process under `nvtaskset OPTIONS`. Returns a number or an array for each case."""
    prefix = [nvtaskset, "--no-mps", *options.split()] if options else []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*prefix, sys.executable, __file__, "--one", name, folder], capture_output=True, text=True,
                              timeout=200, check=False)
        found = dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))
        if done.returncode:
            found["error"] = f"status {done.returncode}: {' '.join(done.stderr.strip().splitlines()[-1:])}"
        return {case: numpy.load(f"{folder}/{case}.npy") if value == "array" else value for case, value in found.items()}


def compared(value, alone):
    """Returns the largest difference as a part of the largest value. It is 0 only if all bits are equal."""
    if not isinstance(alone, numpy.ndarray) or not isinstance(value, numpy.ndarray) or value.shape != alone.shape:
        return float("inf")
    if value.tobytes() == alone.tobytes():
        return 0
    return float(numpy.abs(value - alone).max() / numpy.abs(alone).max()) or float("inf")


def check(name, options, found, alone, sms, whole):
    """Compares results with the whole GPU's. Returns the cases that failed, and a record of all cases."""
    differs, failed = {}, []
    whole_count = "--whole-count" in options
    for case in sorted({*found, *alone}):
        if case == "count":
            good = found.get(case) == (whole if whole_count else sms)
        elif case.startswith("SMs"):
            good = found.get(case) == sms
        elif case == "generator":
            good = not whole_count or found.get(case) == alone[case]
        else:
            if difference := compared(found.get(case), alone.get(case)):
                differs[case] = difference
            good = difference <= (0 if whole_count else ROUNDING)
        if not good:
            failed.append(case)
            value = differs.get(case, found.get(case))
            print(f"FAIL  {name}: {case}, {options or 'whole GPU'}: {value}", flush=True)
    print(f"{'FAIL' if failed else 'ok  '}  {name}, {options}: {len(found)} cases on {sms} SMs; "
          f"{'rounded otherwise: ' + ', '.join(differs) if differs else 'equal bits'}", flush=True)
    numbers = {case: value for case, value in found.items() if not isinstance(value, numpy.ndarray)}
    return failed, {**numbers, "equal": sorted({*found} - {*numbers} - {*differs}), "differs": differs}


def main():
    nvtaskset, folder = GIVEN
    gpu = json.loads(subprocess.run([nvtaskset, "--list", "--probe", "--json"], capture_output=True, text=True,
                                    check=True).stdout)["gpus"][0]
    gpcs = [tpc["gpc"] for tpc in gpu["tpcs"]]
    sizes = {"-t 0-3": 8, "-t 0-15": 32, "-g 1,3": 2 * sum(gpc in (1, 3) for gpc in gpcs),
             "-s 25% --spread": 2 * -(-len(gpcs) // 4)}
    found, failed = {}, []
    for name, module in (("cupy", "cupy"), ("triton", "triton"), ("jax", "jax"), ("pytorch", "torch")):
        if not importlib.util.find_spec(module):
            print(f"{name} is not installed", flush=True)
            continue
        alone = results(nvtaskset, "", name)
        found[name] = {}
        for options in ("", *PARTITIONS):  # the whole GPU is compared with itself, too
            sms = sizes.get(options.replace(" --whole-count", ""), 2 * len(gpcs))
            more, found[name][options or "whole GPU"] = check(
                name, options, results(nvtaskset, options, name), alone, sms, 2 * len(gpcs))
            failed += more
    if folder:
        record.write(folder / "same-results.json", {"gpu": gpu["name"], "results": found})
    print(f"{len(failed)} failures")
    return bool(failed)


if sys.argv[1:2] == ["--one"]:
    one(*sys.argv[2:])
else:
    run(main)
