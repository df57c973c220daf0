// SPDX-License-Identifier: MIT OR GPL-2.0
// A CUDA program for tests. It carries out its arguments and, if the last one is `-`, the lines on
// stdin, and prints one line for each as its answer. It loads CUDA as other programs do, so that it
// runs on a real GPU, too. "SMs" is an answer like `3 0-1,8`: how many SMs the kernel ran on, and
// which.
//
//   gpus                                  PCI address, UUID and name of each GPU, separated by `;`
//   device N                              uses GPU N; this comes before all else about a GPU
//   context                               makes another context and uses it
//   use N                                 uses the Nth context again, from 0
//   end-context                           ends the context that is used
//   attribute N                           attribute N of the GPU
//   kernel NAME                           loads another module, whose kernel has that name, and
//                                         launches that one from then on
//   unload                                unloads the module of the kernel
//   occupancy THREADS                     blocks of the kernel that fit on an SM
//   launch [BLOCKS]                       launches the kernel: SMs
//   cooperative BLOCKS [THREADS [CALL]]   launches it with all blocks at once: SMs. CALL is
//                                         cuLaunchCooperativeKernel_ptsz, cuLaunchKernelEx, ...
//   cluster SIZE [BLOCKS [cooperative]]   launches it in clusters: SMs
//   graph [BLOCKS [cooperative] [child]]  instantiates the next graph, of an empty node and the
//                                         kernel; `child` makes it the child of another graph
//   graph-launch N                        launches the Nth graph: SMs
//   graph-update N BLOCKS                 changes the kernel of the Nth graph to BLOCKS blocks
//   graph-set N BLOCKS                    does so in the executable graph alone
//   graph-destroy N                       ends the Nth graph
//   storm THREADS TIMES                   launches TIMES times in each of THREADS threads: the
//                                         numbers of SMs, separated by `;`
//   burst THREADS TIMES CALL              does so on a stream for each thread, without waiting.
//                                         CALL as above, cuLaunchKernel, or cuGraphLaunch for
//                                         graph 0
//   wait CALL                             waits by cuCtxSynchronize, cuStreamSynchronize,
//                                         cuStreamQuery or cuEventSynchronize
//   capture TIMES                         launches TIMES times on a stream that is captured, and on
//                                         another one
//   primary TIMES                         launches TIMES times in the device's primary context, and
//                                         ends it
//   reuse FILE                            closes all files, and gives FILE their descriptors
//   subscribe                             subscribes to callbacks, as a profiler does
//   repeat TIMES LINE                     the different answers to LINE, separated by `;`
//   fork                                  forks; the child carries out the rest
//   exec                                  executes this program anew, for the rest
#include "cuda.hpp"
#include "kernel.hpp"
#include "loaded_cuda.hpp"
#include "words.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::size_t most_sms = 1024;
constexpr unsigned many_blocks = 1024;

struct Task {
    cuda::Context context = nullptr;
    cuda::Module module = nullptr;
    cuda::Function where = nullptr;
};

struct Graph {
    cuda::Graph graph = nullptr;
    cuda::Node node = nullptr;
    cuda::Exec exec = nullptr;
};

class Program {
  public:
    /// Carries out a line and returns the answer.
    std::string answer(const std::string &line) {
        struct Verb {
            std::string (Program::*answer)(Words &words);
            bool starts_cuda = true;
        };
        static const std::map<std::string, Verb> verbs{
            {"gpus", {&Program::gpus}},
            {"device", {&Program::device, false}},
            {"context", {&Program::context}},
            {"use", {&Program::use}},
            {"end-context", {&Program::end_context}},
            {"attribute", {&Program::attribute}},
            {"kernel", {&Program::kernel}},
            {"unload", {&Program::unload}},
            {"occupancy", {&Program::occupancy}},
            {"launch", {&Program::launch}},
            {"cooperative", {&Program::cooperative}},
            {"cluster", {&Program::cluster}},
            {"graph", {&Program::graph}},
            {"graph-launch", {&Program::graph_launch}},
            {"graph-update", {&Program::graph_update}},
            {"graph-set", {&Program::graph_set}},
            {"graph-destroy", {&Program::graph_destroy}},
            {"storm", {&Program::storm}},
            {"burst", {&Program::burst}},
            {"wait", {&Program::wait}},
            {"capture", {&Program::capture}},
            {"primary", {&Program::primary}},
            {"reuse", {&Program::reuse, false}},
            {"subscribe", {&Program::subscribe, false}},
            {"repeat", {&Program::repeat, false}},
        };
        Words words(line);
        const auto verb = verbs.find(words.word());
        if (verb == verbs.end()) {
            std::fprintf(stderr, "program: what is '%s'?\n", line.c_str());
            std::exit(1);
        }
        if (const int error = verb->second.starts_cuda ? start() : 0)
            return failed(error);
        return (this->*verb->second.answer)(words);
    }

  private:
    std::string repeat(Words &words) {
        const auto times = words.number(1);
        const std::string again = words.rest();
        std::set<std::string> answers;
        for (std::uint64_t n = 0; n < times; n++)
            answers.insert(answer(again));
        std::string text;
        for (const std::string &each : answers)
            text += (text.empty() ? "" : ";") + each;
        return text;
    }

    std::string device(Words &words) {
        device_ = static_cast<int>(words.number(0));
        return "ok";
    }

    std::string context(Words &) { return done(make_context()); }

    std::string use(Words &words) {
        current_ = tasks_.at(words.number(0));
        return done(cuda_("cuCtxSetCurrent", current_.context));
    }

    std::string end_context(Words &) { return done(cuda_("cuCtxDestroy_v2", current_.context)); }

    std::string attribute(Words &words) {
        int value = -1;
        const int which = static_cast<int>(words.number(cuda::multiprocessors));
        const int error = cuda_("cuDeviceGetAttribute", &value, which, device_);
        return error ? failed(error) : std::to_string(value);
    }

    std::string kernel(Words &words) { return done(load(current_, words.word("where"))); }

    std::string unload(Words &) { return done(cuda_("cuModuleUnload", current_.module)); }

    std::string occupancy(Words &words) {
        int blocks = -1;
        const int threads = static_cast<int>(words.number(1024));
        const int error = cuda_("cuOccupancyMaxActiveBlocksPerMultiprocessor", &blocks,
                                current_.where, threads, std::size_t{0});
        return error ? failed(error) : std::to_string(blocks);
    }

    std::string launch(Words &words) {
        const unsigned blocks = words.number(many_blocks);
        return sms([&](void **params) { return launch_blocks(blocks, params); });
    }

    std::string cooperative(Words &words) {
        const unsigned blocks = words.number(1), threads = words.number(1024);
        const std::string call = words.word("cuLaunchCooperativeKernel");
        return sms([&](void **params) {
            if (call.starts_with("cuLaunchKernelEx"))
                return launch_ex(call.c_str(), blocks, threads, 1, true, params);
            return cuda_(call.c_str(), current_.where, blocks, 1U, 1U, threads, 1U, 1U, 0U,
                         cuda::Stream{}, params);
        });
    }

    std::string cluster(Words &words) {
        const unsigned size = words.number(2), blocks = words.number(64 * size);
        const bool cooperative = words.word() == "cooperative";
        return sms([&](void **params) {
            return launch_ex("cuLaunchKernelEx", blocks, 1024, size, cooperative, params);
        });
    }

    std::string graph(Words &words) {
        const unsigned blocks = words.number(many_blocks);
        bool cooperative = false, child = false;
        for (std::string how = words.word(); !how.empty(); how = words.word()) {
            cooperative = cooperative || how == "cooperative";
            child = child || how == "child";
        }
        return make_graph(blocks, cooperative, child);
    }

    std::string graph_launch(Words &words) {
        const Graph &graph = graphs_.at(words.number(0));
        return sms([&](void **) { return cuda_("cuGraphLaunch", graph.exec, cuda::Stream{}); });
    }

    std::string graph_update(Words &words) {
        const Graph &graph = graphs_.at(words.number(0));
        return update(graph, words.number(many_blocks));
    }

    std::string graph_set(Words &words) {
        const Graph &graph = graphs_.at(words.number(0));
        return set(graph, words.number(many_blocks));
    }

    std::string graph_destroy(Words &words) {
        return done(cuda_("cuGraphExecDestroy", graphs_.at(words.number(0)).exec));
    }

    std::string wait(Words &words) { return done(wait_by(words.word())); }

    std::string capture(Words &words) { return done(launch_captured(words.number(1))); }

    std::string primary(Words &words) { return done(launch_in_primary(words.number(1))); }

    std::string failed(int error) const {
        const char *name = nullptr;
        cuda_("cuGetErrorName", error, &name);
        return "error " + std::to_string(error) + " " + (name ? name : "?");
    }
    std::string done(int error) const { return error ? failed(error) : "ok"; }

    int start() {
        if (!tasks_.empty())
            return 0;
        if (const int error = cuda_("cuInit", 0U))
            return error;
        return make_context();
    }

    int make_context() {
        Task task;
        int error = cuda_("cuCtxCreate_v2", &task.context, 0U, device_);
        if (!error)
            error = load(task, "where");
        if (!error)
            tasks_.push_back(current_ = task);
        return error;
    }

    /// Loads a module whose kernel has this name.
    int load(Task &task, const std::string &name) const {
        std::string ptx = kernel_ptx;
        ptx.replace(ptx.find("where"), std::string_view("where").size(), name);
        const int error = cuda_("cuModuleLoadData", &task.module, ptx.c_str());
        return error ? error : cuda_("cuModuleGetFunction", &task.where, task.module, name.c_str());
    }

    std::string gpus(Words &) {
        int count = 0;
        std::string text;
        cuda_("cuDeviceGetCount", &count);
        for (int n = 0; n < count; n++) {
            char address[32] = {}, name[64] = {}, digits[4];
            cuda::Uuid uuid{};
            cuda_("cuDeviceGetPCIBusId", &address[0], 32, n);
            cuda_("cuDeviceGetUuid_v2", &uuid, n);
            cuda_("cuDeviceGetName", &name[0], 64, n);
            text += (n ? ";" : "") + std::string(address) + " GPU-";
            for (unsigned i = 0; i < 16; i++) {
                const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
                std::snprintf(digits, sizeof(digits), "%s%02x", dash ? "-" : "", uuid.bytes[i]);
                text += digits;
            }
            text += " " + std::string(name);
        }
        return text;
    }

    int launch_blocks(unsigned blocks, void **params) const {
        return cuda_("cuLaunchKernel", current_.where, blocks, 1U, 1U, 256U, 1U, 1U, 0U,
                     cuda::Stream{}, params, static_cast<void **>(nullptr));
    }

    int launch_by(const std::string &call, cuda::Stream stream, void **params) const {
        if (call.starts_with("cuGraphLaunch"))
            return cuda_(call.c_str(), graphs_.at(0).exec, stream);
        if (call.starts_with("cuLaunchKernelEx"))
            return launch_ex(call.c_str(), 1, 256, 1, false, params, stream);
        if (call.starts_with("cuLaunchCooperativeKernel"))
            return cuda_(call.c_str(), current_.where, 1U, 1U, 1U, 256U, 1U, 1U, 0U, stream,
                         params);
        return cuda_(call.c_str(), current_.where, 1U, 1U, 1U, 256U, 1U, 1U, 0U, stream, params,
                     static_cast<void **>(nullptr));
    }

    /// Waits on the default stream, which a burst of a single thread uses, too. @p call decides
    /// which default stream that is.
    int wait_by(const std::string &call) {
        if (call == "cuCtxSynchronize")
            return cuda_(call.c_str());
        if (call != "cuEventSynchronize")
            return cuda_(call.c_str(), cuda::Stream{});
        cuda::Event event = nullptr;
        if (const int error = cuda_("cuCtxSynchronize") ? 999 : cuda_("cuEventCreate", &event, 0U))
            return error;
        return cuda_(call.c_str(), event);
    }

    std::string burst(Words &words) {
        const unsigned threads = words.number(1), times = words.number(1);
        const std::string call = words.word();
        cuda::DevicePointer &memory = memory_[current_.context];
        std::atomic<int> error = memory ? 0 : array(&memory);
        std::vector<std::thread> all;
        for (unsigned i = 0; i < threads; i++)
            all.emplace_back([&] {
                cuda::Stream stream = nullptr;
                std::uint64_t ns = 200'000;
                void *params[] = {&memory, &ns};
                int failure = cuda_("cuCtxSetCurrent", current_.context);
                if (!failure && threads > 1)
                    failure = cuda_("cuStreamCreate", &stream, 0U);
                for (unsigned n = 0; !failure && n < times; n++)
                    failure = launch_by(call, stream, params);
                if (failure)
                    error = failure;
            });
        for (std::thread &each : all)
            each.join();
        return done(error);
    }

    int launch_captured(unsigned times) {
        cuda::DevicePointer &memory = memory_[current_.context];
        cuda::Stream captured = nullptr, other = nullptr;
        cuda::Graph graph = nullptr;
        std::uint64_t ns = 200'000;
        void *params[] = {&memory, &ns};
        int error = memory ? 0 : array(&memory);
        for (cuda::Stream *const stream : {&captured, &other})
            if (!error)
                error = cuda_("cuStreamCreate", stream, 0U);
        if (!error)
            error = cuda_("cuStreamBeginCapture_v2", captured, 0);
        for (unsigned n = 0; !error && n < 2 * times; n++)
            error = launch_by("cuLaunchKernel", n % 2 ? other : captured, params);
        return error ? error : cuda_("cuStreamEndCapture", captured, &graph);
    }

    int launch_in_primary(unsigned times) {
        const Task before = current_;
        cuda::Module module;
        int error = cuda_("cuDevicePrimaryCtxRetain", &current_.context, device_);
        if (!error)
            error = cuda_("cuCtxSetCurrent", current_.context);
        if (!error)
            error = cuda_("cuModuleLoadData", &module, &kernel_ptx[0]);
        if (!error)
            error = cuda_("cuModuleGetFunction", &current_.where, module, "where");
        cuda::DevicePointer memory = 0;
        std::uint64_t ns = 200'000;
        void *params[] = {&memory, &ns};
        if (!error)
            error = array(&memory);
        for (unsigned n = 0; !error && n < times; n++)
            error = launch_by("cuLaunchKernel", nullptr, params);
        if (!error)
            error = cuda_("cuDevicePrimaryCtxRelease_v2", device_);
        current_ = before;
        return error ? error : cuda_("cuCtxSetCurrent", current_.context);
    }

    int launch_ex(const char *call, unsigned blocks, unsigned threads, unsigned in_cluster,
                  bool cooperative, void **params, cuda::Stream stream = nullptr) const {
        cuda::Attribute attributes[2]{};
        attributes[0].id = cuda::Attribute::cluster_dimension;
        attributes[0].value.cluster = {in_cluster, 1, 1};
        attributes[1].id = cuda::Attribute::is_cooperative;
        attributes[1].value.cooperative = cooperative;
        cuda::LaunchConfig config{};
        config.grid[0] = blocks;
        config.block[0] = threads;
        config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
        config.stream = stream;
        config.attributes = attributes;
        config.attribute_count = 2;
        return cuda_(call, &config, current_.where, params, static_cast<void **>(nullptr));
    }

    /// Allocates the memory in which the kernels of this context note their SMs.
    int array(cuda::DevicePointer *array) const {
        const int error = cuda_("cuMemAlloc_v2", array, 4 * most_sms);
        return error ? error : cuda_("cuMemsetD32_v2", *array, 0U, most_sms);
    }

    /// Calls @p work with the kernel's parameters, waits, and adds the SMs that the kernel ran on.
    template <typename Work>
    int sms_of(Work work, std::vector<unsigned> &sms, cuda::DevicePointer memory) const {
        std::uint64_t ns = 200'000;
        void *params[] = {&memory, &ns};
        std::vector<unsigned> used(most_sms);
        int error = cuda_("cuMemsetD32_v2", memory, 0U, most_sms);
        if (!error)
            error = work(params);
        if (!error)
            error = cuda_("cuCtxSynchronize");
        if (!error)
            error =
                cuda_("cuMemcpyDtoH_v2", static_cast<void *>(used.data()), memory, 4 * most_sms);
        for (unsigned sm = 0; sm < most_sms; sm++)
            if (used[sm])
                sms.push_back(sm);
        return error;
    }

    template <typename Work>
    std::string sms(Work work) {
        cuda::DevicePointer &memory = memory_[current_.context];
        std::vector<unsigned> sms;
        int error = memory ? 0 : array(&memory);
        if (!error)
            error = sms_of(work, sms, memory);
        return error ? failed(error) : std::to_string(sms.size()) + " " + text_of(sms);
    }

    cuda::KernelNodeParams node_params(unsigned blocks, void **params) const {
        cuda::KernelNodeParams node{};
        node.function = current_.where;
        node.grid[0] = blocks;
        node.block[0] = 256;
        node.grid[1] = node.grid[2] = node.block[1] = node.block[2] = 1;
        node.params = params;
        return node;
    }

    std::string make_graph(unsigned blocks, bool cooperative, bool child) {
        cuda::DevicePointer &memory = memory_[current_.context];
        std::uint64_t ns = 200'000;
        void *params[] = {&memory, &ns};
        cuda::Node empty;
        Graph graph;
        int error = memory ? 0 : array(&memory);
        const auto node = node_params(blocks, params);
        const std::size_t none = 0;
        if (!error)
            error = cuda_("cuGraphCreate", &graph.graph, 0U);
        if (!error)
            error = cuda_("cuGraphAddEmptyNode", &empty, graph.graph,
                          static_cast<cuda::Node *>(nullptr), none);
        if (!error)
            error = cuda_("cuGraphAddKernelNode_v2", &graph.node, graph.graph, &empty,
                          std::size_t{1}, &node);
        if (!error && cooperative) {
            cuda::AttributeValue value{};
            value.cooperative = 1;
            error = cuda_("cuGraphKernelNodeSetAttribute", graph.node,
                          int{cuda::Attribute::is_cooperative}, &value);
        }
        if (!error && child) {
            cuda::Graph parent;
            error = cuda_("cuGraphCreate", &parent, 0U);
            if (!error)
                error = cuda_("cuGraphAddChildGraphNode", &empty, parent,
                              static_cast<cuda::Node *>(nullptr), none, graph.graph);
            graph.graph = parent;
        }
        if (!error)
            error = cuda_("cuGraphInstantiateWithFlags", &graph.exec, graph.graph, 0ULL);
        if (!error)
            graphs_.push_back(graph);
        return done(error);
    }

    std::string update(const Graph &graph, unsigned blocks) {
        std::uint64_t ns = 200'000;
        void *params[] = {&memory_[current_.context], &ns};
        const auto node = node_params(blocks, params);
        cuda::UpdateResult result;
        int error = cuda_("cuGraphKernelNodeSetParams_v2", graph.node, &node);
        if (!error)
            error = cuda_("cuGraphExecUpdate_v2", graph.exec, graph.graph, &result);
        return done(error);
    }

    std::string set(const Graph &graph, unsigned blocks) {
        std::uint64_t ns = 200'000;
        void *params[] = {&memory_[current_.context], &ns};
        const auto node = node_params(blocks, params);
        return done(cuda_("cuGraphExecKernelNodeSetParams_v2", graph.exec, graph.node, &node));
    }

    std::string storm(Words &words) {
        const unsigned threads = words.number(1), times = words.number(1);
        std::mutex lock;
        std::set<std::size_t> counts;
        std::atomic<int> error = 0;
        std::vector<std::thread> all;
        for (unsigned i = 0; i < threads; i++)
            all.emplace_back([&] {
                cuda::DevicePointer memory = 0;
                int failure = cuda_("cuCtxSetCurrent", current_.context);
                if (!failure)
                    failure = array(&memory);
                for (unsigned n = 0; !failure && n < times; n++) {
                    std::vector<unsigned> sms;
                    const auto work = [&](void **params) {
                        return launch_blocks(many_blocks, params);
                    };
                    failure = sms_of(work, sms, memory);
                    const std::lock_guard guard(lock);
                    counts.insert(sms.size());
                }
                if (failure)
                    error = failure;
            });
        for (std::thread &each : all)
            each.join();
        std::string text;
        for (const std::size_t count : counts)
            text += (text.empty() ? "" : ";") + std::to_string(count);
        return error ? failed(error) : text;
    }

    std::string reuse(Words &words) {
        const int file = open(words.word().c_str(), O_WRONLY);
        for (int number = STDERR_FILENO + 1; number < 1024; number++)
            if (number != file && dup2(file, number) != number)
                return "error";
        return "ok";
    }

    std::string subscribe(Words &) {
        const void *const *table = nullptr;
        void *handle = nullptr;
        if (const int error = cuda_("cuGetExportTable", &table, &cuda::tools_table))
            return failed(error);
        const auto function =
            reinterpret_cast<cuda::Subscribe>(const_cast<void *>(table[cuda::subscribe_entry]));
        return done(function(
            &handle, [](void *, int, int, const void *) {}, nullptr));
    }

    Cuda cuda_;
    int device_ = 0;
    Task current_;
    std::vector<Task> tasks_;
    std::vector<Graph> graphs_;
    std::map<cuda::Context, cuda::DevicePointer> memory_;
};

/// Forks. The child goes on, and the parent waits for it and ends with its status.
void follow_child() {
    const pid_t child = fork();
    if (!child)
        return;
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/// Executes the program of `argv` anew, with the arguments behind @p at.
void exec(char **argv, int at) {
    argv[at] = argv[0];
    execv("/proc/self/exe", argv + at);
    std::exit(1);
}

} // namespace

int main(int argc, char **argv) {
    Program program;
    const auto obey = [&](const std::string &line) {
        if (line == "fork")
            follow_child();
        else
            std::cout << program.answer(line) << std::endl;
    };
    for (int i = 1; i < argc; i++)
        if (std::string(argv[i]) == "exec")
            exec(argv, i);
        else if (std::string(argv[i]) != "-")
            obey(argv[i]);
        else
            for (std::string line; std::getline(std::cin, line);)
                obey(line);
}
