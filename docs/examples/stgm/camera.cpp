// SPDX-License-Identifier: MIT OR GPL-2.0
// A task of a set that nvstgm runs: `nvstgm run placed.json --program camera=./camera`. In the
// set's file the task has a CPU segment and a GPU segment with both copies. In place of the
// comments stand the program's own calls.
#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>

#include <nvdebug/stgm_task.hpp>

namespace {

using std::chrono::microseconds;

/** The CPU works, with places at which a task of higher priority may have it. */
void compute(nvstgm::Task &task, microseconds length) {
    for (const auto end = std::chrono::steady_clock::now() + length;
         std::chrono::steady_clock::now() < end;)
        task.point();
}

} // namespace

int main() {
    try {
        nvstgm::Task task;
        // cudaSetDevice(0); pinned memory by cudaMallocHost(); a stream of its own; one kernel to
        // warm up.
        int frames = 0;
        if (task.ready())
            while (task.next_job()) {
                compute(task, microseconds(500)); // unpack the frame
                task.segment([&] {
                    task.copy_to_device([] {
                        // cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream);
                        // cudaStreamSynchronize(stream);
                        std::this_thread::sleep_for(microseconds(200));
                    });
                    task.kernel([] {
                        // detect<<<blocks, threads, 0, stream>>>(device);
                        // cudaStreamSynchronize(stream);
                        std::this_thread::sleep_for(microseconds(2000));
                    });
                    task.copy_from_device([] { std::this_thread::sleep_for(microseconds(100)); });
                });
                frames++;
            }
        std::fprintf(stderr, "camera: %d frames\n", frames);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "camera: %s\n", error.what());
        return 1;
    }
    return 0;
}
