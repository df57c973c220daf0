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
	u32 number;		/* in its name */
	bool state;		/* readable as set by the state_* parameters */
	struct proc_file *next;
};

struct nvdebug_proc {
	struct proc_dir_entry *dir;
	struct proc_file *nodes;
};

/* An open file of a view. */
struct proc_reader {
	struct nvdebug_device *device;
	const struct nvdebug_view *view;
	struct nvdebug_snapshot *snapshot;
	struct nvdebug_leases leases;	/* of a file that is a control, too */
};

static void create_rest(struct nvdebug_device *device);

/* Views: open takes the snapshot, which is printed record by record. */

static void *seq_start(struct seq_file *m, loff_t *pos)
{
	const struct proc_reader *reader = m->private;

	/* a file that is only written to can be sought in */
	return reader->snapshot && *pos < reader->snapshot->records ? pos : NULL;
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
	const struct proc_reader *reader = m->private;

	reader->view->show(m, &reader->device->gpu, reader->snapshot, *(loff_t *)v);
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

/* Also for files of cached data, which may be outdated by now. */
static int check_open(struct nvdebug_device *device)
{
	const char *why;
	int ret = nvdebug_device_why_busy(device, &why);

	if (ret)
		return ret;
	return why || READ_ONCE(device->closed) ? -EBUSY : 0;
}

static void free_snapshot(const struct nvdebug_view *view,
			  struct nvdebug_snapshot *snapshot)
{
	if (snapshot)
		view->free(snapshot);
}

static int reader_open(struct inode *inode, struct file *file)
{
	const struct proc_file *node = pde_data(inode);
	struct nvdebug_snapshot *snapshot = NULL;
	struct proc_reader *reader;
	int ret;

	ret = node->view == &nvdebug_info_view ? 0 : check_open(node->device);
	if (ret)
		return ret;
	/* opening info creates the other files, if the GPU is awake now */
	if (node->view == &nvdebug_info_view && nvdebug_info_may_access_gpu() &&
	    nvdebug_device_identify(node->device))
		create_rest(node->device);
	if (file->f_mode & FMODE_READ) {
		snapshot = take_snapshot(node);
		if (IS_ERR(snapshot))
			return PTR_ERR(snapshot);
		/* with state_all, no addresses without CAP_SYS_ADMIN */
		snapshot->hide = node->state && nvdebug_params.state_all &&
				 !file_ns_capable(file, &init_user_ns,
						  CAP_SYS_ADMIN);
	}

	reader = __seq_open_private(file, &reader_seq_ops, sizeof(*reader));
	if (!reader) {
		ret = -ENOMEM;
		goto err_free_snapshot;
	}
	if (node->control) {
		ret = nvdebug_leases_init(&reader->leases, &node->device->gpu);
		if (ret)
			goto err_release;
	}
	nvdebug_device_get(node->device);
	reader->device = node->device;
	reader->view = node->view;
	reader->snapshot = snapshot;
	return 0;

err_release:
	seq_release_private(inode, file);
err_free_snapshot:
	free_snapshot(node->view, snapshot);
	return ret;
}

static int reader_release(struct inode *inode, struct file *file)
{
	const struct proc_file *node = pde_data(inode);
	struct seq_file *m = file->private_data;
	struct proc_reader *reader = m->private;

	if (node->control)
		nvdebug_leases_end(&reader->leases, &reader->device->gpu);
	free_snapshot(reader->view, reader->snapshot);
	nvdebug_device_put(reader->device);
	return seq_release_private(inode, file);
}

static const struct proc_ops reader_proc_ops = {
	.proc_open = reader_open,
	.proc_read_iter = seq_read_iter,
	.proc_lseek = seq_lseek,
	.proc_release = reader_release,
};

/* Controls: one write is one request. */

static bool may_write_controls(void)
{
	return !nvdebug_params.read_only && capable(CAP_SYS_ADMIN) &&
	       !security_locked_down(LOCKDOWN_PCI_ACCESS);
}

static ssize_t request_write(struct file *file, const char __user *buf,
			     size_t count, struct nvdebug_leases *leases,
			     struct seq_buf *answer)
{
	const struct proc_file *node = pde_data(file_inode(file));
	const struct nvdebug_control *control = node->control;
	char *text;
	int ret;

	if (control->changes && !may_write_controls())
		return -EPERM;
	if (count > control->text_max)
		return -E2BIG;
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);

	ret = nvdebug_request(&node->device->gpu, control, leases, text, count,
			      answer);
	kfree(text);
	if (ret == -ECANCELED)
		ret = -EBUSY;
	return ret ? ret : count;
}

static int control_open(struct inode *inode, struct file *file)
{
	const struct proc_file *node = pde_data(inode);
	struct nvdebug_leases *leases = kzalloc(sizeof(*leases),
						GFP_KERNEL_ACCOUNT);
	int ret;

	if (!leases)
		return -ENOMEM;
	ret = nvdebug_leases_init(leases, &node->device->gpu);
	if (ret)
		kfree(leases);
	else
		file->private_data = leases;
	return ret;
}

static int control_release(struct inode *inode, struct file *file)
{
	const struct proc_file *node = pde_data(inode);
	struct nvdebug_leases *leases = file->private_data;

	nvdebug_leases_end(leases, &node->device->gpu);
	kfree(leases);
	return 0;
}

static ssize_t control_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *ppos)
{
	return request_write(file, buf, count, file->private_data, NULL);
}

static const struct proc_ops control_proc_ops = {
	.proc_open = control_open,
	.proc_write = control_write,
	.proc_release = control_release,
};

/* A control with a view of its state. */

static ssize_t reader_control_write(struct file *file, const char __user *buf,
				    size_t count, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	struct proc_reader *reader = m->private;

	return request_write(file, buf, count, &reader->leases, NULL);
}

static const struct proc_ops reader_control_proc_ops = {
	.proc_open = reader_open,
	.proc_read_iter = seq_read_iter,
	.proc_write = reader_control_write,
	.proc_lseek = seq_lseek,
	.proc_release = reader_release,
};

/* A control that answers: the answer is kept in the open file. */

struct proc_dialogue {
	struct mutex lock;	/* of the answer: one request at a time */
	struct nvdebug_leases leases;
	bool answered;
	struct seq_buf answer;
	char text[SZ_4K];
};

static int dialogue_open(struct inode *inode, struct file *file)
{
	const struct proc_file *node = pde_data(inode);
	struct proc_dialogue *d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!d)
		return -ENOMEM;
	ret = nvdebug_leases_init(&d->leases, &node->device->gpu);
	if (ret) {
		kfree(d);
		return ret;
	}
	mutex_init(&d->lock);
	file->private_data = d;
	return 0;
}

static int dialogue_release(struct inode *inode, struct file *file)
{
	const struct proc_file *node = pde_data(inode);
	struct proc_dialogue *d = file->private_data;

	nvdebug_leases_end(&d->leases, &node->device->gpu);
	mutex_destroy(&d->lock);
	kfree(d);
	return 0;
}

/* A request resets the file position, to read its answer. */
static ssize_t dialogue_write(struct file *file, const char __user *buf,
			      size_t count, loff_t *ppos)
{
	struct proc_dialogue *d = file->private_data;
	ssize_t ret;

	if (mutex_lock_killable(&d->lock))
		return -EINTR;
	seq_buf_init(&d->answer, d->text, sizeof(d->text));
	ret = request_write(file, buf, count, &d->leases, &d->answer);
	d->answered = ret >= 0;
	*ppos = 0;
	mutex_unlock(&d->lock);
	return ret;
}

static ssize_t dialogue_read(struct file *file, char __user *buf, size_t count,
			     loff_t *ppos)
{
	struct proc_dialogue *d = file->private_data;
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

static const struct proc_ops *proc_file_ops(const struct proc_file *node)
{
	if (!node->control)
		return &reader_proc_ops;
	if (node->control->answers)
		return &dialogue_proc_ops;
	return node->view ? &reader_control_proc_ops : &control_proc_ops;
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

/* Created last: if it exists, all files do. */
static int create_info(struct nvdebug_device *device)
{
	static const struct proc_file like = { .view = &nvdebug_info_view };

	return create_file(device, "info", &like);
}

/*
 * Check for an existing entry, for which proc_mkdir() would print a kernel
 * warning.
 */
static int proc_check_name(const char *name)
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
	return proc_check_name("gpu0");
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
	/* long operations in progress should stop now */
	WRITE_ONCE(device->gone, true);
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
	ret = proc_check_name(name);
	if (ret)
		return ret;

	device->proc = kzalloc(sizeof(*device->proc), GFP_KERNEL);
	if (!device->proc)
		return -ENOMEM;
	device->proc->dir = proc_mkdir(name, NULL);
	if (!device->proc->dir) {
		ret = -ENOMEM;
		goto err_withdraw;
	}
	/* an open of the first file must not identify the GPU meanwhile */
	mutex_lock(&device->identity);
	ret = create_files(device);
	if (!ret)
		ret = create_info(device);
	mutex_unlock(&device->identity);
	if (ret)
		goto err_withdraw;
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

err_withdraw:
	proc_withdraw(device);
	return ret;
}

/*
 * Create the other files of a GPU that was identified late. Called once, from
 * the open of info.
 */
static void create_rest(struct nvdebug_device *device)
{
	if (create_files(device))
		dev_warn(device->dev, "no memory for all of /proc/gpu%u\n",
			 device->number);
	else
		dev_info(device->dev, "%s is awake: /proc/gpu%u is complete\n",
			 device->gpu.chip_name, device->number);
}

const struct nvdebug_publisher nvdebug_proc_publisher = {
	.publish = proc_publish,
	.withdraw = proc_withdraw,
};
