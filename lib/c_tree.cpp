// SPDX-License-Identifier: MIT OR GPL-2.0
#include "c_api.hpp"

using namespace nvdebug;

nvd_error *nvd_tree_open(const char *path, nvd_tree **ret) {
    return c::guarded([&] { return c::hand_over(Tree::open(path), ret); }, path, ret);
}

void nvd_tree_destroy(nvd_tree *tree) {
    delete tree;
}

nvd_error *nvd_tree_gpus(const nvd_tree *tree, uint32_t *indexes, size_t room, size_t *ret) {
    return c::guarded(
        [&]() -> nvd_error * {
            if (room > 0 && !indexes)
                return c::invalid(c::null_pointer);
            auto found = gpus(tree->tree);
            if (!found)
                return c::error_of(std::move(found).error());
            for (std::size_t n = 0; n < std::min(room, found->size()); n++)
                indexes[n] = (*found)[n].index();
            *ret = found->size();
            return nullptr;
        },
        tree, ret);
}

nvd_error *nvd_gpu_create(const nvd_tree *tree, uint32_t index, nvd_gpu **ret) {
    return c::guarded(
        [&]() -> nvd_error * {
            *ret = new nvd_gpu{Gpu(tree->tree, index)};
            return nullptr;
        },
        tree, ret);
}

void nvd_gpu_destroy(nvd_gpu *gpu) {
    delete gpu;
}

nvd_error *nvd_gpu_identity(const nvd_gpu *gpu, nvd_identity *ret) {
    return c::guarded(
        [&] {
            auto info = gpu->gpu.info();
            if (!info)
                return c::error_of(std::move(info).error());
            nvd_identity identity{};
            c::copy_string(info->chip, identity.chip);
            c::copy_string(info->generation, identity.generation);
            c::copy_string(info->pci_address, identity.pci_address);
            c::copy_string(info->pci_id, identity.pci_id);
            c::copy_string(info->driver, identity.driver);
            identity.channels = c::number_of(info->channels);
            identity.ids_per_runlist = c::flag_of(info->ids_per_runlist);
            identity.video_memory_bytes = c::number_of(info->video_memory);
            return c::copy_out(identity, ret);
        },
        gpu, ret);
}
