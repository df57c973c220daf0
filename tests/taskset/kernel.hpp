// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The kernel that program.cpp launches.
#pragma once

/// Each block notes its SM, and occupies it for some time, so that other blocks go to other SMs.
inline constexpr char kernel_ptx[] = R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry where(.param .u64 array, .param .u64 ns)
{
    .reg .u64 %a<8>;
    .reg .u32 %r<4>;
    .reg .pred %p;
    ld.param.u64 %a1, [array];
    ld.param.u64 %a2, [ns];
    cvta.to.global.u64 %a1, %a1;
    mov.u32 %r1, %smid;
    mul.wide.u32 %a3, %r1, 4;
    add.u64 %a3, %a1, %a3;
    mov.u32 %r2, 1;
    st.global.u32 [%a3], %r2;
    mov.u64 %a4, %globaltimer;
again:
    mov.u64 %a5, %globaltimer;
    sub.u64 %a6, %a5, %a4;
    setp.lt.u64 %p, %a6, %a2;
    @%p bra again;
    ret;
}
)";
