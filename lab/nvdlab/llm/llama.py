# SPDX-License-Identifier: MIT OR GPL-2.0
"""Networks of Llama's shapes with random weights, which need no download: the forward pass of a batch of tokens, to train or
to serve. The caller imports torch. Shapes: the configurations that Meta published with Llama 3.1 (8B) and 3.2 (3B, 1B)."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Shape:
    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    vocabulary: int
    tied: bool

    @property
    def head(self):
        return self.hidden // self.heads


SHAPES = {"8b": Shape(4096, 14336, 32, 32, 8, 128256, False), "3b": Shape(3072, 8192, 28, 24, 8, 128256, True),
          "1b": Shape(2048, 8192, 16, 32, 8, 128256, True), "tiny": Shape(64, 128, 2, 4, 2, 512, True)}
THETA = 500000.0


def dtype(torch, device):
    return torch.bfloat16 if device == "cuda" else torch.float32  # processors are slow with bfloat16


class Llama:
    """The network. `attend` in forward() is what differs between training, a prompt and a step of decoding."""

    def __init__(self, torch, shape, device, kind):
        self.torch, self.shape = torch, shape
        torch.manual_seed(0)

        def weight(rows, columns):
            return torch.randn(rows, columns, device=device, dtype=kind) * rows ** -0.5

        def ones():
            return torch.ones(shape.hidden, device=device, dtype=kind)
        kv = shape.kv_heads * shape.head
        self.embedding = torch.randn(shape.vocabulary, shape.hidden, device=device, dtype=kind) * 0.02
        self.output = self.embedding if shape.tied else torch.randn(shape.vocabulary, shape.hidden, device=device, dtype=kind) * 0.02
        self.norm = ones()
        self.layers = [{"before": ones(), "query": weight(shape.hidden, shape.hidden), "key": weight(shape.hidden, kv),
                        "value": weight(shape.hidden, kv), "out": weight(shape.hidden, shape.hidden), "behind": ones(),
                        "gate": weight(shape.hidden, shape.inner), "up": weight(shape.hidden, shape.inner),
                        "down": weight(shape.inner, shape.hidden)} for _ in range(shape.layers)]
        self.turns = THETA ** (-torch.arange(0, shape.head, 2, device=device).float() / shape.head)

    def parameters(self):
        tied = [] if self.shape.tied else [self.output]
        return [self.embedding, self.norm, *tied, *(weight for layer in self.layers for weight in layer.values())]

    def normed(self, state, weight):
        wide = state.float()
        return (wide * self.torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(state.dtype) * weight

    def turned(self, vectors, positions):
        """Returns vectors [tokens, heads, head] turned by their positions (rotary embedding)."""
        angle = (positions[:, None].float() * self.turns)[:, None]
        cos, sin = (self.torch.cat((part, part), -1).to(vectors.dtype) for part in (angle.cos(), angle.sin()))
        half = self.shape.head // 2
        return vectors * cos + self.torch.cat((-vectors[..., half:], vectors[..., :half]), -1) * sin

    def forward(self, tokens, positions, attend):
        """Returns the states [tokens, hidden].

        @param attend is called with the layer's number and [tokens, heads, head] of queries, keys and values, and returns
        [tokens, hidden]
        """
        state, shape = self.embedding[tokens], self.shape
        for number, layer in enumerate(self.layers):
            seen = self.normed(state, layer["before"])
            query = self.turned((seen @ layer["query"]).view(-1, shape.heads, shape.head), positions)
            key = self.turned((seen @ layer["key"]).view(-1, shape.kv_heads, shape.head), positions)
            value = (seen @ layer["value"]).view(-1, shape.kv_heads, shape.head)
            state = state + attend(number, query, key, value) @ layer["out"]
            seen = self.normed(state, layer["behind"])
            state = state + (self.torch.nn.functional.silu(seen @ layer["gate"]) * (seen @ layer["up"])) @ layer["down"]
        return self.normed(state, self.norm)

    def logits(self, states):
        return states @ self.output.T

    def causal(self, texts):
        """Returns an `attend` for TEXTS texts of equal length, in which each token sees itself and those before it."""
        def attend(_, query, key, value):
            shape = self.shape
            length = query.shape[0] // texts
            query, key, value = (each.view(texts, length, -1, shape.head).transpose(1, 2) for each in (query, key, value))
            key, value = (each.repeat_interleave(shape.heads // shape.kv_heads, 1) for each in (key, value))
            return self.mixed(query, key, value, None).transpose(1, 2).reshape(texts * length, shape.hidden)
        return attend

    def mixed(self, query, key, value, hidden):
        """Returns the attention's result [.., heads, queries, head].

        @param hidden has minus infinity where a query does not see a key; None: a query sees the keys up to its own place
        """
        torch = self.torch
        ready = getattr(torch.nn.functional, "scaled_dot_product_attention", None)  # since PyTorch 2.0
        if ready and hidden is None:
            return ready(query, key, value, is_causal=True)
        scores = (query @ key.transpose(-1, -2)).float() * self.shape.head ** -0.5
        if hidden is None:
            hidden = torch.full(scores.shape[-2:], float("-inf"), device=scores.device).triu(1)
        return torch.softmax(scores + hidden, -1).to(value.dtype) @ value
