// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The room for further blocks on an SM: threads, registers, shared memory, places. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_ROOM_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_ROOM_HPP

#include "kernel.hpp"

namespace engine {

class Room {
  public:
    explicit Room(const SmShape &shape)
        : threads_(shape.threads), registers_(shape.registers), shared_(shape.shared_bytes),
          blocks_(shape.blocks) {}

    bool fits(const Need &need, int blocks = 1) const {
        return blocks_ >= blocks && threads_ >= blocks * need.threads &&
               registers_ >= blocks * need.registers && shared_ >= blocks * need.shared_bytes;
    }
    void take(const Need &need, int blocks = 1) {
        threads_ -= blocks * need.threads;
        registers_ -= blocks * need.registers;
        shared_ -= blocks * need.shared_bytes;
        blocks_ -= blocks;
    }
    void give(const Need &need, int blocks = 1) { take(need, -blocks); }
    int threads() const { return threads_; }
    int blocks() const { return blocks_; }

  private:
    int threads_, registers_, shared_, blocks_;
};

} // namespace engine

#endif
