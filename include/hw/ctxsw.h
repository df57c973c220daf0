/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * NV_CTXSW: the header of a context image, where the firmware of the graphics
 * engine saves a context, by words of 32 bits.
 *
 * Sources: open-gpu-doc manuals/{volta/gv100,turing/tu104,ampere/ga100,
 * ampere/ga102}/dev_ctxsw.ref.txt; before Volta linux-nvgpu
 * include/nvgpu/hw/{gk20a,gm20b,gp10b}/hw_ctxsw_prog_*.h; for Blackwell the
 * nvgpu of NVIDIA's 2025 Jetson kernels, hw/gb10b/hw_ctxsw_prog_gb10b.h, which
 * has the words in the same places. Nothing is published for Ada and Hopper.
 * Other firmware than NVIDIA's, such as nouveau's, writes another header,
 * without the magic value.
 */
#ifndef NVDEBUG_HW_CTXSW_H
#define NVDEBUG_HW_CTXSW_H

#include <linux/bits.h>

#define NV_CTXSW_MAIN_IMAGE_WORDS		64

#define NV_CTXSW_MAIN_IMAGE_CTL			3
#define  NV_CTXSW_MAIN_IMAGE_CTL_TYPE		GENMASK(5, 0) /* Volta and newer */
#define  NV_CTXSW_MAIN_IMAGE_CTL_TYPE_UNDEFINED	0x00
#define  NV_CTXSW_MAIN_IMAGE_CTL_TYPE_OPENGL	0x08
#define  NV_CTXSW_MAIN_IMAGE_CTL_TYPE_DX9	0x10
#define  NV_CTXSW_MAIN_IMAGE_CTL_TYPE_DX10	0x11
#define  NV_CTXSW_MAIN_IMAGE_CTL_TYPE_DX11	0x12
#define  NV_CTXSW_MAIN_IMAGE_CTL_TYPE_COMPUTE	0x20
/* The structure is no image, but a header that points to an image. */
#define  NV_CTXSW_MAIN_IMAGE_CTL_TYPE_PER_VEID_HEADER 0x21

/* The save area of preemption in the middle of work: its address >> 8. */
#define NV_CTXSW_MAIN_IMAGE_FULL_PREEMPTION_PTR_HI 25 /* Volta and newer */
#define  NV_CTXSW_MAIN_IMAGE_FULL_PREEMPTION_PTR_HI_V GENMASK(16, 0)
#define NV_CTXSW_MAIN_IMAGE_FULL_PREEMPTION_PTR	26
/* In a per-VEID header: the virtual address of the image. */
#define NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR_HI 30
#define  NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR_HI_V_GV100 GENMASK(16, 0)
/* No width is published for 57-bit addresses; nvgpu writes the whole word. */
#define  NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR_HI_V_GH100 GENMASK(31, 0)
#define NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR	31

#define NV_CTXSW_MAIN_IMAGE_GRAPHICS_PREEMPTION_OPTIONS 32
#define  NV_CTXSW_MAIN_IMAGE_GRAPHICS_PREEMPTION_OPTIONS_CONTROL GENMASK(1, 0)
#define NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS 33
#define  NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL GENMASK(1, 0)
#define  NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL_WFI 0
#define  NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL_CTA 1
#define  NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL_CILP 2

#define NV_CTXSW_MAIN_IMAGE_NUM_WFI_SAVE_OPERATIONS 52
#define NV_CTXSW_MAIN_IMAGE_NUM_CTA_SAVE_OPERATIONS 53
#define NV_CTXSW_MAIN_IMAGE_NUM_GFXP_SAVE_OPERATIONS 54
#define NV_CTXSW_MAIN_IMAGE_NUM_CILP_SAVE_OPERATIONS 55

#define NV_CTXSW_MAIN_IMAGE_CONTEXT_ID		60
#define NV_CTXSW_MAIN_IMAGE_NUM_SAVE_OPERATIONS	61
#define NV_CTXSW_MAIN_IMAGE_NUM_RESTORE_OPERATIONS 62
#define NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE		63
#define  NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE_V_VALUE 0x600dc0de

#endif
