// SPDX-License-Identifier: MIT OR GPL-2.0
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#define dev_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/namei.h>
#include <linux/proc_fs.h>
#include <linux/security.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "access/params.h"
#include "compat/compat.h"
#include "control/preemption_mode.h"
#include "control/runlist_control.h"
#include "control/tsg_control.h"
#include "copy_topology.h"
#include "core/gpu.h"
#include "decode/targets.h"
#include "device_info.h"
#include "proc/info.h"
#include "proc/lease.h"
#include "proc/proc.h"
#include "runlist.h"
#include "state/channel.h"
#include "views/contexts.h"
#include "views/engines.h"
#include "views/gpc_topology.h"
#include "views/ptimer.h"
#include "views/translate.h"
#include "views/work_distributor.h"

/* A kind of file. */
struct file_kind {
	const char *name;	/* with %u if there is one per number */
	umode_t mode;
	bool state;		/* scheduling state: who may read is a parameter */
	int feature;		/* needed; -1: none */
	const struct nvdebug_view *view;	/* read: or NULL */
	const struct nvdebug_control *control;	/* written: or NULL */
	/* The number of the @n-th one; NULL if there is just one. */
	bool (*nth)(struct nvdebug_gpu *gpu, u32 n, u32 *number);
	/* Is it there, of those that have the feature? NULL: yes. */
	bool (*exists)(const struct nvdebug_gpu *gpu);
};

/* One file: what its inode points to. */
struct proc_file {
	struct nvdebug_gpu *gpu;
	const struct file_kind *kind;
	u32 number;
	struct proc_file *next;
};

struct nvdebug_proc {
	struct proc_dir_entry *dir;
	struct proc_file *nodes;
};

/* An open file that is read, and maybe written. */
struct reader {
	struct nvdebug_gpu *gpu;
	const struct nvdebug_view *view;
	struct nvdebug_snapshot *snapshot;
	struct nvdebug_leases leases;
};

static bool runlist_nth(struct nvdebug_gpu *gpu, u32 n, u32 *number)
{
	if (n >= gpu->topology.runlists)
		return false;
	*number = gpu->topology.runlist[n].id;
	return true;
}

/*
 * In the order in which they are made. What everybody may read is what was read
 * when the GPU was identified: a view that is live touches the GPU, and so is
 * for those who may see its state.
 */
static const struct file_kind kinds[] = {
	{
		.name = "device_info",
		.mode = 0444,
		.feature = NVDEBUG_FEATURE_DEVICE_INFO,
		.view = &nvdebug_device_info_view,
	}, {
		.name = "runlist%u",
		.mode = 0400,
		.state = true,
		.feature = NVDEBUG_FEATURE_RUNLIST,
		.view = &nvdebug_runlist_view,
		.nth = runlist_nth,
	}, {
		.name = "engines",
		.mode = 0400,
		.state = true,
		.feature = NVDEBUG_FEATURE_ENGINES,
		.view = &nvdebug_engines_view,
	}, {
		.name = "runlist%u_brief",
		.mode = 0400,
		.state = true,
		.feature = NVDEBUG_FEATURE_RUNLIST,
		.view = &nvdebug_runlist_brief_view,
		.nth = runlist_nth,
	}, {
		.name = "contexts",
		.mode = 0400,
		.state = true,
		.feature = NVDEBUG_FEATURE_CONTEXTS,
		.view = &nvdebug_contexts_view,
	}, {
		.name = "translate",
		.mode = 0600,
		.feature = NVDEBUG_FEATURE_CONTEXTS,
		.control = &nvdebug_translate_control,
	}, {
		.name = "disable_channel",
		.mode = 0200,
		.feature = NVDEBUG_FEATURE_CHANNEL_CONTROL,
		.control = &nvdebug_disable_channel_control,
	}, {
		.name = "enable_channel",
		.mode = 0200,
		.feature = NVDEBUG_FEATURE_CHANNEL_CONTROL,
		.control = &nvdebug_enable_channel_control,
	}, {
		.name = "preempt_tsg",
		.mode = 0200,
		.feature = NVDEBUG_FEATURE_RUNLIST_CONTROL,
		.control = &nvdebug_preempt_tsg_control,
	}, {
		.name = "switch_to_tsg",
		.mode = 0200,
		.feature = NVDEBUG_FEATURE_RUNLIST_CONTROL,
		.control = &nvdebug_switch_to_tsg_control,
	}, {
		.name = "set_timeslice",
		.mode = 0600,
		.feature = NVDEBUG_FEATURE_RUNLIST_CONTROL,
		.control = &nvdebug_set_timeslice_control,
	}, {
		.name = "preempt_runlist",
		.mode = 0200,
		.feature = NVDEBUG_FEATURE_RUNLIST_CONTROL,
		.control = &nvdebug_preempt_runlist_control,
	}, {
		.name = "resubmit_runlist",
		.mode = 0200,
		.feature = NVDEBUG_FEATURE_RUNLIST_CONTROL,
		.control = &nvdebug_resubmit_runlist_control,
	}, {
		.name = "scheduling",
		.mode = 0600,
		.feature = NVDEBUG_FEATURE_RUNLIST_CONTROL,
		.view = &nvdebug_scheduling_view,
		.control = &nvdebug_scheduling_control,
	}, {
		.name = "preemption_mode",
		.mode = 0200,
		.feature = NVDEBUG_FEATURE_PREEMPTION_MODE,
		.control = &nvdebug_preemption_mode_control,
	}, {
		.name = "pce_map",
		.mode = 0400,
		.state = true,
		.feature = NVDEBUG_FEATURE_COPY_TOPOLOGY,
		.view = &nvdebug_pce_map_view,
	}, {
		.name = "lce_for_pce%u",
		.mode = 0400,
		.state = true,
		.feature = NVDEBUG_FEATURE_COPY_TOPOLOGY,
		.view = &nvdebug_pce_lce_view,
		.nth = nvdebug_pce_nth,
	}, {
		.name = "shared_lce_for_grce%u",
		.mode = 0400,
		.state = true,
		.feature = NVDEBUG_FEATURE_COPY_TOPOLOGY,
		.view = &nvdebug_grce_lce_view,
		.nth = nvdebug_grce_nth,
	}, {
		.name = "copy_topology",
		.mode = 0400,
		.state = true,
		.feature = NVDEBUG_FEATURE_COPY_TOPOLOGY,
		.view = &nvdebug_copy_topology_view,
	}, {
		.name = "num_gpcs",
		.mode = 0444,
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_num_gpcs_view,
	}, {
		.name = "num_tpc_per_gpc",
		.mode = 0444,
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_num_tpc_per_gpc_view,
	}, {
		.name = "num_ces",
		.mode = 0444,
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_num_ces_view,
	}, {
		.name = "num_fbps",
		.mode = 0444,
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_num_fbps_view,
	}, {
		.name = "num_ltcs",
		.mode = 0444,
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_num_ltcs_view,
		.exists = nvdebug_ltcs_exist,
	}, {
		.name = "gpc_mask",
		.mode = 0444,
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_gpc_mask_view,
	}, {
		.name = "gpc%u_tpc_mask",
		.mode = 0444,
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_tpc_mask_view,
		.nth = nvdebug_gpc_nth,
	}, {
		.name = "sm_map",
		.mode = 0400,
		.state = true,
		.feature = NVDEBUG_FEATURE_WORK_DISTRIBUTOR,
		.view = &nvdebug_sm_map_view,
	}, {
		.name = "work_distributor",
		.mode = 0400,
		.state = true,
		.feature = NVDEBUG_FEATURE_WORK_DISTRIBUTOR,
		.view = &nvdebug_work_distributor_view,
	}, {
		.name = "local_memory",
		.mode = 0444,
		.feature = -1,
		.view = &nvdebug_local_memory_view,
		.exists = nvdebug_local_memory_exists,
	}, {
		.name = "ptimer",
		.mode = 0400,
		.state = true,
		.feature = -1,
		.view = &nvdebug_ptimer_view,
		.exists = nvdebug_ptimer_exists,
	},
};

/* Made last: a folder that has it has all of its files. */
static const struct file_kind info_kind = {
	.name = "info",
	.mode = 0444,
	.feature = -1,
	.view = &nvdebug_info_view,
};

/* Reading: the snapshot is taken by open, and printed record by record. */

static void *seq_start(struct seq_file *m, loff_t *pos)
{
	const struct reader *reader = m->private;

	return *pos < reader->snapshot->records ? pos : NULL;
}

static void *seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return seq_start(m, pos);
}

static void seq_stop(struct seq_file *m, void *v)
{
}

static int seq_show(struct seq_file *m, void *v)
{
	const struct reader *reader = m->private;

	reader->view->show(m, reader->gpu, reader->snapshot, *(loff_t *)v);
	return 0;
}

static const struct seq_operations reader_seq_ops = {
	.start = seq_start,
	.next = seq_next,
	.stop = seq_stop,
	.show = seq_show,
};

static struct nvdebug_snapshot *take_snapshot(const struct proc_file *node)
{
	const struct nvdebug_view *view = node->kind->view;
	struct nvdebug_snapshot *snapshot;
	int ret;

	if (!view->live)
		return view->take(node->gpu, node->number);

	ret = nvdebug_gpu_begin(node->gpu);
	if (ret)
		return ERR_PTR(ret);
	snapshot = view->take(node->gpu, node->number);
	nvdebug_gpu_end(node->gpu);
	return snapshot;
}

static int reader_open(struct inode *inode, struct file *file)
{
	const struct proc_file *node = pde_data(inode);
	const struct nvdebug_view *view = node->kind->view;
	struct nvdebug_snapshot *snapshot;
	struct reader *reader;
	int ret;

	/* also of what is known, which will be different when it is back */
	if (node->kind != &info_kind &&
	    (nvdebug_gpu_is_given_away(node->gpu) ||
	     READ_ONCE(node->gpu->closed)))
		return -EBUSY;
	snapshot = take_snapshot(node);
	if (IS_ERR(snapshot))
		return PTR_ERR(snapshot);
	/* widened to everybody, the file tells everybody only so much */
	snapshot->hide = node->kind->state && nvdebug_params.state_all &&
			 !file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);

	reader = __seq_open_private(file, &reader_seq_ops, sizeof(*reader));
	if (!reader) {
		ret = -ENOMEM;
		goto err_free_snapshot;
	}
	nvdebug_gpu_get(node->gpu);
	reader->gpu = node->gpu;
	reader->view = view;
	reader->snapshot = snapshot;
	nvdebug_leases_init(&reader->leases);
	return 0;

err_free_snapshot:
	view->free(snapshot);
	return ret;
}

static int reader_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct reader *reader = m->private;

	nvdebug_leases_end(&reader->leases, reader->gpu);
	reader->view->free(reader->snapshot);
	nvdebug_gpu_put(reader->gpu);
	return seq_release_private(inode, file);
}

static const struct proc_ops reader_proc_ops = {
	.proc_open = reader_open,
	.proc_read_iter = seq_read_iter,
	.proc_lseek = seq_lseek,
	.proc_release = reader_release,
};

/* Writing: one write is one request. */

static bool may_change(void)
{
	return !nvdebug_params.read_only && capable(CAP_SYS_ADMIN) &&
	       !security_locked_down(LOCKDOWN_PCI_ACCESS);
}

/* Does the request begin with the word of a lease? Then go on behind it. */
static bool skip_lease_word(struct nvdebug_cursor *cur)
{
	static const char * const word[] = { "lease" };
	struct nvdebug_cursor next = *cur;

	if (!nvdebug_cursor_more(&next) ||
	    nvdebug_cursor_choice(&next, word, ARRAY_SIZE(word)))
		return false;
	*cur = next;
	return true;
}

static int act(struct nvdebug_gpu *gpu, const struct nvdebug_control *control,
	       struct nvdebug_leases *leases, const char *text, size_t len,
	       struct seq_buf *answer)
{
	struct nvdebug_cursor cur = { text, text + len };

	if (control->leases && skip_lease_word(&cur))
		return nvdebug_lease_take(leases, gpu, control, cur.at,
					  cur.end - cur.at, answer);
	return control->act(gpu, text, len, answer, NULL);
}

static ssize_t do_request(struct file *file, const char __user *buf,
			  size_t count, struct nvdebug_leases *leases,
			  struct seq_buf *answer)
{
	const struct proc_file *node = pde_data(file_inode(file));
	const struct nvdebug_control *control = node->kind->control;
	char *text;
	int ret;

	if (control->changes && !may_change())
		return -EPERM;
	if (count > control->text_max)
		return -E2BIG;
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);

	ret = act(node->gpu, control, leases, text, count, answer);
	kfree(text);
	if (!ret && answer && seq_buf_has_overflowed(answer))
		ret = -EFBIG;
	return ret ? ret : count;
}

static int control_open(struct inode *inode, struct file *file)
{
	struct nvdebug_leases *leases = kzalloc(sizeof(*leases),
						GFP_KERNEL_ACCOUNT);

	if (!leases)
		return -ENOMEM;
	nvdebug_leases_init(leases);
	file->private_data = leases;
	return 0;
}

static int control_release(struct inode *inode, struct file *file)
{
	const struct proc_file *node = pde_data(inode);
	struct nvdebug_leases *leases = file->private_data;

	nvdebug_leases_end(leases, node->gpu);
	kfree(leases);
	return 0;
}

static ssize_t control_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *ppos)
{
	return do_request(file, buf, count, file->private_data, NULL);
}

static const struct proc_ops control_proc_ops = {
	.proc_open = control_open,
	.proc_write = control_write,
	.proc_release = control_release,
};

/* A control whose state can be looked at: reading is as of any view. */

static ssize_t reader_control_write(struct file *file, const char __user *buf,
				    size_t count, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	struct reader *reader = m->private;

	return do_request(file, buf, count, &reader->leases, NULL);
}

static const struct proc_ops reader_control_proc_ops = {
	.proc_open = reader_open,
	.proc_read_iter = seq_read_iter,
	.proc_write = reader_control_write,
	.proc_lseek = seq_lseek,
	.proc_release = reader_release,
};

/* A control that answers: the answer belongs to the open file. */

struct dialogue {
	struct mutex lock;	/* of the answer: one request at a time */
	struct nvdebug_leases leases;
	bool answered;
	struct seq_buf answer;
	char text[SZ_4K];
};

static int dialogue_open(struct inode *inode, struct file *file)
{
	struct dialogue *d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);

	if (!d)
		return -ENOMEM;
	mutex_init(&d->lock);
	nvdebug_leases_init(&d->leases);
	file->private_data = d;
	return 0;
}

static int dialogue_release(struct inode *inode, struct file *file)
{
	const struct proc_file *node = pde_data(inode);
	struct dialogue *d = file->private_data;

	nvdebug_leases_end(&d->leases, node->gpu);
	mutex_destroy(&d->lock);
	kfree(d);
	return 0;
}

/* The answer is read from its start, wherever the request ended. */
static ssize_t dialogue_write(struct file *file, const char __user *buf,
			      size_t count, loff_t *ppos)
{
	struct dialogue *d = file->private_data;
	ssize_t ret;

	if (mutex_lock_killable(&d->lock))
		return -EINTR;
	seq_buf_init(&d->answer, d->text, sizeof(d->text));
	ret = do_request(file, buf, count, &d->leases, &d->answer);
	d->answered = ret >= 0;
	*ppos = 0;
	mutex_unlock(&d->lock);
	return ret;
}

static ssize_t dialogue_read(struct file *file, char __user *buf, size_t count,
			     loff_t *ppos)
{
	struct dialogue *d = file->private_data;
	ssize_t ret = -ENODATA;

	if (mutex_lock_killable(&d->lock))
		return -EINTR;
	if (d->answered)
		ret = simple_read_from_buffer(buf, count, ppos, d->text,
					      seq_buf_used(&d->answer));
	mutex_unlock(&d->lock);
	return ret;
}

static const struct proc_ops dialogue_proc_ops = {
	.proc_open = dialogue_open,
	.proc_read = dialogue_read,
	.proc_write = dialogue_write,
	.proc_lseek = default_llseek,
	.proc_release = dialogue_release,
};

static const struct proc_ops *ops_of(const struct file_kind *kind)
{
	if (!kind->control)
		return &reader_proc_ops;
	if (kind->control->answers)
		return &dialogue_proc_ops;
	return kind->view ? &reader_control_proc_ops : &control_proc_ops;
}

/* The tree. */

static kuid_t state_owner(void)
{
	return nvdebug_params.state_uid < 0 ? GLOBAL_ROOT_UID :
	       KUIDT_INIT(nvdebug_params.state_uid);
}

static kgid_t state_group(void)
{
	return nvdebug_params.state_gid < 0 ? GLOBAL_ROOT_GID :
	       KGIDT_INIT(nvdebug_params.state_gid);
}

static int create_file(struct nvdebug_gpu *gpu, const struct file_kind *kind,
		       u32 number)
{
	struct proc_dir_entry *entry;
	umode_t mode = kind->mode;
	struct proc_file *node;
	char name[32];

	if (kind->state && nvdebug_params.state_all)
		mode |= 0444;
	else if (kind->state && nvdebug_params.state_gid >= 0)
		mode |= 0440;

	node = kzalloc(sizeof(*node), GFP_KERNEL);
	if (!node)
		return -ENOMEM;
	node->gpu = gpu;
	node->kind = kind;
	node->number = number;
	node->next = gpu->proc->nodes;
	gpu->proc->nodes = node;

	snprintf(name, sizeof(name), kind->name, number);
	entry = proc_create_data(name, mode, gpu->proc->dir, ops_of(kind), node);
	if (!entry)
		return -ENOMEM;
	if (kind->state)
		proc_set_user(entry, state_owner(), state_group());
	return 0;
}

static int create_files(struct nvdebug_gpu *gpu, const struct file_kind *kind)
{
	u32 n, number;
	int ret = 0;

	if (kind->feature >= 0 && gpu->missing[kind->feature])
		return 0;
	if (kind->exists && !kind->exists(gpu))
		return 0;
	if (!kind->nth)
		return create_file(gpu, kind, 0);
	for (n = 0; !ret && kind->nth(gpu, n, &number); n++)
		ret = create_file(gpu, kind, number);
	return ret;
}

/*
 * procfs itself only finds out when it is too late, and then with a kernel
 * warning, so look first.
 */
static int check_free(const char *name)
{
	char path_name[32];
	struct path path;
	int ret;

	snprintf(path_name, sizeof(path_name), "/proc/%s", name);
	ret = kern_path(path_name, 0, &path);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	path_put(&path);
	pr_err("another module owns %s: unload that one first\n", path_name);
	return -EBUSY;
}

int nvdebug_proc_check(void)
{
	return check_free("gpu0");
}

/* All but info, of those that there are for this GPU. */
static int create_kinds(struct nvdebug_gpu *gpu)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < ARRAY_SIZE(kinds); i++)
		ret = create_files(gpu, &kinds[i]);
	return ret;
}

int nvdebug_proc_create(struct nvdebug_gpu *gpu, unsigned int index)
{
	char name[16];
	int ret;

	snprintf(name, sizeof(name), "gpu%u", index);
	ret = check_free(name);
	if (ret)
		return ret;

	gpu->proc = kzalloc(sizeof(*gpu->proc), GFP_KERNEL);
	if (!gpu->proc)
		return -ENOMEM;
	gpu->proc->dir = proc_mkdir(name, NULL);
	ret = gpu->proc->dir ? 0 : -ENOMEM;
	/* what there is, is not found out meanwhile by the first file's opener */
	mutex_lock(&gpu->identity);
	if (!ret)
		ret = create_kinds(gpu);
	if (!ret)
		ret = create_files(gpu, &info_kind);
	mutex_unlock(&gpu->identity);
	if (ret) {
		nvdebug_proc_remove(gpu);
		return ret;
	}
	if (gpu->identified && gpu->unsupported)
		dev_warn(gpu->dev,
			 "chip 0x%03x not supported (%s): /proc/%s has only info\n",
			 gpu->id.chip, gpu->unsupported, name);
	else
		dev_info(gpu->dev, "%s is /proc/%s%s%s\n",
			 gpu->chip_name ?: "a GPU", name,
			 gpu->identified ? "" : ", with only info: ",
			 gpu->identified ? "" : gpu->unsupported);
	return 0;
}

void nvdebug_proc_complete(struct nvdebug_gpu *gpu)
{
	if (create_kinds(gpu))
		dev_warn(gpu->dev, "no memory for all of /proc/gpu%u\n",
			 gpu->number);
	else
		dev_info(gpu->dev, "%s is awake: /proc/gpu%u is complete\n",
			 gpu->chip_name, gpu->number);
}

void nvdebug_proc_remove(struct nvdebug_gpu *gpu)
{
	struct proc_file *node, *next;

	if (!gpu->proc)
		return;
	/* long walks that are under way should end now */
	WRITE_ONCE(gpu->gone, true);
	proc_remove(gpu->proc->dir);
	for (node = gpu->proc->nodes; node; node = next) {
		next = node->next;
		kfree(node);
	}
	kfree(gpu->proc);
	gpu->proc = NULL;
}
