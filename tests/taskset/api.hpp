// SPDX-License-Identifier: MIT OR GPL-2.0
// The functions of the stand-in, as cuda.h of CUDA 13.0 declares them.
#pragma once

#include "cuda.hpp"

#define CUDA_API [[gnu::visibility("default")]] cuda::Result

extern "C" {
CUDA_API cuInit(unsigned flags);
CUDA_API cuDriverGetVersion(int *version);
CUDA_API cuGetErrorName(cuda::Result error, const char **name);
CUDA_API cuGetErrorString(cuda::Result error, const char **text);

CUDA_API cuDeviceGetCount(int *count);
CUDA_API cuDeviceGet(cuda::Device *device, int ordinal);
CUDA_API cuDeviceGetName(char *name, int bytes, cuda::Device device);
CUDA_API cuDeviceGetUuid_v2(cuda::Uuid *uuid, cuda::Device device);
CUDA_API cuDeviceGetPCIBusId(char *address, int bytes, cuda::Device device);
CUDA_API cuDeviceGetAttribute(int *value, int attribute, cuda::Device device);

CUDA_API cuDevicePrimaryCtxRetain(cuda::Context *context, cuda::Device device);
CUDA_API cuDevicePrimaryCtxRelease_v2(cuda::Device device);
CUDA_API cuCtxCreate_v2(cuda::Context *context, unsigned flags, cuda::Device device);
CUDA_API cuCtxCreate_v4(cuda::Context *context, void *params, unsigned flags, cuda::Device device);
CUDA_API cuCtxDestroy_v2(cuda::Context context);
CUDA_API cuCtxSetCurrent(cuda::Context context);
CUDA_API cuCtxGetCurrent(cuda::Context *context);
CUDA_API cuCtxGetDevice(cuda::Device *device);
CUDA_API cuCtxSynchronize();

CUDA_API cuModuleLoadData(cuda::Module *module, const void *image);
CUDA_API cuModuleLoadDataEx(cuda::Module *module, const void *image, unsigned count, int *options,
                            void **values);
CUDA_API cuModuleGetFunction(cuda::Function *function, cuda::Module module, const char *name);
CUDA_API cuModuleUnload(cuda::Module module);
CUDA_API cuFuncGetName(const char **name, cuda::Function function);
CUDA_API cuKernelGetName(const char **name, cuda::Kernel kernel);
CUDA_API cuFuncGetAttribute(int *value, int attribute, cuda::Function function);

CUDA_API cuMemAlloc_v2(cuda::DevicePointer *address, std::size_t bytes);
CUDA_API cuMemFree_v2(cuda::DevicePointer address);
CUDA_API cuMemsetD8_v2(cuda::DevicePointer address, unsigned char value, std::size_t count);
CUDA_API cuMemsetD32_v2(cuda::DevicePointer address, unsigned value, std::size_t count);
CUDA_API cuMemcpyDtoH_v2(void *to, cuda::DevicePointer from, std::size_t bytes);
CUDA_API cuMemAllocHost_v2(void **memory, std::size_t bytes);
CUDA_API cuMemFreeHost(void *memory);
CUDA_API cuMemcpyHtoDAsync_v2(cuda::DevicePointer to, const void *from, std::size_t bytes,
                              cuda::Stream stream);
CUDA_API cuMemcpyDtoHAsync_v2(void *to, cuda::DevicePointer from, std::size_t bytes,
                              cuda::Stream stream);

CUDA_API cuStreamCreate(cuda::Stream *stream, unsigned flags);
CUDA_API cuStreamDestroy_v2(cuda::Stream stream);
CUDA_API cuStreamSynchronize(cuda::Stream stream);
CUDA_API cuStreamQuery(cuda::Stream stream);
CUDA_API cuStreamBeginCapture_v2(cuda::Stream stream, int mode);
CUDA_API cuStreamEndCapture(cuda::Stream stream, cuda::Graph *graph);
CUDA_API cuStreamIsCapturing(cuda::Stream stream, int *status);
CUDA_API cuThreadExchangeStreamCaptureMode(int *mode);

CUDA_API cuEventCreate(cuda::Event *event, unsigned flags);
CUDA_API cuEventRecord(cuda::Event event, cuda::Stream stream);
CUDA_API cuEventQuery(cuda::Event event);
CUDA_API cuEventSynchronize(cuda::Event event);
CUDA_API cuEventDestroy_v2(cuda::Event event);

#define LAUNCH_PARAMETERS                                                                          \
    cuda::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,  \
        unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda::Stream stream,            \
        void **params
CUDA_API cuLaunchKernel(LAUNCH_PARAMETERS, void **extra);
CUDA_API cuLaunchKernel_ptsz(LAUNCH_PARAMETERS, void **extra);
CUDA_API cuLaunchCooperativeKernel(LAUNCH_PARAMETERS);
CUDA_API cuLaunchCooperativeKernel_ptsz(LAUNCH_PARAMETERS);
CUDA_API cuLaunchKernelEx(const cuda::LaunchConfig *config, cuda::Function function, void **params,
                          void **extra);
CUDA_API cuLaunchKernelEx_ptsz(const cuda::LaunchConfig *config, cuda::Function function,
                               void **params, void **extra);
CUDA_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, cuda::Function function,
                                                     int threads, std::size_t shared_bytes);

CUDA_API cuGraphCreate(cuda::Graph *graph, unsigned flags);
CUDA_API cuGraphDestroy(cuda::Graph graph);
CUDA_API cuGraphClone(cuda::Graph *clone, cuda::Graph graph);
CUDA_API cuGraphGetNodes(cuda::Graph graph, cuda::Node *nodes, std::size_t *count);
CUDA_API cuGraphNodeGetType(cuda::Node node, int *type);
CUDA_API cuGraphNodeFindInClone(cuda::Node *node, cuda::Node original, cuda::Graph clone);
CUDA_API cuGraphAddEmptyNode(cuda::Node *node, cuda::Graph graph, const cuda::Node *dependencies,
                             std::size_t count);
CUDA_API cuGraphAddChildGraphNode(cuda::Node *node, cuda::Graph graph,
                                  const cuda::Node *dependencies, std::size_t count,
                                  cuda::Graph child);
CUDA_API cuGraphChildGraphNodeGetGraph(cuda::Node node, cuda::Graph *child);
CUDA_API cuGraphAddKernelNode_v2(cuda::Node *node, cuda::Graph graph,
                                 const cuda::Node *dependencies, std::size_t count,
                                 const cuda::KernelNodeParams *params);
CUDA_API cuGraphKernelNodeGetParams_v2(cuda::Node node, cuda::KernelNodeParams *params);
CUDA_API cuGraphKernelNodeSetParams_v2(cuda::Node node, const cuda::KernelNodeParams *params);
CUDA_API cuGraphKernelNodeGetAttribute(cuda::Node node, int attribute, cuda::AttributeValue *value);
CUDA_API cuGraphKernelNodeSetAttribute(cuda::Node node, int attribute,
                                       const cuda::AttributeValue *value);
CUDA_API cuGraphInstantiate_v2(cuda::Exec *exec, cuda::Graph graph, cuda::Node *error_node,
                               char *log, std::size_t bytes);
CUDA_API cuGraphInstantiateWithFlags(cuda::Exec *exec, cuda::Graph graph, unsigned long long flags);
CUDA_API cuGraphInstantiateWithParams(cuda::Exec *exec, cuda::Graph graph,
                                      cuda::InstantiateParams *params);
CUDA_API cuGraphExecUpdate_v2(cuda::Exec exec, cuda::Graph graph, cuda::UpdateResult *result);
CUDA_API cuGraphExecKernelNodeSetParams_v2(cuda::Exec exec, cuda::Node node,
                                           const cuda::KernelNodeParams *params);
CUDA_API cuGraphExecDestroy(cuda::Exec exec);
CUDA_API cuGraphLaunch(cuda::Exec exec, cuda::Stream stream);
CUDA_API cuGraphLaunch_ptsz(cuda::Exec exec, cuda::Stream stream);

CUDA_API cuGetExportTable(const void **table, const cuda::Uuid *which);
CUDA_API cuGetProcAddress_v2(const char *name, void **function, int version, std::uint64_t flags,
                             int *status);
}
