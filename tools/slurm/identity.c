// SPDX-License-Identifier: MIT OR GPL-2.0
#include "identity.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

bool identity_ask(uint32_t id, struct identity *identity)
{
	job_info_msg_t *jobs = NULL;
	bool is_found = false;

	memset(identity, 0, sizeof(*identity));
	if (slurm_load_job(&jobs, id, SHOW_ALL) != SLURM_SUCCESS)
		return false;
	/* The number of an array's last task is that of all of its tasks. */
	for (uint32_t at = 0; at < jobs->record_count; at++) {
		const job_info_t *job = &jobs->job_array[at];
		char entries[1024];
		struct passwd entry, *user = NULL;

		if (job->job_id != id)
			continue;
		is_found = true;
		identity->uid = job->user_id;
		snprintf(identity->account, IDENTITY_SIZE, "%s",
			 job->account ? job->account : "");
		snprintf(identity->partition, IDENTITY_SIZE, "%s",
			 job->partition ? job->partition : "");
		snprintf(identity->qos, IDENTITY_SIZE, "%s",
			 job->qos ? job->qos : "");
		if (getpwuid_r(job->user_id, &entry, entries, sizeof(entries),
			       &user) == 0 &&
		    user)
			snprintf(identity->user, IDENTITY_SIZE, "%s",
				 user->pw_name);
	}
	slurm_free_job_info_msg(jobs);
	return is_found;
}
