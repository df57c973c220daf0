# SPDX-License-Identifier: MIT OR GPL-2.0
"""Does what kubelet does with device plugins, over gRPC: it registers them, follows their units, and asks for the units
of containers. Messages are made from the .proto files of tools/kubernetes."""

import contextlib
import pathlib
import subprocess
import threading
import typing
from concurrent import futures

import pytest
from building import ROOT
from waiting import PATIENCE_S, until

PROTOS = ROOT / "tools/kubernetes/proto"


class Api:
    """The messages and calls of a .proto file."""

    def __init__(self, name, folder):
        try:
            import grpc
            from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
        except ImportError as error:
            pytest.fail(f"{error}: scripts/install-deps kubernetes")
        self.grpc = grpc
        compiled = folder / f"{name}.bin"
        subprocess.run(["protoc", f"--proto_path={PROTOS}", f"--descriptor_set_out={compiled}", f"{name}.proto"], check=True)
        (file,) = descriptor_pb2.FileDescriptorSet.FromString(compiled.read_bytes()).file
        pool = descriptor_pool.DescriptorPool()
        pool.Add(file)
        self.package = file.package
        self.pool, self.factory = pool, message_factory.MessageFactory(pool)
        self.services = {each.name: {call.name: call for call in each.method} for each in file.service}

    def message(self, name):
        """Returns the class of a message, by its name with or without the package."""
        whole = name.removeprefix(".") if name.startswith(".") else f"{self.package}.{name}"
        return self.factory.GetPrototype(self.pool.FindMessageTypeByName(whole))

    def call(self, channel, service, method, request, timeout=PATIENCE_S):
        """Calls a method, or begins to read its stream."""
        about = self.services[service][method]
        make = channel.unary_stream if about.server_streaming else channel.unary_unary
        return make(f"/{self.package}.{service}/{method}",
                    request_serializer=self.message(about.input_type).SerializeToString,
                    response_deserializer=self.message(about.output_type).FromString)(request, timeout=timeout)

    def handler(self, service, methods):
        """Returns a handler of a service for a server."""
        calls = {name: self.grpc.unary_unary_rpc_method_handler(
            answer, request_deserializer=self.message(self.services[service][name].input_type).FromString,
            response_serializer=self.message(self.services[service][name].output_type).SerializeToString)
            for name, answer in methods.items()}
        return self.grpc.method_handlers_generic_handler(f"{self.package}.{service}", calls)

    def channel(self, path):
        return self.grpc.insecure_channel(f"unix:{path}", options=[("grpc.use_local_subchannel_pool", 1)])


class Plugin:
    """A registered plugin, as kubelet sees it."""

    def __init__(self, api, folder, request):
        self.api, self.request = api, request
        self.channel = api.channel(folder / request.endpoint)
        self.lists = []
        self.ended = threading.Event()
        self.stream = api.call(self.channel, "DevicePlugin", "ListAndWatch", api.message("Empty")(), timeout=None)
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        with contextlib.suppress(self.api.grpc.RpcError):
            for one in self.stream:
                self.lists.append(list(one.devices))
        self.ended.set()

    def call(self, method, **fields):
        about = self.api.services["DevicePlugin"][method]
        return self.api.call(self.channel, "DevicePlugin", method, self.api.message(about.input_type)(**fields))

    def end(self):
        self.stream.cancel()
        self.channel.close()


class Container(typing.NamedTuple):
    """A container that was admitted, and the plugin's answer about it."""
    ids: list
    answer: typing.Any


class Kubelet:
    """kubelet's end, at kubelet.sock in a folder."""

    def __init__(self, folder, protos):
        self.folder = pathlib.Path(folder)
        self.api = Api("device_plugin", protos)
        self.plugins = []
        self.containers = []
        self.server = None

    def start(self):
        """Starts, and removes all sockets of plugins first, as kubelet does."""
        for path in self.folder.iterdir():
            if path.name != "kubelet_internal_checkpoint":
                path.unlink()
        self.server = self.api.grpc.server(futures.ThreadPoolExecutor(4))
        self.server.add_generic_rpc_handlers([self.api.handler("Registration", {"Register": self.register})])
        self.server.add_insecure_port(f"unix:{self.folder}/kubelet.sock")
        self.server.start()

    def register(self, request, context):
        if request.version != "v1beta1" or "/" in request.endpoint:
            context.abort(self.api.grpc.StatusCode.INVALID_ARGUMENT, "no such version or endpoint")
        self.plugins.append(Plugin(self.api, self.folder, request))
        return self.api.message("Empty")()

    def stop(self):
        for plugin in self.plugins:
            plugin.end()
        self.plugins = []
        if self.server:
            self.server.stop(None).wait(PATIENCE_S)
        self.server = None

    @property
    def plugin(self):
        """The plugin that has registered last; waits for the first one."""
        return until(lambda: self.plugins)[-1]

    def units(self):
        """Returns the last list of units."""
        return until(lambda: self.plugin.lists)[-1]

    def healthy(self):
        return [each.ID for each in self.units() if each.health == "Healthy"]

    def free(self):
        taken = {name for one in self.containers for name in one.ids}
        return [name for name in self.healthy() if name not in taken]

    def admit(self, count):
        """Admits a container as kubelet does, after the scheduler has counted the units."""
        free = self.free()
        if count > len(free):
            raise LookupError(f"{count} units of {len(free)}: no node has them")
        preferred = self.plugin.call("GetPreferredAllocation", container_requests=[
            {"available_deviceIDs": free, "allocation_size": count}])
        ids = list(preferred.container_responses[0].deviceIDs)
        assert len(set(ids)) == count and set(ids) <= set(free)
        allocated = self.plugin.call("Allocate", container_requests=[{"devices_ids": ids}])
        self.containers.append(Container(ids, allocated.container_responses[0]))
        return self.containers[-1]

    def start_container(self, container):
        """Does what kubelet does before each start of a container."""
        self.plugin.call("PreStartContainer", devices_ids=container.ids)
