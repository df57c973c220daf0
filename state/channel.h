/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Channels: the state of one, and enabling or disabling some.
 */
#ifndef NVDEBUG_CHANNEL_H
#define NVDEBUG_CHANNEL_H

#include <linux/types.h>

struct nvdebug_box;
struct nvdebug_chip;
struct nvdebug_entry;
struct nvdebug_gpu;
struct nvdebug_instance_place;
struct nvdebug_runlist;

/* A channel's registers, as read. */
struct nvdebug_channel {
	u32 state;
	u32 inst;	/* PCCSR only */
};

struct nvdebug_channel_ops {
	bool per_runlist;	/* are ids local to a runlist? */
	bool has_faults;	/* does the state tell of faults? */
	u32 count_reg;		/* says how many the GPU has; 0: there is none */

	/* The register that holds the state and takes changes. */
	u32 (*reg)(const struct nvdebug_runlist *runlist, u32 id);
	u32 (*enable_word)(u32 old, bool enable);
	bool (*is_enabled)(u32 state);
	/*
	 * What to write, and where, so that Host looks at a channel that was
	 * enabled: a runlist that went idle meanwhile is not gone round again
	 * by itself. Returns false where there is no such register. @runlist
	 * is NULL where ids are those of the whole GPU.
	 */
	bool (*doorbell)(const struct nvdebug_runlist *runlist, u32 id,
			 u32 *reg, u32 *value);

	/*
	 * Where its instance block is: in a register, which read_inst() reads
	 * alone, or in the entry, and then that is NULL.
	 */
	int (*read_inst)(struct nvdebug_gpu *gpu, u32 id,
			 struct nvdebug_channel *channel);
	void (*place)(const struct nvdebug_channel *channel,
		      const struct nvdebug_entry *entry,
		      struct nvdebug_instance_place *place);
	int (*read)(struct nvdebug_gpu *gpu,
		    const struct nvdebug_runlist *runlist, u32 id,
		    struct nvdebug_channel *channel);
	/* Lines of a box: what the registers say, then what the entry says. */
	void (*show)(const struct nvdebug_box *box,
		     const struct nvdebug_chip *chip,
		     const struct nvdebug_channel *channel,
		     const struct nvdebug_entry *entry, bool hide);
	/* The entry's own lines alone. */
	void (*show_entry)(const struct nvdebug_box *box,
			   const struct nvdebug_chip *chip,
			   const struct nvdebug_entry *entry, bool hide);
};

/* The functions of those tables, named after the chip that brought them. */
u32 nvdebug_channel_reg_gk104(const struct nvdebug_runlist *runlist, u32 id);
bool nvdebug_channel_doorbell_gk104(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value);
bool nvdebug_channel_doorbell_gv100(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value);
bool nvdebug_channel_doorbell_tu102(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value);
int nvdebug_channel_read_inst_gk104(struct nvdebug_gpu *gpu, u32 id,
				    struct nvdebug_channel *channel);
void nvdebug_channel_place_gk104(const struct nvdebug_channel *channel,
				 const struct nvdebug_entry *entry,
				 struct nvdebug_instance_place *place);
int nvdebug_channel_read_gk104(struct nvdebug_gpu *gpu,
			       const struct nvdebug_runlist *runlist, u32 id,
			       struct nvdebug_channel *channel);
void nvdebug_channel_show_gk104(const struct nvdebug_box *box,
				const struct nvdebug_chip *chip,
				const struct nvdebug_channel *channel,
				const struct nvdebug_entry *entry, bool hide);
void nvdebug_channel_show_entry_gk104(const struct nvdebug_box *box,
				      const struct nvdebug_chip *chip,
				      const struct nvdebug_entry *entry,
				      bool hide);
bool nvdebug_channel_doorbell_ga100(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value);
bool nvdebug_channel_doorbell_gh100(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value);
bool nvdebug_channel_doorbell_gb202(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value);
u32 nvdebug_channel_reg_ga100(const struct nvdebug_runlist *runlist, u32 id);
void nvdebug_channel_place_ga100(const struct nvdebug_channel *channel,
				 const struct nvdebug_entry *entry,
				 struct nvdebug_instance_place *place);
int nvdebug_channel_read_ga100(struct nvdebug_gpu *gpu,
			       const struct nvdebug_runlist *runlist, u32 id,
			       struct nvdebug_channel *channel);
void nvdebug_channel_show_ga100(const struct nvdebug_box *box,
				const struct nvdebug_chip *chip,
				const struct nvdebug_channel *channel,
				const struct nvdebug_entry *entry, bool hide);
void nvdebug_channel_show_entry_ga100(const struct nvdebug_box *box,
				      const struct nvdebug_chip *chip,
				      const struct nvdebug_entry *entry,
				      bool hide);

extern const struct nvdebug_control nvdebug_disable_channel_control;
extern const struct nvdebug_control nvdebug_enable_channel_control;

#endif
