// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Errors of CUDA's driver API in sentences.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>

#include "cuda.hpp"

namespace nvtaskset::cuda {

/// An error that a machine's set-up causes.
struct KnownError {
    int number;
    const char *name;  ///< the name in cuda.h, because older libraries lack newer names
    const char *cause; ///< nullptr: no cause is more likely than others
};

// Source of the causes: NVIDIA's CUDA Driver API reference (CUresult) and the guides of the fabric
// manager, of MPS and of forward compatibility.
inline constexpr KnownError known_errors[] = {
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "the GPU's memory is full; 'nvidia-smi' shows of what"},
    {34, "CUDA_ERROR_STUB_LIBRARY",
     "the libcuda.so.1 that was loaded is the toolkit's stub for linking: take its folder (stubs) "
     "out of LD_LIBRARY_PATH"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "another process has the GPU for itself, or its compute mode permits none: 'nvidia-smi -q -d "
     "COMPUTE' shows the mode"},
    {100, "CUDA_ERROR_NO_DEVICE",
     "CUDA shows no GPU: CUDA_VISIBLE_DEVICES leaves none, or the container was given none"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "CUDA shows fewer GPUs than that"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM",
     "a device file or memory was refused, often /dev/nvidia-uvm: 'nvidia-modprobe -u -c 0' makes "
     "it, and a container must be given it"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", nullptr},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY",
     "the machine's NVSwitches are not set up, or the driver is still starting: 'systemctl status "
     "nvidia-fabricmanager'; it must be of the driver's version"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "libcuda and the loaded kernel module are of different versions, as after an update of the "
     "driver: load its module anew, or boot"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "a libcuda of the package cuda-compat was loaded, which this GPU or driver does not permit: "
     "take it out of LD_LIBRARY_PATH"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED",
     "the MPS daemon of CUDA_MPS_PIPE_DIRECTORY does not answer"},
    {806, "CUDA_ERROR_MPS_RPC_FAILURE", "the MPS server has failed or ended"},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY",
     "the MPS server is starting, or waits for clients of another user to end"},
    {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "the MPS server has as many clients as it takes"},
    {809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
     "the MPS server has as many connections as it takes"},
    {999, "CUDA_ERROR_UNKNOWN",
     "CUDA does not say why; often /dev/nvidia-uvm is missing or refused ('nvidia-modprobe -u -c "
     "0' makes it), or the driver has failed, as after a suspend: the kernel's log may say more"},
};

/// Returns the name and number of an error, and if the machine's set-up may cause it, the likely
/// cause and what to do: `CUDA_ERROR_SYSTEM_NOT_READY (802): …`.
[[nodiscard]] inline std::string error_text(const Library &cuda, int error) {
    const auto known = std::ranges::find(known_errors, error, &KnownError::number);
    const bool is_known = known != std::end(known_errors);
    const char *name = nullptr;
    if (cuda.call("cuGetErrorName", error, &name) || !name)
        name = is_known ? known->name : "error";
    return std::string(name) + " (" + std::to_string(error) + ")" +
           (is_known && known->cause ? std::string(": ") + known->cause : std::string());
}

} // namespace nvtaskset::cuda
