// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <stdexcept>

namespace stand_in {

namespace {

struct Product {
    const char *key, *name;
    const Layout *layout;
    int major, minor, threads_per_sm;
    std::vector<unsigned> gpcs;    // the number of TPCs of each GPC
    unsigned stride;               // distance between the first bits of two GPCs
    std::vector<unsigned> singles; // bits of TPCs that are alone in their GPC
};

// The H100 is as measured. The H200 differs from the one that was measured, of which 64 of 66 TPCs
// were seen: other TPCs are missing. The rest stands for generations that were not measured.
const std::vector<Product> products = {
    {"h100",
     "NVIDIA H100 80GB HBM3",
     &v04_00,
     9,
     0,
     2048,
     {4, 8, 8, 8, 8, 8, 9, 9},
     9,
     {75, 78, 81, 83}},
    {"h200", "NVIDIA H200", &v04_00, 9, 0, 2048, {8, 9, 7, 8, 8, 6, 8, 8}, 9, {75, 78, 81, 83}},
    {"volta", "NVIDIA TITAN V (stand-in)", &v02_02, 7, 0, 2048, {4, 4}, 4, {}},
    {"turing", "NVIDIA T4 (stand-in)", &v02_03, 7, 5, 1024, {4, 4}, 4, {}},
    {"ampere", "NVIDIA RTX A2000 (stand-in)", &v03_00, 8, 6, 1536, {4, 4}, 4, {}},
    {"blackwell",
     "NVIDIA B200 (stand-in)",
     &v05_00,
     10,
     0,
     2048,
     {9, 9, 8, 9, 9, 10, 10, 10},
     16,
     {}},
    {"unknown", "NVIDIA GPU of tomorrow (stand-in)", &unknown, 12, 9, 2048, {8, 8}, 9, {}},
};

Gpu make(const Product &product, unsigned place) {
    Gpu gpu = {.layout = product.layout,
               .name = product.name,
               .major = product.major,
               .minor = product.minor,
               .threads_per_sm = product.threads_per_sm,
               .tpcs = {},
               .uuid = {{0x57, 0xa2, 0xd1, 0x20}},
               .address = {},
               .most_disabled = Mask().size()};
    // SMs are numbered round robin: the first TPC of each GPC, then the second of each. The logical
    // number of a GPC is made up, so that it differs from the virtual number.
    const unsigned gpcs = product.gpcs.size();
    const auto add = [&](unsigned bit, unsigned gpc) {
        gpu.tpcs.push_back({bit, gpc, gpc < gpcs ? gpcs - 1 - gpc : gpcs - 1, gpu.sms()});
    };
    const unsigned most = *std::max_element(product.gpcs.begin(), product.gpcs.end());
    for (unsigned tpc = 0; tpc < most; tpc++)
        for (unsigned gpc = 0; gpc < gpcs; gpc++)
            if (tpc < product.gpcs[gpc])
                add(gpc * product.stride + tpc, gpc);
    // The virtual GPCs of single TPCs begin with 8, at bit 72.
    for (const unsigned bit : product.singles)
        add(bit, bit - 72 + 8);
    // The seed gives other tests on this machine, with stand-ins of their own, other GPUs.
    if (const char *const seed = std::getenv("STAND_IN_SEED")) {
        const auto number = static_cast<std::uint32_t>(std::strtoul(seed, nullptr, 10));
        std::memcpy(&gpu.uuid.bytes[4], &number, sizeof(number));
    }
    gpu.uuid.bytes[14] = static_cast<unsigned char>(&product - products.data());
    gpu.uuid.bytes[15] = static_cast<unsigned char>(place);
    char address[16];
    std::snprintf(address, sizeof(address), "0000:%02x:00.0", place + 1);
    gpu.address = address;
    return gpu;
}

std::vector<std::string> split(const std::string &text, char by) {
    std::vector<std::string> words;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, by);)
        words.push_back(word);
    return words;
}

std::string text_of(const cuda::Uuid &uuid) {
    std::string text = "GPU-";
    for (unsigned i = 0; i < 16; i++) {
        char digits[4];
        std::snprintf(digits, sizeof(digits), "%s%02x",
                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
        text += digits;
    }
    return text;
}

} // namespace

std::vector<Gpu> all_gpus() {
    const char *const names = std::getenv("STAND_IN_GPUS");
    std::vector<Gpu> all;
    for (const std::string &name : split(names ? names : "h100", ',')) {
        const auto product = std::find_if(products.begin(), products.end(),
                                          [&](const Product &each) { return name == each.key; });
        if (product == products.end())
            throw std::invalid_argument("STAND_IN_GPUS: no GPU " + name);
        all.push_back(make(*product, all.size()));
    }
    // These lies make the GPU ignore parts of its descriptors.
    const char *const lies = std::getenv("STAND_IN_LIES");
    for (const std::string &lie : split(lies ? lies : "", ',')) {
        const auto words = split(lie, ':');
        const auto number = [&](std::size_t n) { return std::stoul(words.at(n)); };
        for (Gpu &gpu : all) {
            if (words[0] == "weak")
                gpu.most_disabled = number(1);
            for (Tpc &tpc : gpu.tpcs)
                if (words[0] == "deaf" && tpc.bit == number(1))
                    tpc.deaf = true;
                else if (words[0] == "swap" && (tpc.bit == number(1) || tpc.bit == number(2)))
                    tpc.bit = number(1) + number(2) - tpc.bit;
        }
    }
    return all;
}

/// Reads CUDA_VISIBLE_DEVICES as the driver does: numbers or beginnings of UUIDs, up to the first
/// word that is neither.
std::vector<Gpu> visible_gpus() {
    const auto all = all_gpus();
    const char *const wanted = std::getenv("CUDA_VISIBLE_DEVICES");
    if (!wanted)
        return all;
    std::vector<Gpu> some;
    for (const std::string &word : split(wanted, ',')) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const Gpu &gpu) {
            return word == std::to_string(&gpu - all.data()) ||
                   (word.starts_with("GPU-") && text_of(gpu.uuid).starts_with(word));
        });
        if (found == all.end())
            break;
        some.push_back(*found);
    }
    return some;
}

unsigned Gpu::blocks_per_sm(unsigned threads, std::size_t shared_bytes) const {
    // A block takes whole warps, and 1 KiB more of Hopper's 228 KiB of shared memory than it asks
    // for.
    const std::size_t warps = (threads + 31) / 32;
    const std::size_t by_threads = warps ? threads_per_sm / 32 / warps : 0;
    return std::min({std::size_t{32}, by_threads, 228 * 1024 / (shared_bytes + 1024)});
}

bool Gpu::usable(const Tpc &tpc, const Mask &disabled) const {
    return tpc.deaf || disabled.count() > most_disabled || !disabled[tpc.bit];
}

std::uint64_t Gpu::room(const Launch &launch, const Mask &disabled) const {
    std::map<unsigned, unsigned> sms_of_gpc;
    for (const Tpc &tpc : tpcs)
        if (usable(tpc, disabled))
            sms_of_gpc[tpc.gpc] += 2;
    const std::uint64_t each = blocks_per_sm(launch.threads(), launch.shared_bytes);
    const unsigned in_cluster = launch.cluster_blocks();
    std::uint64_t blocks = 0;
    for (const auto &[gpc, sms] : sms_of_gpc)
        blocks += in_cluster > 1 ? sms * each / in_cluster * in_cluster : sms * each;
    return blocks;
}

std::vector<unsigned> Gpu::run(const Launch &launch, const Mask &disabled, std::string &why) const {
    std::vector<unsigned> sms;
    for (const Tpc &tpc : tpcs)
        if (usable(tpc, disabled))
            sms.insert(sms.end(), {tpc.first_sm, tpc.first_sm + 1});
    const std::uint64_t fit = room(launch, disabled);
    if (sms.empty())
        why = "no TPC that it may use";
    else if (!fit)
        why = "a cluster of " + std::to_string(launch.cluster_blocks()) +
              " blocks, and no GPC takes it";
    else if (launch.cooperative && launch.blocks() > fit)
        why = "cooperative, and " + std::to_string(fit) + " blocks fit";
    if (launch.blocks() < sms.size())
        sms.resize(launch.blocks());
    return sms;
}

} // namespace stand_in
