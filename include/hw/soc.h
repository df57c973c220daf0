/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * GPUs of SoCs, which are no PCI devices: what device trees call them, and their
 * chip ids.
 *
 * Sources: Linux Documentation/devicetree/bindings/gpu/nvidia,gk20a.txt,
 * arch/arm64/boot/dts/nvidia/tegra{186,194}.dtsi; linux-nvgpu os/linux/module.c
 * and include/nvgpu/gk20a.h.
 */
#ifndef NVDEBUG_HW_SOC_H
#define NVDEBUG_HW_SOC_H

static const struct {
	const char *compatible;
	unsigned short chip;
} nvdebug_soc_gpus[] = {
	{ "nvidia,gp10b", 0x13b },
	{ "nvidia,gv11b", 0x15b },
	{ "nvidia,ga10b", 0x17b },
};

#endif
