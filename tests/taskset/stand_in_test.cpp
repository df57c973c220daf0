// SPDX-License-Identifier: MIT OR GPL-2.0
// The stand-in for libcuda behaves as the real one was measured to do.
#include "api.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr char ptx[] = ".version 6.0\n.entry where(.param .u64 array, .param .u64 ns) { ret; }\n"
                       ".visible .entry other ( .param .u32 n ) { ret; }\n.entry none { ret; }\n";
// The numbers of the devices, in the order of STAND_IN_GPUS.
enum { h100, h200, volta, turing, ampere, blackwell, unknown };

using Words = const std::uint64_t *;
/// The function that the subscriber of this process calls for each callback.
std::function<void(int domain, int id, Words words)> on_callback;
void *subscriber = nullptr;

const void *const *table() {
    const void *found = nullptr;
    EXPECT_EQ(cuGetExportTable(&found, &cuda::tools_table), 0);
    return static_cast<const void *const *>(found);
}

int enable(int on, int domain, int id) {
    return reinterpret_cast<cuda::Enable>(const_cast<void *>(table()[cuda::enable_entry]))(
        on, subscriber, domain, id);
}

int subscribe(void **handle) {
    const auto function =
        reinterpret_cast<cuda::Subscribe>(const_cast<void *>(table()[cuda::subscribe_entry]));
    return function(
        handle,
        [](void *, int domain, int id, const void *params) {
            if (on_callback)
                on_callback(domain, id, static_cast<Words>(params));
        },
        nullptr);
}

template <typename T>
T *at(std::uint64_t word) {
    return reinterpret_cast<T *>(static_cast<std::uintptr_t>(word));
}

/// Sets a bit of a descriptor.
void set_bit(std::uint32_t *descriptor, unsigned bit) {
    descriptor[bit / 32] |= 1U << bit % 32;
}

/// The places of the mask and of its valid bit.
struct Place {
    unsigned mask, bits, valid;
};
constexpr Place hopper = {2432, 128, 31}, old = {672, 64, 0}, newest = {2240, 256, 159};

/// Lets a descriptor use only these TPCs.
void allow(std::uint32_t *descriptor, const Place &place, const std::vector<unsigned> &tpcs) {
    if (place.valid)
        set_bit(descriptor, place.valid);
    // A descriptor that is built again has its previous mask, which is cleared first.
    for (unsigned bit = 0; bit < place.bits; bit++) {
        const unsigned at = place.mask + bit;
        descriptor[at / 32] &= ~(1U << at % 32);
        if (std::find(tpcs.begin(), tpcs.end(), bit) == tpcs.end())
            set_bit(descriptor, at);
    }
}

class StandIn : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(cuInit(0), 0);
        if (!subscriber) {
            ASSERT_EQ(subscribe(&subscriber), 0);
        }
        ASSERT_EQ(enable(1, cuda::launch_domain, cuda::launch_id), 0);
        use(h100);
    }
    void TearDown() override {
        on_callback = nullptr;
        cuCtxDestroy_v2(context);
    }
    void use(int device) {
        if (context)
            cuCtxDestroy_v2(context);
        ASSERT_EQ(cuCtxCreate_v2(&context, 0, device), 0);
        ASSERT_EQ(cuModuleLoadData(&module, ptx), 0);
        ASSERT_EQ(cuModuleGetFunction(&where, module, "where"), 0);
        ASSERT_EQ(cuMemAlloc_v2(&array, sizeof(seen)), 0);
        forget();
    }
    void forget() { ASSERT_EQ(cuMemsetD32_v2(array, 0, seen.size()), 0); }
    void only(const Place &place, const std::vector<unsigned> &tpcs) {
        on_callback = [=, this](int domain, int, Words words) {
            if (domain == cuda::launch_domain) {
                built++;
                allow(at<std::uint32_t>(words[4]), place, tpcs);
            }
        };
    }
    std::vector<unsigned> sms() {
        EXPECT_EQ(cuMemcpyDtoH_v2(seen.data(), array, sizeof(seen)), 0);
        std::vector<unsigned> used;
        for (unsigned sm = 0; sm < seen.size(); sm++)
            if (seen[sm])
                used.push_back(sm);
        forget();
        return used;
    }
    int launch(unsigned blocks) {
        return cuLaunchKernel(where, blocks, 1, 1, 1024, 1, 1, 0, nullptr, params, nullptr);
    }
    int launch_cooperative(unsigned blocks) {
        return cuLaunchCooperativeKernel(where, blocks, 1, 1, 1024, 1, 1, 0, nullptr, params);
    }
    int launch_cluster(unsigned size, unsigned cooperative_blocks = 0) {
        cuda::Attribute attributes[2]{};
        attributes[0].id = cuda::Attribute::cluster_dimension;
        attributes[0].value.cluster = {size, 1, 1};
        attributes[1].id = cuda::Attribute::is_cooperative;
        attributes[1].value.cooperative = cooperative_blocks != 0;
        const unsigned blocks = cooperative_blocks ? cooperative_blocks : 64 * size;
        const cuda::LaunchConfig config = {{blocks, 1, 1}, {1024, 1, 1}, 0, nullptr, attributes, 2};
        return cuLaunchKernelEx(&config, where, params, nullptr);
    }
    /// Makes a graph of one launch.
    cuda::Graph graph_of(unsigned blocks, cuda::Node &node) {
        cuda::Graph graph;
        EXPECT_EQ(cuGraphCreate(&graph, 0), 0);
        const cuda::KernelNodeParams given = {where,  {blocks, 1, 1}, {1024, 1, 1}, 0,
                                              params, nullptr,        nullptr,      nullptr};
        EXPECT_EQ(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &given), 0);
        return graph;
    }

    std::array<std::uint32_t, 256> seen;
    cuda::Context context = nullptr;
    cuda::Module module;
    cuda::Function where;
    cuda::DevicePointer array;
    std::uint64_t ns = 1000;
    void *params[2] = {&array, &ns};
    unsigned built = 0;
};
using StandInDeath = StandIn;

TEST(StandInStart, CallsFailBeforeInit) {
    // The child initialises CUDA, with the library to load in its environment.
    const pid_t child = fork();
    if (!child) {
        int count;
        setenv("CUDA_INJECTION64_PATH", INJECTION, 1);
        if (cuDeviceGetCount(&count) != cuda::not_initialized)
            _exit(1);
        if (getenv("STAND_IN_INJECTED") || cuInit(0) || !getenv("STAND_IN_INJECTED"))
            _exit(2);
        const pid_t grandchild = fork();
        if (!grandchild) // a grandchild does not inherit the initialisation
            _exit(cuInit(0) == cuda::not_initialized &&
                          cuDeviceGetCount(&count) == cuda::not_initialized
                      ? 0
                      : 3);
        int status;
        waitpid(grandchild, &status, 0);
        _exit(WEXITSTATUS(status));
    }
    int status;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_F(StandIn, GpusAreListed) {
    int count, sms, version, capability;
    cuda::Uuid first, second;
    ASSERT_EQ(cuDeviceGetCount(&count), 0);
    EXPECT_EQ(count, 7);
    ASSERT_EQ(cuDriverGetVersion(&version), 0);
    EXPECT_EQ(version, 13000);
    for (const int device : {h100, h200}) {
        ASSERT_EQ(cuDeviceGetAttribute(&sms, cuda::multiprocessors, device), 0);
        EXPECT_EQ(sms, 132);
    }
    ASSERT_EQ(cuDeviceGetAttribute(&capability, cuda::major_capability, blackwell), 0);
    EXPECT_EQ(capability, 10);
    ASSERT_EQ(cuDeviceGetUuid_v2(&first, h100), 0);
    ASSERT_EQ(cuDeviceGetUuid_v2(&second, h200), 0);
    EXPECT_NE(std::memcmp(&first, &second, sizeof(first)), 0);
    EXPECT_EQ(cuDeviceGetAttribute(&sms, cuda::multiprocessors, 7), cuda::invalid_device);
    EXPECT_EQ(cuDeviceGetAttribute(nullptr, cuda::multiprocessors, 0), cuda::invalid_value);
}

TEST_F(StandIn, TpcsHaveTheirMeasuredBits) {
    const std::map<unsigned, unsigned> first_sm = {
        {0, 0},   {9, 2},    {18, 4},   {27, 6},   {36, 8},   {45, 10},  {54, 12}, {63, 14},
        {1, 16},  {10, 18},  {3, 48},   {12, 50},  {66, 62},  {13, 64},  {22, 66}, {67, 76},
        {14, 78}, {62, 120}, {71, 122}, {75, 124}, {78, 126}, {81, 128}, {83, 130}};
    for (const auto &[bit, sm] : first_sm) {
        only(hopper, {bit});
        ASSERT_EQ(launch(1000), 0);
        EXPECT_EQ(sms(), (std::vector<unsigned>{sm, sm + 1})) << bit;
    }
}

TEST_F(StandIn, LaunchWithoutATpcHangs) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const unsigned bit : {4, 8, 17, 53, 72, 74, 84, 127}) {
        only(hopper, {bit});
        EXPECT_EXIT(launch(1), testing::ExitedWithCode(99), "HANG .*no TPC") << bit;
    }
}

TEST_F(StandIn, LaunchUsesAnSmForEachBlock) {
    ASSERT_EQ(launch(1000), 0);
    EXPECT_EQ(sms().size(), 132u);
    ASSERT_EQ(launch(5), 0);
    EXPECT_EQ(sms().size(), 5u);
}

TEST_F(StandIn, DescriptorsFollowTheGeneration) {
    const struct {
        int device;
        unsigned version_byte, version, width;
        Place place;
    } all[] = {{h100, 72, 0x40, 1024, hopper},      {volta, 72, 0x22, 384, old},
               {turing, 72, 0x23, 384, old},        {ampere, 72, 0x30, 384, old},
               {blackwell, 58, 0x50, 1248, newest}, {unknown, 72, 0x60, 1024, hopper}};
    for (const auto &each : all) {
        use(each.device);
        on_callback = [&](int, int, Words words) {
            EXPECT_EQ(words[0] & 0xffffffff, 0x58u);
            EXPECT_EQ(words[1], reinterpret_cast<std::uintptr_t>(context));
            EXPECT_EQ(at<std::uint8_t>(words[4])[each.version_byte], each.version);
            EXPECT_EQ(at<std::uint32_t>(words[4])[each.width / 32], 77u);
            allow(at<std::uint32_t>(words[4]), each.place, {0});
        };
        ASSERT_EQ(launch(77), 0);
        EXPECT_EQ(sms(), (std::vector<unsigned>{0, 1})) << each.device;
    }
}

TEST_F(StandIn, InvalidMaskHasNoEffect) {
    on_callback = [](int, int, Words words) { std::memset(at<char>(words[4]) + 304, 0xff, 16); };
    ASSERT_EQ(launch(1000), 0);
    EXPECT_EQ(sms().size(), 132u);
}

TEST_F(StandInDeath, SubscriberMayChangeOnlyTheMask) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    on_callback = [](int, int, Words words) { set_bit(at<std::uint32_t>(words[4]), 2560); };
    EXPECT_EXIT(launch(1), testing::ExitedWithCode(99), "WRONG");
}

TEST_F(StandInDeath, CooperativeLaunchHangsUnlessItFits) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    int blocks;
    ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, where, 1024, 0), 0);
    EXPECT_EQ(blocks, 2);
    EXPECT_EQ(launch_cooperative(264), 0);
    EXPECT_EQ(launch_cooperative(265), cuda::too_large);
    only(hopper, {0, 9});
    EXPECT_EQ(launch_cooperative(8), 0);
    EXPECT_EXIT(launch_cooperative(9), testing::ExitedWithCode(99), "HANG .*8 blocks fit");
}

TEST_F(StandInDeath, ClusterHangsUnlessItFitsInAGpc) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EQ(launch_cluster(8), 0);
    EXPECT_EQ(launch_cluster(9), cuda::invalid_cluster_size);
    only(hopper, {0, 9, 10}); // 4 SMs in a GPC
    EXPECT_EQ(launch_cluster(8), 0);
    only(hopper, {0, 9, 18}); // 2 in each
    EXPECT_EQ(launch_cluster(4), 0);
    EXPECT_EXIT(launch_cluster(5), testing::ExitedWithCode(99), "HANG .*a cluster of 5 blocks");
    // Each of two GPCs has room for 12 blocks, which are two clusters of five.
    only(hopper, {9, 10, 11, 18, 19, 20});
    EXPECT_EQ(launch_cluster(5, 20), 0);
    EXPECT_EXIT(launch_cluster(5, 25), testing::ExitedWithCode(99), "HANG .*20 blocks fit");
    use(ampere);
    EXPECT_EQ(launch_cluster(2), cuda::invalid_cluster_size);
}

TEST_F(StandIn, SecondSubscriberIsRefused) {
    void *handle = &handle;
    EXPECT_EQ(subscribe(&handle), cuda::already_acquired);
    EXPECT_EQ(handle, &handle);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table()[0]), 96u);
    const cuda::Uuid another = {};
    const void *none;
    EXPECT_EQ(cuGetExportTable(&none, &another), cuda::not_found);
}

TEST_F(StandIn, SubscriberSeesCalls) {
    std::string told;
    on_callback = [&](int domain, int, Words words) {
        if (domain == cuda::launch_domain) {
            told += "descriptor ";
            return;
        }
        EXPECT_EQ(words[0] & 0xffffffff, 0x68u);
        EXPECT_EQ(at<void>(words[8]), context);
        EXPECT_EQ(words[10] & 0xffffffff, 307u);
        told += std::string(at<char>(words[6])) + (words[10] >> 32 ? " exit" : " entry ");
        EXPECT_EQ(*at<int>(words[5]), words[10] >> 32 ? 0 : 999);
        const auto *const arguments = at<char>(words[7]);
        unsigned grid_x;
        std::memcpy(&grid_x, arguments + 8, 4);
        EXPECT_EQ(grid_x, 77u);
        void *value;
        std::memcpy(&value, arguments, 8);
        EXPECT_EQ(value, where);
        std::memcpy(&value, arguments + 48, 8);
        EXPECT_EQ(value, params);
    };
    ASSERT_EQ(enable(1, cuda::api_domain, 307), 0);
    EXPECT_EQ(launch(77), 0);
    ASSERT_EQ(enable(0, cuda::api_domain, 307), 0);
    EXPECT_EQ(told, "cuLaunchKernel entry descriptor cuLaunchKernel exit");
}

TEST_F(StandIn, SubscriberSkipsCallsAndChangesAnswers) {
    on_callback = [&](int domain, int id, Words words) {
        if (domain == cuda::api_domain && id == 477) {
            *at<int>(words[11]) = 1;
            *at<int>(words[5]) = cuda::too_large;
        }
        if (domain == cuda::api_domain && id == 9 && words[10] >> 32)
            **at<int *>(words[7]) = 12;
    };
    ASSERT_EQ(enable(1, cuda::api_domain, 477), 0);
    ASSERT_EQ(enable(1, cuda::api_domain, 9), 0);
    EXPECT_EQ(launch_cooperative(1), cuda::too_large);
    EXPECT_TRUE(sms().empty());
    int value;
    EXPECT_EQ(cuDeviceGetAttribute(&value, cuda::multiprocessors, h100), 0);
    EXPECT_EQ(value, 12);
    ASSERT_EQ(enable(0, cuda::api_domain, 477), 0);
    ASSERT_EQ(enable(0, cuda::api_domain, 9), 0);
}

TEST_F(StandIn, GraphsKeepTheirDescriptors) {
    cuda::Node node;
    const cuda::Graph graph = graph_of(1000, node);
    cuda::Exec exec;
    only(hopper, {0});
    ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    EXPECT_EQ(built, 0u);
    only(hopper, {9, 10});
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(cuGraphLaunch(exec, nullptr), 0);
        EXPECT_EQ(sms(), (std::vector<unsigned>{2, 3, 18, 19}));
    }
    EXPECT_EQ(built, 1u);

    // An update from an equal graph changes nothing, and an update from another graph does.
    only(hopper, {18});
    cuda::UpdateResult result;
    ASSERT_EQ(cuGraphExecUpdate_v2(exec, graph, &result), 0);
    ASSERT_EQ(cuGraphLaunch(exec, nullptr), 0);
    EXPECT_EQ(sms().size(), 4u);
    cuda::KernelNodeParams given;
    ASSERT_EQ(cuGraphKernelNodeGetParams_v2(node, &given), 0);
    given.params = params; // the update frees the parameters of the node
    given.grid[0] = 900;
    ASSERT_EQ(cuGraphKernelNodeSetParams_v2(node, &given), 0);
    ASSERT_EQ(cuGraphExecUpdate_v2(exec, graph, &result), 0);
    ASSERT_EQ(cuGraphLaunch(exec, nullptr), 0);
    EXPECT_EQ(sms(), (std::vector<unsigned>{4, 5}));
    EXPECT_EQ(built, 2u);

    // Two updates, away from the first parameters and back, count as a change, too.
    only(hopper, {27});
    for (const unsigned blocks : {901, 900}) {
        given.grid[0] = blocks;
        ASSERT_EQ(cuGraphKernelNodeSetParams_v2(node, &given), 0);
        ASSERT_EQ(cuGraphExecUpdate_v2(exec, graph, &result), 0);
    }
    ASSERT_EQ(cuGraphLaunch(exec, nullptr), 0);
    EXPECT_EQ(sms(), (std::vector<unsigned>{6, 7}));

    cuda::Node another;
    const cuda::Graph two = graph_of(1, another);
    ASSERT_EQ(cuGraphAddEmptyNode(&another, two, nullptr, 0), 0);
    EXPECT_EQ(cuGraphExecUpdate_v2(exec, two, &result), cuda::update_failure);
    EXPECT_EQ(result.result, 2);
    EXPECT_EQ(cuGraphExecDestroy(exec), 0);
    EXPECT_EQ(cuGraphLaunch(exec, nullptr), cuda::invalid_value);
}

TEST_F(StandIn, NodesBelongToTheirGraph) {
    cuda::Node node, cloned;
    const cuda::Graph graph = graph_of(1000, node);
    cuda::Graph clone;
    cuda::Exec exec;
    std::size_t count = 1;
    int type;
    ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    ASSERT_EQ(cuGraphClone(&clone, graph), 0);
    ASSERT_EQ(cuGraphGetNodes(clone, &cloned, &count), 0);
    EXPECT_EQ(count, 1u);
    ASSERT_EQ(cuGraphNodeGetType(cloned, &type), 0);
    EXPECT_EQ(type, cuda::kernel_node);
    cuda::KernelNodeParams given;
    ASSERT_EQ(cuGraphKernelNodeGetParams_v2(cloned, &given), 0);
    EXPECT_EQ(given.grid[0], 1000u);
    EXPECT_EQ(cuGraphExecKernelNodeSetParams_v2(exec, cloned, &given), cuda::invalid_value);
    EXPECT_EQ(cuGraphExecKernelNodeSetParams_v2(exec, node, &given), 0);
    ASSERT_EQ(cuGraphDestroy(graph), 0);
    EXPECT_EQ(cuGraphNodeGetType(node, &type), cuda::invalid_value);
    ASSERT_EQ(cuGraphLaunch(exec, nullptr), 0) << "it has a copy";
    EXPECT_EQ(sms().size(), 132u);
}

TEST_F(StandIn, KernelsAreThoseOfTheModule) {
    cuda::Function function;
    EXPECT_EQ(cuModuleGetFunction(&function, module, "other"), 0);
    EXPECT_EQ(cuModuleGetFunction(&function, module, "none"), 0);
    EXPECT_EQ(cuModuleGetFunction(&function, module, "whe"), cuda::not_found);
    EXPECT_EQ(cuModuleLoadData(&module, "text"), cuda::invalid_image);
    cuda::Context second;
    ASSERT_EQ(cuCtxCreate_v4(&second, nullptr, 0, h100), 0);
    EXPECT_EQ(launch(1), cuda::invalid_handle) << "a function belongs to its context";
    ASSERT_EQ(cuCtxDestroy_v2(second), 0);
    EXPECT_EQ(launch(1), cuda::invalid_context);
}

TEST_F(StandIn, FunctionsAreFoundByName) {
    void *found;
    int status;
    ASSERT_EQ(cuGetProcAddress_v2("cuMemAlloc", &found, 13000, 0, &status), 0);
    EXPECT_EQ(found, reinterpret_cast<void *>(cuMemAlloc_v2));
    ASSERT_EQ(cuGetProcAddress_v2("cuLaunchKernel", &found, 13000, 2, &status), 0);
    EXPECT_EQ(found, reinterpret_cast<void *>(cuLaunchKernel_ptsz));
    ASSERT_EQ(cuGetProcAddress_v2("cuGraphInstantiate", &found, 13000, 0, nullptr), 0);
    EXPECT_EQ(found, reinterpret_cast<void *>(cuGraphInstantiateWithFlags));
    EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &found, 13000, 0, &status), cuda::not_found);
    EXPECT_EQ(status, 1);
}

} // namespace

int main(int argc, char **argv) {
    testing::InitGoogleTest(&argc, argv);
    setenv("STAND_IN_GPUS", "h100,h200,volta,turing,ampere,blackwell,unknown", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("CUDA_INJECTION64_PATH");
    return RUN_ALL_TESTS();
}
