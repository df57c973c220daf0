// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/errno.h>

#include "decode/chip_id.h"
#include "decode/register.h"
#include "hw/pmc.h"

int nvdebug_chip_id_decode(u32 boot0, u32 boot42, struct nvdebug_chip_id *id)
{
	u32 arch_0 = FIELD_GET(NV_PMC_BOOT_0_ARCHITECTURE_0, boot0);
	u32 arch_1 = FIELD_GET(NV_PMC_BOOT_0_ARCHITECTURE_1, boot0);
	u32 chip_42 = FIELD_GET(NV_PMC_BOOT_42_CHIP_ID, boot42);
	u32 chip_0 = arch_1 << 9 | arch_0 << 4 |
		     FIELD_GET(NV_PMC_BOOT_0_IMPLEMENTATION, boot0);
	int ret = nvdebug_reg_value_check(boot0);

	if (ret)
		return ret;

	/*
	 * This value of BOOT_0 defers to BOOT_42. It was announced for chips
	 * after Blackwell (patches "nova-core: add boot42 support", 2025).
	 */
	if (arch_1 && !arch_0) {
		if (!boot42)
			return -EINVAL;
		id->chip = chip_42;
		id->revision =
			FIELD_GET(NV_PMC_BOOT_42_MAJOR_REVISION, boot42) << 4 |
			FIELD_GET(NV_PMC_BOOT_42_MINOR_REVISION, boot42);
		return 0;
	}

	id->chip = chip_0;
	id->revision = FIELD_GET(NV_PMC_BOOT_0_MAJOR_REVISION, boot0) << 4 |
		       FIELD_GET(NV_PMC_BOOT_0_MINOR_REVISION, boot0);

	return boot42 && chip_42 != chip_0 ? -EINVAL : 0;
}

bool nvdebug_boot1_is_virtual(u32 boot1)
{
	return boot1 & (NV_PMC_BOOT_1_VGPU | NV_PMC_BOOT_1_VGPU8);
}
