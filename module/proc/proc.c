// SPDX-License-Identifier: MIT OR GPL-2.0
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#define dev_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mutex.h>
#include <linux/namei.h>
#include <linux/overflow.h>
#include <linux/proc_fs.h>
#include <linux/security.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "access/device.h"
#include "access/params.h"
#include "compat/compat.h"
#include "control/controls.h"
#include "control/lease.h"
#include "core/control.h"
#include "core/machine.h"
#include "core/view.h"
#include "gpus/gpu.h"
#include "gpus/gpus.h"
#include "proc/info.h"
#include "proc/proc.h"
#include "views/views.h"

/* A file: the data of its proc entry. */
struct proc_file {
	struct nvdebug_device *device;
	const struct nvdebug_view *view;	/* for reading, or NULL */
	const struct nvdebug_control *control;	/* for writing, or NULL */
	u32 number;		/* number in the file's name */
	bool state;		/* the state_* parameters say who may read it */
	struct proc_file *next;
};

struct nvdebug_proc {
	struct proc_dir_entry *dir;
	struct proc_file *nodes;
};

/* An open file. */
struct proc_open {
	const struct proc_file *node;
	struct nvdebug_device *device;
	const struct nvdebug_view *view;
	struct nvdebug_snapshot *snapshot;	/* NULL: not opened to be read */
	struct nvdebug_leases leases;	/* leases of a control */

	/*
	 * The answer of a control that answers. Only its open files have room
	 * for an answer in text.
	 */
	struct mutex answer_lock;	/* one request at a time */
	struct seq_buf answer;
	bool answered;
	char text[];
};

#define ANSWER_BYTES	SZ_4K

/*
 * Views: open takes the snapshot, and reads print the snapshot record by
 * record.
 */

static void *seq_start(struct seq_file *m, loff_t *pos)
{
	const struct proc_open *open = m->private;

	/* A file that is only written to can be sought in. */
	return open->snapshot && *pos < open->snapshot->records ? pos : NULL;
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
	const struct proc_open *open = m->private;

	open->view->show(m, &open->device->gpu, open->snapshot, *(loff_t *)v);
	return 0;
}

static const struct seq_operations view_seq_ops = {
	.start = seq_start,
	.next = seq_next,
	.stop = seq_stop,
	.show = seq_show,
};

static struct nvdebug_snapshot *take_snapshot(const struct proc_file *node)
{
	struct nvdebug_gpu *gpu = &node->device->gpu;
	struct nvdebug_snapshot *snapshot;
	int ret;

	if (!node->view->live)
		return node->view->take(gpu, node->number);

	ret = nvdebug_gpu_begin(gpu);
	if (ret)
		return ERR_PTR(ret);
	snapshot = node->view->take(gpu, node->number);
	nvdebug_gpu_end(gpu);
	return snapshot == ERR_PTR(-ECANCELED) ? ERR_PTR(-EBUSY) : snapshot;
}

/*
 * Check that the GPU's files may be opened now. This applies to files of cached
 * data, too, because the data may be outdated.
 */
static int check_open(struct nvdebug_device *device)
{
	const char *why;
	int ret = nvdebug_device_why_busy(device, &why);

	if (ret)
		return ret;
	return why || READ_ONCE(device->closed) ? -EBUSY : 0;
}

static int open_snapshot(struct proc_open *open, const struct file *file)
{
	const struct proc_file *node = open->node;
	struct nvdebug_snapshot *snapshot = take_snapshot(node);

	if (IS_ERR(snapshot))
		return PTR_ERR(snapshot);
	/* With state_all, addresses are hidden without CAP_SYS_ADMIN. */
	snapshot->hide = node->state && nvdebug_params.state_all &&
			 !file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
	snapshot->hide_words = !file_ns_capable(file, &init_user_ns,
						CAP_SYS_RAWIO);
	open->snapshot = snapshot;
	return 0;
}

static void open_free(struct proc_open *open)
{
	if (open->snapshot)
		open->view->free(open->snapshot);
	mutex_destroy(&open->answer_lock);
	nvdebug_device_put(open->device);
	kfree(open);
}

/* Return the open file. Files with a view are seq_files. */
static struct proc_open *opened(const struct file *file)
{
	const struct proc_file *node = pde_data(file_inode(file));
	const struct seq_file *m = file->private_data;

	return node->view ? m->private : file->private_data;
}

static int file_attach(struct file *file, struct proc_open *open)
{
	struct seq_file *m;
	int ret;

	if (!open->view) {
		file->private_data = open;
		return 0;
	}
	ret = seq_open(file, &view_seq_ops);
	if (ret)
		return ret;
	m = file->private_data;
	m->private = open;
	return 0;
}

static int file_open(struct inode *inode, struct file *file)
{
	const struct proc_file *node = pde_data(inode);
	bool answers = node->control && node->control->answers;
	struct proc_open *open;
	int ret = 0;

	if (node->view && node->view != &nvdebug_info_view)
		ret = check_open(node->device);
	if (ret)
		return ret;
	open = kzalloc(struct_size(open, text, answers ? ANSWER_BYTES : 0),
		       GFP_KERNEL_ACCOUNT);
	if (!open)
		return -ENOMEM;
	open->node = node;
	open->view = node->view;
	open->device = node->device;
	nvdebug_device_get(open->device);
	mutex_init(&open->answer_lock);

	if (node->view && file->f_mode & FMODE_READ)
		ret = open_snapshot(open, file);
	if (!ret && node->control)
		ret = nvdebug_leases_init(&open->leases, &node->device->gpu);
	if (ret)
		goto err_free;
	ret = file_attach(file, open);
	if (ret)
		goto err_end;
	return 0;

err_end:
	if (node->control)
		nvdebug_leases_end(&open->leases, &node->device->gpu);
err_free:
	open_free(open);
	return ret;
}

static int file_release(struct inode *inode, struct file *file)
{
	struct proc_open *open = opened(file);

	if (open->node->control)
		nvdebug_leases_end(&open->leases, &open->device->gpu);
	if (open->view)
		seq_release(inode, file);
	open_free(open);
	return 0;
}

/* Controls: one write is one request. */

static bool may_write_controls(void)
{
	return !nvdebug_params.read_only && capable(CAP_SYS_ADMIN) &&
	       !security_locked_down(LOCKDOWN_PCI_ACCESS);
}

static ssize_t request_write(struct proc_open *open, const char __user *buf,
			     size_t count, struct seq_buf *answer)
{
	const struct nvdebug_control *control = open->node->control;
	char *text;
	int ret;

	if (control->changes && !may_write_controls())
		return -EPERM;
	if (count > control->text_max)
		return -E2BIG;
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);

	ret = nvdebug_request(&open->device->gpu, control, &open->leases, text,
			      count, answer);
	kfree(text);
	if (ret == -ECANCELED)
		ret = -EBUSY;
	return ret ? ret : count;
}

/*
 * Execute the request. An answer is kept in the open file, and read from its
 * beginning.
 */
static ssize_t file_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *ppos)
{
	struct proc_open *open = opened(file);
	ssize_t ret;

	if (!open->node->control->answers)
		return request_write(open, buf, count, NULL);
	if (mutex_lock_killable(&open->answer_lock))
		return -EINTR;
	seq_buf_init(&open->answer, open->text, ANSWER_BYTES);
	ret = request_write(open, buf, count, &open->answer);
	open->answered = ret >= 0;
	*ppos = 0;
	mutex_unlock(&open->answer_lock);
	return ret;
}

static ssize_t answer_read(struct file *file, char __user *buf, size_t count,
			   loff_t *ppos)
{
	struct proc_open *open = opened(file);
	ssize_t ret = -ENODATA;

	if (mutex_lock_killable(&open->answer_lock))
		return -EINTR;
	if (open->answered)
		ret = simple_read_from_buffer(buf, count, ppos, open->text,
					      seq_buf_used(&open->answer));
	mutex_unlock(&open->answer_lock);
	return ret;
}

static const struct proc_ops view_proc_ops = {
	.proc_open = file_open,
	.proc_read_iter = seq_read_iter,
	.proc_lseek = seq_lseek,
	.proc_release = file_release,
};

static const struct proc_ops view_control_proc_ops = {
	.proc_open = file_open,
	.proc_read_iter = seq_read_iter,
	.proc_write = file_write,
	.proc_lseek = seq_lseek,
	.proc_release = file_release,
};

static const struct proc_ops control_proc_ops = {
	.proc_open = file_open,
	.proc_write = file_write,
	.proc_release = file_release,
};

static const struct proc_ops answer_proc_ops = {
	.proc_open = file_open,
	.proc_read = answer_read,
	.proc_write = file_write,
	.proc_lseek = default_llseek,
	.proc_release = file_release,
};

static const struct proc_ops *proc_file_ops(const struct proc_file *node)
{
	if (!node->control)
		return &view_proc_ops;
	if (node->control->answers)
		return &answer_proc_ops;
	return node->view ? &view_control_proc_ops : &control_proc_ops;
}

static umode_t proc_file_mode(const struct proc_file *node)
{
	umode_t mode = node->control ? 0200 : 0;

	if (node->view && !node->control)
		mode |= node->state ? 0400 : 0444;
	else if (node->view || node->control->answers)
		mode |= 0400;

	if (node->state && nvdebug_params.state_all)
		mode |= 0444;
	else if (node->state && nvdebug_params.state_gid >= 0)
		mode |= 0440;
	return mode;
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

/* Create a file, with @like as a template. */
static int create_file(struct nvdebug_device *device, const char *name,
		       const struct proc_file *like)
{
	struct proc_dir_entry *entry;
	struct proc_file *node;
	char text[32];

	node = kmemdup(like, sizeof(*like), GFP_KERNEL);
	if (!node)
		return -ENOMEM;
	node->device = device;
	node->next = device->proc->nodes;
	device->proc->nodes = node;

	snprintf(text, sizeof(text), name, node->number);
	entry = proc_create_data(text, proc_file_mode(node), device->proc->dir,
				 proc_file_ops(node), node);
	if (!entry)
		return -ENOMEM;
	if (node->state)
		proc_set_user(entry, state_owner(), state_group());
	return 0;
}

static int create_view(struct nvdebug_device *device,
		       const struct nvdebug_view_file *file)
{
	struct proc_file like = { .view = file->view, .state = file->state };
	struct nvdebug_gpu *gpu = &device->gpu;
	int ret = 0;
	u32 n;

	if (file->feature >= 0 && gpu->missing[file->feature])
		return 0;
	if (file->exists && !file->exists(gpu))
		return 0;
	if (!file->nth)
		return create_file(device, file->name, &like);
	for (n = 0; !ret && file->nth(gpu, n, &like.number); n++)
		ret = create_file(device, file->name, &like);
	return ret;
}

static int create_control(struct nvdebug_device *device,
			  const struct nvdebug_control_file *file)
{
	const struct proc_file like = {
		.view = file->view,
		.control = file->control,
	};

	if (device->gpu.missing[file->feature])
		return 0;
	return create_file(device, file->name, &like);
}

/* Create info. It is created last: if it exists, all files do. */
static int create_info(struct nvdebug_device *device)
{
	static const struct proc_file like = { .view = &nvdebug_info_view };

	return create_file(device, "info", &like);
}

/*
 * Check at load that the first name is free. A path is the only way into
 * procfs, and the caller's root decides what the path means, so a file of
 * another file system at the path does not count.
 */
int nvdebug_proc_check(void)
{
	struct path path;
	bool taken;

	if (kern_path("/proc/gpu0", 0, &path))
		return 0;
	taken = path.dentry->d_sb->s_magic == PROC_SUPER_MAGIC;
	path_put(&path);
	if (!taken)
		return 0;
	pr_err("another module owns /proc/gpu0: unload that one first\n");
	return -EBUSY;
}

/* All files of this GPU except info. */
static int create_files(struct nvdebug_device *device)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < nvdebug_view_files_count; i++)
		ret = create_view(device, &nvdebug_view_files[i]);
	for (i = 0; !ret && i < nvdebug_control_files_count; i++)
		ret = create_control(device, &nvdebug_control_files[i]);
	return ret;
}

static void proc_withdraw(struct nvdebug_device *device)
{
	struct proc_file *node, *next;

	if (!device->proc)
		return;
	proc_remove(device->proc->dir);
	for (node = device->proc->nodes; node; node = next) {
		next = node->next;
		kfree(node);
	}
	kfree(device->proc);
	device->proc = NULL;
}

static int proc_publish(struct nvdebug_device *device, unsigned int index)
{
	char name[16];
	int ret;

	snprintf(name, sizeof(name), "gpu%u", index);
	device->proc = kzalloc(sizeof(*device->proc), GFP_KERNEL);
	if (!device->proc)
		return -ENOMEM;
	device->proc->dir = proc_mkdir(name, NULL);
	if (!device->proc->dir) {
		dev_err(device->dev,
			"cannot create /proc/%s: another module owns it, or there is no memory\n",
			name);
		return -ENOMEM;
	}
	ret = create_files(device);
	if (!ret)
		ret = create_info(device);
	if (ret)
		return ret;
	if (device->identified && device->gpu.unsupported)
		dev_warn(device->dev,
			 "chip 0x%03x not supported (%s): /proc/%s has only info\n",
			 device->gpu.id.chip, device->gpu.unsupported, name);
	else
		dev_info(device->dev, "%s is /proc/%s%s%s\n",
			 device->gpu.chip_name ?: "a GPU", name,
			 device->identified ? "" : ", with only info: ",
			 device->identified ? "" : device->gpu.unsupported);
	return 0;
}

const struct nvdebug_publisher nvdebug_proc_publisher = {
	.publish = proc_publish,
	.withdraw = proc_withdraw,
};
