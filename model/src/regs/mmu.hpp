// SPDX-License-Identifier: MIT OR GPL-2.0
// Page-table entries. A dual directory entry of versions 2 and 3 is two 64-bit words: the low one
// leads to the table of big pages, the high one to that of small pages.
// Source: open-gpu-kernel-modules published/maxwell/gm107/dev_mmu.h (version 1; sparse from GM20x:
// nouveau nvkm/subdev/mmu/vmmgm200.c), open-gpu-doc manuals/volta/gv100/dev_mmu.ref.txt and
// pascal/gp100-mmu-format.pdf (2), open-gpu-kernel-modules published/hopper/gh100/dev_mmu.h (3).
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::mmu {

inline constexpr unsigned page_shift = 12;
// The alignment of a table of big pages in versions 2 and 3.
inline constexpr unsigned big_table_shift = 8;

// Values of a directory entry's aperture. The other values are coherent and non-coherent memory.
inline constexpr std::uint64_t directory_invalid = 0;
inline constexpr std::uint64_t directory_video = 1;

namespace v1 {

inline constexpr unsigned va_bits = 40;
inline constexpr Field64 pde_aperture_big{1, 0};
inline constexpr Field64 pde_size{3, 2}; // both tables: full, half, a quarter, an eighth
inline constexpr Field64 pde_address_big{31, 4};
inline constexpr Field64 pde_address_big_video{28, 4};
inline constexpr Field64 pde_aperture_small{33, 32};
inline constexpr Field64 pde_volatile_small = bit64(34);
inline constexpr Field64 pde_volatile_big = bit64(35); // both apertures invalid: sparse
inline constexpr Field64 pde_address_small{63, 36};
inline constexpr Field64 pde_address_small_video{60, 36};

inline constexpr Field64 pte_valid = bit64(0);
inline constexpr Field64 pte_privilege = bit64(1); // invalid big page: no small pages either
inline constexpr Field64 pte_read_only = bit64(2);
inline constexpr Field64 pte_address{31, 4};
inline constexpr Field64 pte_address_video{28, 4}; // and peer
inline constexpr Field64 pte_peer{31, 29};
inline constexpr Field64 pte_volatile = bit64(32); // invalid page: sparse
inline constexpr Field64 pte_aperture{34, 33};
inline constexpr Field64 pte_kind{43, 36};

} // namespace v1

namespace v2 {

inline constexpr unsigned va_bits = 49;
inline constexpr Field64 pde_is_pte = bit64(0);
inline constexpr Field64 pde_aperture{2, 1};
inline constexpr Field64 pde_volatile = bit64(3); // aperture invalid: sparse
inline constexpr Field64 pde_address{53, 8};      // PA >> 12; also of small pages' tables
inline constexpr Field64 pde_address_video{32, 8};
inline constexpr Field64 pde_address_big{53, 4}; // PA >> 8
inline constexpr Field64 pde_address_big_video{32, 4};

inline constexpr Field64 pte_valid = bit64(0);
inline constexpr Field64 pte_aperture{2, 1};
inline constexpr Field64 pte_volatile = bit64(3);  // invalid page: sparse
inline constexpr Field64 pte_privilege = bit64(5); // invalid big page: no small pages either
inline constexpr Field64 pte_read_only = bit64(6);
inline constexpr Field64 pte_atomic_disable = bit64(7);
inline constexpr Field64 pte_address{53, 8};
inline constexpr Field64 pte_address_video{32, 8}; // and peer
inline constexpr Field64 pte_peer{35, 33};
inline constexpr Field64 pte_kind{63, 56};

} // namespace v2

namespace v3 {

inline constexpr unsigned va_bits = 57;
inline constexpr Field64 pde_is_pte = bit64(0);
inline constexpr Field64 pde_aperture{2, 1};
inline constexpr Field64 pde_pcf{5, 3};
inline constexpr Field64 pde_pcf_uncached = bit64(3); // aperture invalid: sparse
inline constexpr Field64 pde_pcf_no_ats = bit64(4);
inline constexpr Field64 pde_address{51, 12};    // in place; also of small pages' tables
inline constexpr Field64 pde_address_big{51, 8}; // in place

inline constexpr Field64 pte_valid = bit64(0);
inline constexpr Field64 pte_aperture{2, 1};
inline constexpr Field64 pte_pcf{7, 3};
// Values of PCF in an invalid page.
inline constexpr std::uint64_t pcf_sparse = 1;
inline constexpr std::uint64_t pcf_no_valid_4kb_page = 3; // big page: no small pages either
// Bits of PCF in a valid page.
inline constexpr Field64 pte_pcf_uncached = bit64(3);
inline constexpr Field64 pte_pcf_privilege = bit64(4);
inline constexpr Field64 pte_pcf_read_only = bit64(5);
inline constexpr Field64 pte_pcf_no_atomics = bit64(6);
inline constexpr Field64 pte_pcf_no_access_counting = bit64(7);
inline constexpr Field64 pte_kind{11, 8};
inline constexpr Field64 pte_address{51, 12}; // in place
inline constexpr Field64 pte_peer{63, 61};

} // namespace v3

} // namespace nvmodel::regs::mmu
