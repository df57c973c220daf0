/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/**
 * @file
 * @brief The C interface of libnvdebug, for callers in other languages: a part of nvdebug.hpp.
 *
 * - A function that can fail returns NULL when done, else an error that the caller owns. What it
 *   would have returned goes to its last argument, @p ret, which is untouched on failure.
 * - Handles are opaque; the function named `nvd_OBJECT_destroy` frees one, and takes NULL as well.
 *   Handles are independent of each other: a tree may go before what was read from it.
 * - Structures that the library fills in start with their size. The caller sets it to `sizeof` the
 *   structure, the library to the bytes that it filled in, which are fewer if it is older than the
 *   header.
 * - What is unknown is -1 in signed numbers, and "" in strings. Longer strings are cut.
 * - Pointers must not be NULL unless said otherwise: functions that can fail say NVD_INVALID. Strings are UTF-8 and end in a 0.
 * - Different handles may be used by different threads at once; so may one handle by functions that
 *   take it as `const`. Nothing here throws, prints, or keeps global state.
 */
#ifndef NVDEBUG_NVDEBUG_H
#define NVDEBUG_NVDEBUG_H

#include <stddef.h>
#include <stdint.h>

#include "nvdebug/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief What kind of error: nvdebug::ErrorCode. */
enum nvd_code {
    NVD_NOT_FOUND,   /**< no such file, GPU, runlist, channel … */
    NVD_DENIED,      /**< rights, kernel lockdown or `read_only` */
    NVD_GONE,        /**< the GPU answers with all ones, or serves no such unit */
    NVD_UNSUPPORTED, /**< this chip, module, capture or kernel cannot */
    NVD_BUSY,        /**< somebody else kept changing what was read */
    NVD_INVALID,     /**< the request makes no sense here */
    NVD_TIMEOUT,     /**< the hardware did not report completion */
    NVD_IO,          /**< a register or memory could not be read, or any other errno */
    NVD_MALFORMED    /**< a file's text is not what docs/proc.md says */
};

/** @brief An error. */
typedef struct nvd_error nvd_error;
/** @brief Where the files come from: nvdebug::Tree. */
typedef struct nvd_tree nvd_tree;
/** @brief A GPU: nvdebug::Gpu. */
typedef struct nvd_gpu nvd_gpu;
/** @brief The engines of a GPU. */
typedef struct nvd_engines nvd_engines;
/** @brief A runlist as it was when it was read. */
typedef struct nvd_runlist nvd_runlist;
/** @brief A change that is undone when it ends: nvdebug::Lease. */
typedef struct nvd_lease nvd_lease;

/** @brief The library's version, `0.1.0`. @return a string that is always there. */
NVDEBUG_API const char *nvd_version(void);

/** @brief What kind of error it is. */
NVDEBUG_API enum nvd_code nvd_error_code(const nvd_error *error);
/** @brief The errno; 0 if the kernel had no part in it. */
NVDEBUG_API int nvd_error_errno(const nvd_error *error);
/** @brief The file concerned, or "". @return a string that lives as long as @p error. */
NVDEBUG_API const char *nvd_error_path(const nvd_error *error);
/** @brief What, where and what next. @return a string that lives as long as @p error. */
NVDEBUG_API const char *nvd_error_sentence(const nvd_error *error);
/** @brief Frees an error. @param error may be NULL. */
NVDEBUG_API void nvd_error_destroy(nvd_error *error);

/**
 * @brief Opens `/proc`, a folder that looks like it, or a capture.
 * @param path of the folder or capture
 * @param ret the tree, for nvd_tree_destroy()
 * @return NULL, or NVD_NOT_FOUND, NVD_DENIED, NVD_IO, NVD_MALFORMED, NVD_UNSUPPORTED
 */
NVDEBUG_API nvd_error *nvd_tree_open(const char *path, nvd_tree **ret);
/** @brief Frees a tree. @param tree may be NULL. */
NVDEBUG_API void nvd_tree_destroy(nvd_tree *tree);

/**
 * @brief The GPUs of a tree, by rising index.
 * @param tree where to look
 * @param indexes the first @p room of them; may be NULL if that is 0
 * @param room how many fit
 * @param ret how many there are, also if that is more
 * @return NULL, or NVD_NOT_FOUND, NVD_DENIED, NVD_IO
 */
NVDEBUG_API nvd_error *nvd_tree_gpus(const nvd_tree *tree, uint32_t *indexes, size_t room,
                                     size_t *ret);

/**
 * @brief A GPU of a tree. Reads nothing yet.
 * @param tree that has it
 * @param index the X of `gpuX`
 * @param ret the GPU, for nvd_gpu_destroy()
 * @return NULL, or NVD_IO (out of memory)
 */
NVDEBUG_API nvd_error *nvd_gpu_create(const nvd_tree *tree, uint32_t index, nvd_gpu **ret);
/** @brief Frees a GPU. @param gpu may be NULL. */
NVDEBUG_API void nvd_gpu_destroy(nvd_gpu *gpu);

/** @brief Which GPU it is: `info`. */
struct nvd_identity {
    size_t size;                /**< of this structure, bytes */
    char chip[32];              /**< `GA100` */
    char generation[32];        /**< `Ampere` */
    char pci_address[32];       /**< `0000:01:00.0` */
    char pci_id[16];            /**< `10de:20b0` */
    char driver[64];            /**< bound now */
    int64_t channels;           /**< ids per GPU, or per runlist */
    int32_t ids_per_runlist;    /**< channel and TSG ids: 1 per runlist, 0 per GPU */
    int64_t video_memory_bytes; /**< bytes */
};

/**
 * @brief Reads which GPU it is.
 * @param gpu to read
 * @param ret with its size set
 * @return NULL, or any error
 */
NVDEBUG_API nvd_error *nvd_gpu_identity(const nvd_gpu *gpu, struct nvd_identity *ret);

/** @brief An engine: a line of `device_info`. */
struct nvd_engine {
    size_t size;       /**< of this structure, bytes */
    char name[32];     /**< `LCE3` */
    char type[32];     /**< `LCE` */
    uint32_t instance; /**< of that type */
    int64_t runlist;   /**< -1: Host does not drive it */
    int64_t engine_id; /**< Host's number of it */
    int64_t pri_base;  /**< of its registers, bytes from BAR0's start */
};

/**
 * @brief Reads the engines of a GPU.
 * @param gpu to read
 * @param ret the engines, for nvd_engines_destroy()
 * @return NULL, or any error
 */
NVDEBUG_API nvd_error *nvd_engines_read(const nvd_gpu *gpu, nvd_engines **ret);
/** @brief Frees engines. @param engines may be NULL. */
NVDEBUG_API void nvd_engines_destroy(nvd_engines *engines);
/** @brief How many engines there are. */
NVDEBUG_API size_t nvd_engines_count(const nvd_engines *engines);
/**
 * @brief One of the engines.
 * @param engines to choose from
 * @param n from 0, in the order of `device_info`
 * @param ret with its size set
 * @return NULL, or NVD_INVALID (no such @p n)
 */
NVDEBUG_API nvd_error *nvd_engines_get(const nvd_engines *engines, size_t n,
                                       struct nvd_engine *ret);
/**
 * @brief Do two engines serve one runlist, so that they wait for each other's TSGs?
 * @param engines of the GPU
 * @param a name of an engine, `GR0`, or `GR` if there is just one
 * @param b name of another
 * @param ret 1 if they share one, else 0
 * @return NULL, or NVD_NOT_FOUND (no such engine)
 */
NVDEBUG_API nvd_error *nvd_engines_share_runlist(const nvd_engines *engines, const char *a,
                                                 const char *b, int *ret);

/** @brief A runlist as a whole. */
struct nvd_runlist_state {
    size_t size;      /**< of this structure, bytes */
    uint32_t id;      /**< of the runlist */
    uint32_t entries; /**< length that the hardware was given */
    int64_t tsgs;     /**< entries that are TSGs; -1: the list could not be read */
    int64_t channels; /**< entries that are channels; -1: the list could not be read */
    int32_t pending;  /**< 1: submitted, not yet taken over */
    int32_t torn;     /**< 1: it moved during each attempt to copy it */
};

/** @brief An entry of a TSG. One that is listed twice has two. */
struct nvd_tsg {
    size_t size;           /**< of this structure, bytes */
    uint32_t id;           /**< of the TSG */
    uint64_t timeslice_ns; /**< ns */
    uint32_t length;       /**< channels that its header announces */
    int32_t truncated;     /**< 1: fewer than that follow */
    /** of its runlist's time while every TSG that may run has work, 0 to 1; -1: not to be said */
    double share;
};

/** @brief An entry of a channel. */
struct nvd_channel {
    size_t size;               /**< of this structure, bytes */
    uint32_t id;               /**< of the channel */
    int64_t tsg;               /**< id of its TSG; -1: bare */
    int64_t tsg_entry;         /**< which of nvd_runlist_tsg()'s that is; -1: bare */
    int32_t enabled;           /**< 0 or 1, -1: unknown */
    int32_t busy;              /**< 0 or 1, -1: unknown */
    char status[48];           /**< `ON_PBDMA_AND_ENG` */
    int32_t has_instance;      /**< 1: the two below are known */
    uint64_t instance_address; /**< of its instance block, bytes from the aperture's start */
    char instance_aperture[8]; /**< `vid`, `coh`, `ncoh`, `invalid` */
};

/**
 * @brief Reads a runlist, without instance blocks and contexts.
 * @param gpu to read
 * @param id of the runlist
 * @param ret the runlist, for nvd_runlist_destroy()
 * @return NULL, or any error
 */
NVDEBUG_API nvd_error *nvd_runlist_read(const nvd_gpu *gpu, uint32_t id, nvd_runlist **ret);
/** @brief Frees a runlist. @param runlist may be NULL. */
NVDEBUG_API void nvd_runlist_destroy(nvd_runlist *runlist);
/**
 * @brief The runlist as a whole.
 * @param runlist to look at
 * @param ret with its size set
 * @return NULL, or NVD_INVALID (a size that makes no sense)
 */
NVDEBUG_API nvd_error *nvd_runlist_get(const nvd_runlist *runlist, struct nvd_runlist_state *ret);
/** @brief How many entries are TSGs. */
NVDEBUG_API size_t nvd_runlist_tsg_count(const nvd_runlist *runlist);
/**
 * @brief A TSG of the runlist.
 * @param runlist to choose from
 * @param n from 0, in list order
 * @param ret with its size set
 * @return NULL, or NVD_INVALID (no such @p n)
 */
NVDEBUG_API nvd_error *nvd_runlist_tsg(const nvd_runlist *runlist, size_t n, struct nvd_tsg *ret);
/** @brief How many entries are channels. */
NVDEBUG_API size_t nvd_runlist_channel_count(const nvd_runlist *runlist);
/**
 * @brief A channel of the runlist.
 * @param runlist to choose from
 * @param n from 0, in list order
 * @param ret with its size set
 * @return NULL, or NVD_INVALID (no such @p n)
 */
NVDEBUG_API nvd_error *nvd_runlist_channel(const nvd_runlist *runlist, size_t n,
                                           struct nvd_channel *ret);

/** @brief A channel to be changed. */
struct nvd_target {
    int64_t runlist; /**< -1: the kernel finds the one that holds it */
    uint32_t id;     /**< of the channel */
};

/**
 * @brief Disables channels: all of them or none.
 * @param gpu a live one
 * @param channels to disable
 * @param count of them, 256 at most
 * @return NULL, or any error
 */
NVDEBUG_API nvd_error *nvd_channels_disable(const nvd_gpu *gpu, const struct nvd_target *channels,
                                            size_t count);
/**
 * @brief Enables channels: all of them or none.
 * @param gpu a live one
 * @param channels to enable
 * @param count of them, 256 at most
 * @return NULL, or any error
 */
NVDEBUG_API nvd_error *nvd_channels_enable(const nvd_gpu *gpu, const struct nvd_target *channels,
                                           size_t count);
/**
 * @brief Disables channels until the lease ends, also if that is because the process dies.
 * @param gpu a live one
 * @param channels to disable
 * @param count of them, 256 at most
 * @param ret the lease, for nvd_lease_end()
 * @return NULL, or any error
 */
NVDEBUG_API nvd_error *nvd_lease_disable(const nvd_gpu *gpu, const struct nvd_target *channels,
                                         size_t count, nvd_lease **ret);
/** @brief Undoes what the lease was for and frees it. @param lease may be NULL. */
NVDEBUG_API void nvd_lease_end(nvd_lease *lease);

#ifdef __cplusplus
}
#endif

#endif
