# SPDX-License-Identifier: MIT OR GPL-2.0
"""Parts of the programs with PyTorch that measurements run on GPUs. The caller imports torch, which takes seconds."""


def replayed(torch, forward):
    """Returns a function that replays a CUDA graph of forward(), and keeps forward(), whose tensors' addresses the graph has."""
    torch.cuda.synchronize()  # other streams do not wait for the tensors that forward() uses
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            forward()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            forward()
    return lambda kept=forward: graph.replay()


def training(torch, layers, texts, wrapped=lambda net: net):
    """Returns a function that makes one step of a training of so many layers with so many texts.
    @param wrapped is given the network, and returns the one that is trained"""
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True, dropout=0)
    net = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).cuda().to(torch.bfloat16).train()
    net = wrapped(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-5)
    batch = torch.randn(texts, 512, 1024, device="cuda", dtype=torch.bfloat16)

    def step():
        optimizer.zero_grad()
        net(batch).square().mean().backward()
        optimizer.step()
        torch.cuda.synchronize()
    return step
