// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A map from CUDA's handles, and a lock. The library that CUDA loads uses only headers of
/// the C++ library. If memory is short, functions return nullptr, because no exception may pass
/// through libcuda.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <pthread.h>
#include <type_traits>

#include "lib/partition/cuda.hpp"

namespace nvtaskset {

/// A mutex for std::lock_guard.
class Mutex {
  public:
    void lock() { pthread_mutex_lock(&mutex_); }
    void unlock() { pthread_mutex_unlock(&mutex_); }

  private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// A map from handles to values. Only one thread at a time may use it.
template <typename Value>
class Table {
    static_assert(std::is_trivially_destructible_v<Value>);

  public:
    /// Returns the value of a handle, or nullptr if there is none.
    Value *find(cuda::Handle handle) {
        for (Entry *entry = chain(handle); entry; entry = entry->next)
            if (entry->handle == handle)
                return &entry->value;
        return nullptr;
    }

    /// Returns the value of a handle, and makes it if there is none. Returns nullptr if there is no
    /// memory.
    Value *add(cuda::Handle handle) {
        if (Value *const found = find(handle))
            return found;
        void *const memory = std::malloc(sizeof(Entry));
        if (!memory)
            return nullptr;
        Entry *&first = chain(handle);
        first = new (memory) Entry{first, handle, {}};
        return &first->value;
    }

    /// Removes each value for which @p condition(Value &) is true.
    template <typename Condition>
    void remove_if(Condition condition) {
        for (Entry *&first : chains_)
            for (Entry **at = &first; Entry *const entry = *at;) {
                if (!condition(entry->value)) {
                    at = &entry->next;
                    continue;
                }
                *at = entry->next;
                std::free(entry);
            }
    }

    void remove(cuda::Handle handle) {
        for (Entry **at = &chain(handle); Entry *const entry = *at; at = &entry->next)
            if (entry->handle == handle) {
                *at = entry->next;
                return std::free(entry);
            }
    }

  private:
    struct Entry {
        Entry *next;
        cuda::Handle handle;
        Value value;
    };

    /// Returns the chain of a handle. Handles are addresses of objects far larger than 64 bytes.
    Entry *&chain(cuda::Handle handle) {
        return chains_[reinterpret_cast<std::uintptr_t>(handle) / 64 % chains];
    }

    static constexpr std::size_t chains = 1021;
    Entry *chains_[chains] = {};
};

} // namespace nvtaskset
