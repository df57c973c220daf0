// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/view.h"
#include "decode/engine_status.h"
#include "decode/ptop.h"
#include "hw/pbdma.h"
#include "hw/ptop.h"
#include "hw/runlist.h"
#include "views/views.h"

/* Reads of an engine until two agree. */
#define READ_TRIES	4

/* Maximum number of PBDMAs per engine. */
#define ENGINE_CHANNELS	NV_RUNLIST_PBDMA_CONFIG__SIZE_1

/* The registers of one engine and its PBDMAs, as read. */
struct engine_reading {
	bool idle;
	bool unreadable;
	bool pbdma_unreadable[NVDEBUG_RUNLIST_PBDMAS];
	u32 status;
	u32 channel[ENGINE_CHANNELS];
	u32 pbdma[NVDEBUG_RUNLIST_PBDMAS];
	u32 pbdma_channel[NVDEBUG_RUNLIST_PBDMAS];
};

struct engine_line {
	const struct nvdebug_engine *engine;
	const struct nvdebug_runlist *runlist;
	struct engine_reading reading;
};

struct engines_snapshot {
	struct nvdebug_snapshot base;
	bool brief;	/* only the status of the engines themselves */
	struct engine_line line[];
};

static int read_reg_if_any(struct nvdebug_gpu *gpu, u32 reg, u32 *word)
{
	return reg ? nvdebug_reg_read(gpu, reg, word) : 0;
}

static u32 engine_channels(const struct engine_line *line)
{
	return min_t(u32, line->runlist->pbdmas, ENGINE_CHANNELS);
}

static void expect_if_any(struct nvdebug_gpu *gpu, u32 reg)
{
	if (reg)
		nvdebug_reg_expect(gpu, reg);
}

static void expect_status(struct nvdebug_gpu *gpu,
			  const struct engine_line *line)
{
	const struct nvdebug_status_ops *ops = gpu->chip->status;
	const struct nvdebug_runlist *runlist = line->runlist;
	u32 n;

	expect_if_any(gpu, ops->engine_reg(gpu, line->engine));
	for (n = 0; n < runlist->pbdmas; n++)
		nvdebug_reg_expect(gpu, ops->pbdma_reg(&runlist->pbdma[n]));
}

static void expect_channels(struct nvdebug_gpu *gpu,
			    const struct engine_line *line)
{
	const struct nvdebug_status_ops *ops = gpu->chip->status;
	const struct nvdebug_runlist *runlist = line->runlist;
	u32 n;

	for (n = 0; n < engine_channels(line); n++)
		expect_if_any(gpu, ops->channel_reg(gpu, line->engine, n));
	for (n = 0; n < runlist->pbdmas; n++)
		nvdebug_reg_expect(gpu, runlist->pbdma[n].base +
				   NV_PPBDMA_CHANNEL);
}

/* -EIO marks a unit that cannot be read; only other errors are returned. */
static int may_be_unreadable(int ret, bool *unreadable)
{
	*unreadable |= ret == -EIO;
	return ret == -EIO ? 0 : ret;
}

/*
 * Read the status of the engine. Sets r->idle if no register shows a context
 * that is there or about to be loaded.
 */
static int read_status(struct nvdebug_gpu *gpu, const struct engine_line *line,
		       struct engine_reading *r)
{
	const struct nvdebug_status_ops *ops = gpu->chip->status;
	const struct nvdebug_runlist *runlist = line->runlist;
	struct nvdebug_engine_status engine;
	struct nvdebug_ctx_status pbdma;
	u32 n;
	int ret;

	ret = read_reg_if_any(gpu, ops->engine_reg(gpu, line->engine),
			      &r->status);
	ret = may_be_unreadable(ret, &r->unreadable);
	ops->engine(r->status, &engine);
	r->idle = !r->unreadable && engine.ctx.state == NVDEBUG_CTX_INVALID;
	for (n = 0; !ret && n < runlist->pbdmas; n++) {
		ret = nvdebug_reg_read(gpu, ops->pbdma_reg(&runlist->pbdma[n]),
				       &r->pbdma[n]);
		ret = may_be_unreadable(ret, &r->pbdma_unreadable[n]);
		ops->pbdma(r->pbdma[n], &pbdma);
		r->idle &= !r->pbdma_unreadable[n] &&
			   pbdma.state == NVDEBUG_CTX_INVALID;
	}
	return ret;
}

static int read_channels(struct nvdebug_gpu *gpu, const struct engine_line *line,
			 struct engine_reading *r)
{
	const struct nvdebug_runlist *runlist = line->runlist;
	u32 n;
	int ret = 0;

	for (n = 0; !ret && n < engine_channels(line); n++) {
		u32 reg = gpu->chip->status->channel_reg(gpu, line->engine, n);

		ret = read_reg_if_any(gpu, reg, &r->channel[n]);
		ret = may_be_unreadable(ret, &r->unreadable);
	}
	for (n = 0; !ret && n < runlist->pbdmas; n++) {
		ret = nvdebug_reg_read(gpu,
				       runlist->pbdma[n].base + NV_PPBDMA_CHANNEL,
				       &r->pbdma_channel[n]);
		ret = may_be_unreadable(ret, &r->pbdma_unreadable[n]);
	}
	return ret;
}

/*
 * Read the engine once. Go on after an engine or a PBDMA that cannot be read.
 * @used: the previous read found the engine busy, so the registers of its
 * channels are announced, too (nvdebug_reg_expect()), and one call reads all.
 */
static int read_once(struct nvdebug_gpu *gpu, const struct engine_line *line,
		     bool used, struct engine_reading *r)
{
	int ret;

	memset(r, 0, sizeof(*r));
	expect_status(gpu, line);
	if (used)
		expect_channels(gpu, line);
	ret = read_status(gpu, line, r);
	if (ret || r->idle)
		return ret;
	if (!used)
		expect_channels(gpu, line);
	return read_channels(gpu, line, r);
}

static bool has_readable(const struct nvdebug_gpu *gpu,
			 const struct engine_line *line)
{
	const struct engine_reading *r = &line->reading;
	u32 n;

	if (!r->unreadable && gpu->chip->status->engine_reg(gpu, line->engine))
		return true;
	for (n = 0; n < line->runlist->pbdmas; n++)
		if (!r->pbdma_unreadable[n])
			return true;
	return false;
}

/*
 * Read until two reads agree, READ_TRIES times at most. One read is enough for
 * an idle engine, because no two of its words can contradict each other.
 */
static int read_line(struct nvdebug_gpu *gpu, struct engine_line *line)
{
	struct engine_reading *r = &line->reading, before;
	int tries, ret;

	ret = read_once(gpu, line, false, r);
	for (tries = 1; !ret && !r->idle && tries < READ_TRIES; tries++) {
		before = *r;
		ret = read_once(gpu, line, true, r);
		if (!ret && !memcmp(&before, r, sizeof(before)))
			break;
	}
	return ret;
}

/* Announce one register of each engine: a sample is then one burst. */
static void expect_brief(struct nvdebug_gpu *gpu)
{
	const struct nvdebug_topology *topology = &gpu->topology;
	const struct nvdebug_status_ops *ops = gpu->chip->status;
	u32 i;

	for (i = 0; i < topology->engines; i++) {
		const struct nvdebug_engine *engine = &topology->engine[i];

		if (engine->has & NVDEBUG_ENGINE_HAS_RUNLIST)
			expect_if_any(gpu, ops->engine_reg(gpu, engine));
	}
}

static int read_brief(struct nvdebug_gpu *gpu, struct engine_line *line)
{
	const struct nvdebug_status_ops *ops = gpu->chip->status;
	struct engine_reading *r = &line->reading;
	int ret;

	ret = read_reg_if_any(gpu, ops->engine_reg(gpu, line->engine),
			      &r->status);
	return may_be_unreadable(ret, &r->unreadable);
}

static void engines_free(struct nvdebug_snapshot *base)
{
	kvfree(container_of(base, struct engines_snapshot, base));
}

static struct nvdebug_snapshot *take(struct nvdebug_gpu *gpu, bool brief)
{
	const struct nvdebug_topology *topology = &gpu->topology;
	struct engines_snapshot *s;
	bool readable = false;
	size_t lines = 0;
	int ret = 0;
	u32 i;

	s = kvzalloc(struct_size(s, line, topology->engines), GFP_KERNEL_ACCOUNT);
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->brief = brief;
	if (brief)
		expect_brief(gpu);
	for (i = 0; !ret && i < topology->engines; i++) {
		struct engine_line *line = &s->line[lines];

		line->engine = &topology->engine[i];
		if (!(line->engine->has & NVDEBUG_ENGINE_HAS_RUNLIST))
			continue;
		line->runlist = nvdebug_runlist_find(&gpu->topology,
						     line->engine->runlist);
		ret = nvdebug_gpu_check_stop(gpu);
		if (!ret)
			ret = brief ? read_brief(gpu, line) :
				      read_line(gpu, line);
		readable |= brief || has_readable(gpu, line);
		lines++;
	}
	if (!ret && lines && !readable)
		ret = -EIO;
	if (ret) {
		engines_free(&s->base);
		return ERR_PTR(ret);
	}
	s->base.records = lines + 1;
	return &s->base;
}

static struct nvdebug_snapshot *engines_take(struct nvdebug_gpu *gpu, u32 id)
{
	return take(gpu, false);
}

static struct nvdebug_snapshot *engines_brief_take(struct nvdebug_gpu *gpu,
						   u32 id)
{
	return take(gpu, true);
}

/*
 * Print the name, with the instance unless the type's name ends with a number
 * (COPY0).
 */
static void put_engine_name(struct seq_file *m,
			    const struct nvdebug_engine *engine)
{
	const char *name = nvdebug_engine_type_name(engine->type);

	if (!name)
		seq_printf(m, "TYPE-%u:%u", engine->type, engine->inst);
	else if (isdigit(name[strlen(name) - 1]))
		seq_puts(m, name);
	else
		seq_printf(m, "%s%u", name, engine->inst);
}

#define UNREADABLE	"unreadable"

static void put_state(struct seq_file *m, const struct nvdebug_ctx_status *ctx)
{
	const char *name = nvdebug_ctx_state_name(ctx->state);

	if (name)
		seq_puts(m, name);
	else
		seq_printf(m, "undefined-%u", ctx->code);
}

static void put_owner(struct seq_file *m, const struct nvdebug_ctx_owner *owner)
{
	if (owner->there)
		seq_printf(m, "%s:%u", owner->is_tsg ? "tsg" : "channel",
			   owner->id);
	else
		seq_putc(m, '-');
}

static bool is_copy(const struct nvdebug_engine *engine)
{
	return engine->type == NV_PTOP_TYPE_LCE ||
	       (engine->type >= NV_PTOP_TYPE_COPY0 &&
		engine->type <= NV_PTOP_TYPE_COPY2);
}

static void put_engine_channels(struct seq_file *m,
				const struct engine_line *line)
{
	const char *separator = "";
	u32 n;

	for (n = 0; n < ENGINE_CHANNELS; n++) {
		u32 word = line->reading.channel[n];

		if (!(word & NV_RUNLIST_ENGINE_STATUS_CHANNEL_VALID))
			continue;
		seq_printf(m, "%s%lu", separator,
			   FIELD_GET(NV_RUNLIST_ENGINE_STATUS_CHANNEL_CHID, word));
		separator = ",";
	}
	if (!*separator)
		seq_putc(m, '-');
}

static void put_engine(struct seq_file *m, const struct nvdebug_gpu *gpu,
		       const struct engine_line *line, bool brief)
{
	const struct nvdebug_status_ops *ops = gpu->chip->status;
	struct nvdebug_engine_status status;

	if (!ops->engine_reg(gpu, line->engine)) {
		seq_puts(m, " - - - - - - -");
		return;
	}
	if (line->reading.unreadable) {
		seq_puts(m, " " UNREADABLE " - - - - - -");
		return;
	}
	ops->engine(line->reading.status, &status);
	seq_putc(m, ' ');
	put_state(m, &status.ctx);
	seq_putc(m, ' ');
	put_owner(m, &status.ctx.owner);
	seq_putc(m, ' ');
	put_owner(m, &status.ctx.next);
	seq_printf(m, " %u", status.busy);
	if (brief) {
		seq_puts(m, " - - -");
		return;
	}
	if (ops->faults_of_all || is_copy(line->engine))
		seq_printf(m, " %u", status.faulted);
	else
		seq_puts(m, " -");
	seq_printf(m, " %u ", status.reload);
	put_engine_channels(m, line);
}

static void put_pbdma_channel(struct seq_file *m, const struct nvdebug_gpu *gpu,
			      u32 word, const struct nvdebug_ctx_status *status)
{
	u32 valid = gpu->chip->status->pbdma_channel_valid;

	/*
	 * The register keeps the last channel, so it is checked whether the
	 * channel is still there.
	 */
	if (status->owner.there && (word & valid) == valid)
		seq_printf(m, "%lu", FIELD_GET(NV_PPBDMA_CHANNEL_CHID, word));
	else
		seq_putc(m, '-');
}

/* The columns with a value per PBDMA. */
enum pbdma_column { NUMBER, STATUS, CURRENT, NEXT, CHANNEL, COLUMNS };

static void put_pbdma_column(struct seq_file *m, const struct nvdebug_gpu *gpu,
			     const struct engine_line *line,
			     enum pbdma_column column)
{
	struct nvdebug_ctx_status status;
	u32 n;

	if (!line->runlist->pbdmas)
		seq_puts(m, " -");
	for (n = 0; n < line->runlist->pbdmas; n++) {
		seq_putc(m, n ? ',' : ' ');
		if (line->reading.pbdma_unreadable[n] && column != NUMBER) {
			seq_puts(m, column == STATUS ? UNREADABLE : "-");
			continue;
		}
		gpu->chip->status->pbdma(line->reading.pbdma[n], &status);
		switch (column) {
		case NUMBER:
			seq_printf(m, "%u", line->runlist->pbdma[n].number);
			break;
		case STATUS:
			put_state(m, &status);
			break;
		case CURRENT:
			put_owner(m, &status.owner);
			break;
		case NEXT:
			put_owner(m, &status.next);
			break;
		default:
			put_pbdma_channel(m, gpu,
					  line->reading.pbdma_channel[n],
					  &status);
		}
	}
}

static void engines_show(struct seq_file *m, struct nvdebug_gpu *gpu,
			 const struct nvdebug_snapshot *base, size_t record)
{
	const struct engines_snapshot *s =
		container_of(base, struct engines_snapshot, base);
	const struct engine_line *line;
	enum pbdma_column column;

	if (!record) {
		seq_puts(m, "# engine runlist status current next busy faulted reload channel pbdmas pbdma_status pbdma_current pbdma_next pbdma_channel\n");
		return;
	}
	line = &s->line[record - 1];
	put_engine_name(m, line->engine);
	seq_printf(m, " %u", line->runlist->id);
	put_engine(m, gpu, line, s->brief);
	for (column = NUMBER; column < COLUMNS; column++)
		if (s->brief)
			seq_puts(m, " -");
		else
			put_pbdma_column(m, gpu, line, column);
	seq_putc(m, '\n');
}

const struct nvdebug_view nvdebug_engines_view = {
	.live = true,
	.take = engines_take,
	.show = engines_show,
	.free = engines_free,
};

/* This view is no file of the module's: lib/driver samples engines with it. */
const struct nvdebug_view nvdebug_engines_brief_view = {
	.live = true,
	.take = engines_brief_take,
	.show = engines_show,
	.free = engines_free,
};
