# SPDX-License-Identifier: MIT OR GPL-2.0
"""transformers' continuous batching as an engine of engine.py, with CUDA graphs and random weights.

The calls are those of transformers 5.14 to 5.17 (src/transformers/generation/continuous_batching). Fields and parameters that
a version lacks are left out. A graph is kept for each number of queries and each size of the cache, both rounded up.
"""

import contextlib
import dataclasses
import inspect
import threading
import traceback

PAGE, MOST_TOKENS, QUERIES, CACHE = 64, 512, 64, 4096
LOOK_S = 0.2


def config_of(shape, places):
    """Returns LlamaConfig's arguments."""
    return {"hidden_size": shape.hidden, "intermediate_size": shape.inner, "num_hidden_layers": shape.layers,
            "num_attention_heads": shape.heads, "num_key_value_heads": shape.kv_heads, "vocab_size": shape.vocabulary,
            "max_position_embeddings": max(2048, places), "tie_word_embeddings": shape.tied}


def settings(config, slots, places):
    """Returns a ContinuousBatchingConfig with the fields that this version has. Raises RuntimeError without CUDA graphs."""
    fields = {field.name for field in dataclasses.fields(config)}
    if "use_cuda_graph" not in fields:
        raise RuntimeError("this version of transformers has no CUDA graphs for continuous batching")
    wanted = {"num_blocks": 2 * slots * -(-places // PAGE), "max_batch_tokens": MOST_TOKENS, "max_requests_per_batch": slots,
              "allow_block_sharing": False, "use_async_batching": False, "use_cuda_graph": True, "scheduler_type": "fifo",
              "q_padding_interval_size": QUERIES, "kv_padding_interval_size": CACHE, "max_cached_graphs": 64,
              "page_size" if "page_size" in fields else "block_size": PAGE}
    return config(**{key: value for key, value in wanted.items() if key in fields})


class Batching:
    """The engine. Tokens come over the manager's queue of results, with streaming on."""

    name, kind = "transformers' continuous batching, paged|sdpa, CUDA graphs", "transformers"

    def __init__(self, torch, shape, prompt, output, slots):
        import transformers  # pylint: disable=import-outside-toplevel
        from transformers.generation.configuration_utils import ContinuousBatchingConfig  # pylint: disable=import-outside-toplevel
        self.name += f", {transformers.__version__}"
        self.graphs = 0
        self.watch()
        torch.manual_seed(0)
        torch.set_default_dtype(torch.bfloat16)
        try:
            with torch.device("cuda"):
                self.model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**config_of(shape, prompt + output)))
        finally:
            torch.set_default_dtype(torch.float32)
        self.model.eval().requires_grad_(False)
        self.model.set_attn_implementation("paged|sdpa")  # otherwise some versions look for flash kernels on the hub
        self.manager = self.model.init_continuous_batching(
            generation_config=transformers.GenerationConfig(max_new_tokens=output, do_sample=False, eos_token_id=None),
            continuous_batching_config=settings(ContinuousBatchingConfig, slots, prompt + output))
        self.manager.warmup()
        self.warm(torch)
        self.manager.start()
        try:
            self.try_one(prompt)
        except RuntimeError:
            self.manager.stop(block=False)
            raise

    def watch(self):
        """Counts captures of graphs. A capture stalls all requests for some 0.1 s."""
        with contextlib.suppress(ImportError, AttributeError):
            from transformers.generation.continuous_batching.model_runner import ModelRunner  # pylint: disable=import-outside-toplevel
            capture = ModelRunner._capture_graph  # pylint: disable=protected-access

            def counted(runner, *words, **named):
                self.graphs += 1
                return capture(runner, *words, **named)
            ModelRunner._capture_graph = counted  # pylint: disable=protected-access

    def warm(self, torch):
        """Captures the graphs of all numbers of queries, where this version has a function for it. Otherwise they are
        captured by the requests that come before a measurement."""
        one = getattr(getattr(self.manager.batch_processor, "model_runner", None), "run_one_warmup", None)
        if one and {"num_q_tokens", "max_kv_read"} <= set(inspect.signature(one).parameters):
            try:
                with torch.no_grad():
                    for cache in (PAGE, 0):
                        for queries in range(MOST_TOKENS, 0, -QUERIES):
                            one(model=self.model, num_q_tokens=queries, max_kv_read=cache)
            except Exception:  # pylint: disable=broad-exception-caught # of a private function
                traceback.print_exc()
            torch.cuda.synchronize()

    def try_one(self, prompt):
        """Raises RuntimeError if a request is not answered."""
        self.add("try", list(range(1000, 1000 + prompt)), 4)
        for _ in range(150):
            result = self.manager.get_result(timeout=LOOK_S)
            if result is not None and (result.error or result.is_finished()):
                if result.error:
                    raise RuntimeError(result.error)
                return
        raise RuntimeError("transformers did not answer a request in 30 s")

    def add(self, name, prompt, output):
        self.manager.add_request(input_ids=prompt, request_id=name, max_new_tokens=output, streaming=True)

    def captures(self):
        return self.graphs

    def run(self, waiting):
        keys, seen = {}, {}

        def hand_on():
            while True:
                key, prompt, output = waiting.inbox.get()
                keys[f"{key[0]}-{key[1]}"] = (key, output)
                self.add(f"{key[0]}-{key[1]}", prompt, output)
        threading.Thread(target=hand_on, daemon=True).start()
        while True:
            result = self.manager.get_result(timeout=LOOK_S)
            if result is None:
                if not self.manager.is_running():
                    raise RuntimeError("transformers' loop has ended; its log is above")
            elif result.request_id in keys:
                self.pass_on(waiting, keys, seen, result)

    def pass_on(self, waiting, keys, seen, result):
        """Delivers the tokens of a result that were not delivered yet."""
        name = result.request_id
        key, output = keys[name]
        tokens, before = list(result.generated_tokens), seen.get(name, 0)
        if result.error:
            waiting.deliver(failed=[(key, str(result.error))])
        elif not waiting.is_wanted(key):
            self.manager.cancel_request(name)
        else:
            ended = result.is_finished() or len(tokens) >= output
            waiting.deliver([(key, token, ended and number == len(tokens) - 1)
                             for number, token in enumerate(tokens) if number >= before])
        seen[name] = len(tokens)
        if result.error or result.is_finished():
            del keys[name], seen[name]
