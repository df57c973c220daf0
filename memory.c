// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Video memory is read through PRAMIN: 1 MiB of BAR0 that shows whatever the
 * window register says. The register is shared with the GPU's driver, which
 * knows nothing of us and whose lock we cannot take. So: use the window as it
 * stands if it happens to show what is wanted; else move it, read in short
 * bursts with interrupts off, look again and again whether it is still where
 * we put it, and put it back, but only from there. A driver that uses the
 * window meanwhile on another CPU still accesses the wrong memory; that is
 * what pram_window=never is for.
 *
 * System memory is read as the CPU's own.
 */
#include <linux/bitfield.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "chips/chips.h"
#include "gpu.h"
#include "hw/pbus.h"
#include "hw/ram.h"
#include "memory.h"
#include "params.h"
#include "sysmem.h"

/* Words to read in one go with interrupts off: some 256 us. */
#define BURST_WORDS	256
/*
 * How often to look whether the window is still ours: a dozen times if the
 * request is not small, and at least every 64 KiB. The more often, the less
 * likely that it was moved and put back in between.
 */
#define CHECKS		12
#define CHECK_WORDS_MAX	(SZ_64K / sizeof(u32))
/* How often to start over because somebody moved the window. */
#define WINDOW_TRIES	3

const struct nvdebug_window nvdebug_window_nv50 = {
	.reg = NV_PBUS_BAR0_WINDOW,
	.base = NV_PBUS_BAR0_WINDOW_BASE,
	.target = NV_PBUS_BAR0_WINDOW_TARGET,
};

const struct nvdebug_window nvdebug_window_gh100 = {
	.reg = NV_XAL_EP_BAR0_WINDOW,
	.base = NV_XAL_EP_BAR0_WINDOW_BASE_GH100,
};

const struct nvdebug_window nvdebug_window_gb100 = {
	.reg = NV_XAL_EP_BAR0_WINDOW,
	.base = NV_XAL_EP_BAR0_WINDOW_BASE_GB100,
};

const char *nvdebug_window_forbidden(void)
{
	if (!nvdebug_params.move_window)
		return "pram_window=never";
	if (security_locked_down(LOCKDOWN_PCI_ACCESS))
		return "kernel lockdown";
	return NULL;
}

/* The window while one request uses it. */
struct pramin {
	struct nvdebug_gpu *gpu;
	const struct nvdebug_window *window;
	u32 saved;	/* to be put back */
	u32 value;	/* what the register should read */
	bool moved;
};

static u64 window_start(const struct pramin *p, u32 value)
{
	return (u64)(value & p->window->base) << NV_BAR0_WINDOW_BASE_SHIFT;
}

static bool window_covers(const struct pramin *p, u64 addr)
{
	u64 start = window_start(p, p->value);

	return (p->value & p->window->target) == NV_APERTURE_VID &&
	       addr >= start && addr - start < NV_PRAMIN_SIZE;
}

/* The register's value for a window that starts with @addr's 64 KiB. */
static u32 window_at(const struct pramin *p, u64 addr)
{
	/* bits that the manuals do not describe stay as they are */
	u32 rest = p->value & ~(p->window->base | p->window->target);

	return rest | ((addr >> NV_BAR0_WINDOW_BASE_SHIFT) &
		       p->window->base);
}

static void window_move(struct pramin *p, u32 value)
{
	writel(value, p->gpu->bar0 + p->window->reg);
	p->value = value;
	p->moved = true;
}

static bool window_is_ours(const struct pramin *p)
{
	return readl(p->gpu->bar0 + p->window->reg) == p->value;
}

/* Only while it is ours: nobody else's setting may be overwritten. */
static void window_put_back(struct pramin *p)
{
	if (p->moved)
		writel(p->saved, p->gpu->bar0 + p->window->reg);
	p->moved = false;
}

static void copy_words(const struct pramin *p, u64 addr, u32 *buf, size_t words,
		       size_t step)
{
	void __iomem *at = p->gpu->bar0 + NV_PRAMIN +
			   (addr - window_start(p, p->value));
	size_t i;

	for (i = 0; i < words; i += step)
		buf[i] = readl(at + i * sizeof(u32));
}

/*
 * Read what one position of the window shows of @req from word @done on, up to
 * the next check. Returns the number of words, or -EAGAIN if somebody else
 * moved the window, in which case what was read means nothing.
 *
 * The last burst looks whether the window is still ours and, if the request
 * ends here, puts it back, all in one go: most runlists fit into one burst,
 * and then the window is away for just that long, with interrupts off.
 */
static int window_read(struct pramin *p, struct nvdebug_mem_request *req,
		       size_t done)
{
	u64 addr = req->addr + done * sizeof(u32);
	size_t step = req->even_only ? 2 : 1;
	size_t words, shown, at, n;
	unsigned long flags;
	bool ours = true;
	u32 want;

	lockdep_assert_held(&p->gpu->lock);
	want = window_covers(p, addr) ? p->value : window_at(p, addr);
	shown = (window_start(p, want) + NV_PRAMIN_SIZE - addr) / sizeof(u32);
	words = clamp(req->words / CHECKS, (size_t)BURST_WORDS,
		      CHECK_WORDS_MAX);
	words = min3(req->words - done, words, shown);

	for (at = 0; at < words; at += n) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (READ_ONCE(p->gpu->gone))
			return -ENODEV;
		n = min_t(size_t, words - at, BURST_WORDS);

		local_irq_save(flags);
		if (want != p->value)
			window_move(p, want);
		copy_words(p, addr + at * sizeof(u32), req->buf + done + at, n,
			   step);
		if (at + n == words) {
			ours = window_is_ours(p);
			if (ours && done + words == req->words)
				window_put_back(p);
		}
		local_irq_restore(flags);
		cond_resched();
	}
	return ours ? words : -EAGAIN;
}

static int window_open(struct pramin *p)
{
	int ret;

	lockdep_assert_held(&p->gpu->lock);
	ret = nvdebug_reg_read(p->gpu, p->window->reg, &p->saved);
	p->value = p->saved;
	return ret;
}

/* After a request that did not come to its end. */
static void window_abandon(struct pramin *p)
{
	unsigned long flags;

	lockdep_assert_held(&p->gpu->lock);
	local_irq_save(flags);
	if (p->moved && window_is_ours(p))
		window_put_back(p);
	local_irq_restore(flags);
}

/* May this request use the window, wherever that has to go? */
static int window_check(const struct pramin *p,
			const struct nvdebug_mem_request *req)
{
	u64 last = req->addr + (req->words - 1) * sizeof(u32);
	u64 reach = (u64)p->window->base << NV_BAR0_WINDOW_BASE_SHIFT;

	if (last < req->addr || last > (reach | (NV_PRAMIN_SIZE - 1)))
		return -EFAULT;
	if (window_covers(p, req->addr) && window_covers(p, last))
		return 0;
	return nvdebug_window_forbidden() ? -EOPNOTSUPP : 0;
}

static int pramin_copy(struct pramin *p, struct nvdebug_mem_request *req)
{
	size_t done = 0;
	int tries = 0;
	int ret;

	ret = window_open(p);
	while (!ret && done < req->words) {
		ret = window_check(p, req);
		if (ret)
			break;
		ret = window_read(p, req, done);
		if (ret > 0) {
			done += ret;
			ret = 0;
		} else if (ret == -EAGAIN) {
			/* where it is now is what its mover wants to find */
			p->moved = false;
			ret = ++tries < WINDOW_TRIES ? window_open(p) : -EBUSY;
		}
	}
	window_abandon(p);
	return ret;
}

/* Is what came over the bus an answer at all? */
static int pramin_judge(struct nvdebug_gpu *gpu,
			struct nvdebug_mem_request *req)
{
	size_t step = req->even_only ? 2 : 1;
	size_t i, errors = 0, wanted = 0;
	int ret;

	for (i = 0; i < req->words; i += step) {
		wanted++;
		errors += nvdebug_reg_value_check(req->buf[i]) != 0;
	}
	if (!errors)
		return 0;

	req->suspect = true;
	ret = nvdebug_gpu_check_alive(gpu);
	if (ret)
		return ret;
	return errors == wanted ? -EIO : 0;
}

static int read_video(struct nvdebug_gpu *gpu, struct nvdebug_mem_request *req)
{
	struct pramin p = { .gpu = gpu, .window = gpu->chip->window };
	int ret;

	if (mutex_lock_killable(&gpu->lock))
		return -EINTR;
	ret = pramin_copy(&p, req);
	mutex_unlock(&gpu->lock);
	return ret ? ret : pramin_judge(gpu, req);
}

struct nvdebug_mem {
	struct nvdebug_gpu *gpu;
};

struct nvdebug_mem *nvdebug_mem_begin(struct nvdebug_gpu *gpu)
{
	struct nvdebug_mem *mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);

	if (!mem)
		return ERR_PTR(-ENOMEM);
	mem->gpu = gpu;
	return mem;
}

void nvdebug_mem_end(struct nvdebug_mem *mem)
{
	kfree(mem);
}

int nvdebug_mem_read(struct nvdebug_mem *mem, struct nvdebug_mem_request *req)
{
	struct nvdebug_gpu *gpu = mem->gpu;

	req->suspect = false;
	if (!req->words)
		return 0;
	if (req->addr & (sizeof(u32) - 1))
		return -EFAULT;

	switch (req->aperture) {
	case NV_APERTURE_VID:
		return read_video(gpu, req);
	case NV_APERTURE_COH:
	case NV_APERTURE_NCOH:
		return nvdebug_sysmem_read(gpu, req->addr, req->buf, req->words);
	default:
		return -EFAULT;
	}
}

int nvdebug_mem_fetch(struct nvdebug_mem *mem, struct list_head *fetches)
{
	struct nvdebug_fetch *fetch;
	int ret;

	list_for_each_entry(fetch, fetches, node) {
		do {
			ret = nvdebug_mem_read(mem, &fetch->want);
			if (ret == -EINTR || ret == -ENODEV || ret == -ENOMEM)
				return ret;
		} while (fetch->step(fetch, ret));
	}
	return 0;
}

/* With interrupts off: all of it, or nothing that is not told. */
static int window_write(struct pramin *p, u64 addr, u32 value, u32 *old)
{
	void __iomem *at;
	u32 back;

	if (!window_covers(p, addr))
		window_move(p, window_at(p, addr));
	at = p->gpu->bar0 + NV_PRAMIN + (addr - window_start(p, p->value));
	*old = readl(at);
	if (!window_is_ours(p))
		return -EAGAIN;
	writel(value, at);
	back = readl(at);
	if (!window_is_ours(p))
		return -EBUSY;
	window_put_back(p);
	return back == value ? 0 : -EIO;
}

static int write_video(struct nvdebug_gpu *gpu, u64 addr, u32 value, u32 *old)
{
	struct nvdebug_mem_request req = { .addr = addr, .words = 1 };
	struct pramin p = { .gpu = gpu, .window = gpu->chip->window };
	unsigned long flags;
	int ret, tries;

	if (mutex_lock_killable(&gpu->lock))
		return -EINTR;
	for (tries = 0; tries < WINDOW_TRIES; tries++) {
		ret = window_open(&p);
		if (!ret)
			ret = window_check(&p, &req);
		if (ret)
			break;
		local_irq_save(flags);
		ret = window_write(&p, addr, value, old);
		if (ret)
			p.moved &= window_is_ours(&p);
		window_put_back(&p);
		local_irq_restore(flags);
		if (ret != -EAGAIN)
			break;
	}
	mutex_unlock(&gpu->lock);
	return ret == -EAGAIN ? -EBUSY : ret;
}

int nvdebug_mem_write(struct nvdebug_mem *mem, u8 aperture, u64 addr, u32 value,
		      u32 *old)
{
	if (addr & (sizeof(u32) - 1))
		return -EFAULT;
	switch (aperture) {
	case NV_APERTURE_VID:
		return write_video(mem->gpu, addr, value, old);
	case NV_APERTURE_COH:
	case NV_APERTURE_NCOH:
		return nvdebug_sysmem_write(mem->gpu, addr,
					    aperture == NV_APERTURE_COH, value,
					    old);
	default:
		return -EFAULT;
	}
}
