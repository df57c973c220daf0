-- SPDX-License-Identifier: MIT OR GPL-2.0
-- A job_submit.lua for Slurm's controller, beside slurm.conf (docs/slurm.md). It refuses jobs whose options are above the
-- limits of their account, partition, QOS or user, and gives each job that asks for a share the shards for it, so that
-- Slurm counts the shares on each GPU. The plugin on the node checks both again.
local limits_file = "/etc/slurm/nvdebug-limits" -- limits= of plugstack.conf; a file that is missing has no limits
local shards = 0 -- shards= of plugstack.conf, the shards of one GPU, as 100; 0: jobs get no shards
local shard = "gres:shard:" -- as Slurm 22.05 takes it; others may want gres/shard:

-- Returns the values of the plugin's options by their names: {["share"] = "30%"}.
local function options_of(job)
	local options = {}
	for _, variable in pairs(job.spank_job_env or {}) do
		local name, value = variable:match("^_SLURM_SPANK_OPTION_nvdebug_gpu_([%w_]+)=(.*)$")
		if name then
			options[name:gsub("_", "-")] = value
		end
	end
	return options
end

local function part_of(text)
	return tonumber(text and text:match("^([%d.]+)%%$"))
end

-- Returns the conditions and limits of the first line that fits: share in per cent, and a set of options.
local function limit_of(identity)
	local file = io.open(limits_file)
	if not file then
		return nil
	end
	local found
	for line in file:lines() do
		local limit, fits, any = { conditions = {} }, true, false
		for name, value in line:gsub("#.*", ""):gmatch("(%w+)=(%S*)") do
			any = true
			if name == "share" then
				limit.share = part_of(value)
			elseif name == "allow" then
				limit.allow = {}
				for option in value:gmatch("[^,]+") do
					limit.allow[option] = true
				end
			else
				fits = fits and (identity[name] == value or (name == "user" and identity.uid == value))
				table.insert(limit.conditions, name .. "=" .. value)
			end
		end
		if any and fits then
			found = limit
			break
		end
	end
	file:close()
	return found
end

-- Returns a sentence if the options are above the limit.
local function above(options, identity)
	local limit = limit_of(identity)
	if not limit then
		return nil
	end
	local origin = #limit.conditions > 0 and table.concat(limit.conditions, " ") or "all jobs"
	for name, value in pairs(options) do
		if limit.allow and not limit.allow[name] then
			return string.format("--gpu-%s is not allowed for %s", name, origin)
		end
		if limit.share and (name == "share" or name == "cap") and (part_of(value) or 100) > limit.share then
			return string.format("--gpu-%s=%s is more than %g%%, the most for %s", name, value, limit.share, origin)
		end
	end
	return nil
end

-- Returns the partitions that the job may go to.
local function partitions_of(job, partitions)
	if job.partition then
		return job.partition:gmatch("[^,]+")
	end
	for name, partition in pairs(partitions) do
		if partition.flag_default == 1 then
			return (name):gmatch(".+")
		end
	end
	return (""):gmatch(".+")
end

-- Returns a sentence if each of the job's partitions is too strict for it.
local function refused(job, options, partitions)
	local sentence
	for partition in partitions_of(job, partitions) do
		sentence = above(options, {
			account = job.account or job.default_account, qos = job.qos or job.default_qos, partition = partition,
			user = job.user_name, uid = tostring(job.user_id) })
		if not sentence then
			return nil
		end
	end
	return sentence
end

-- Gives the job the shards for its share or cap. Returns a sentence if they are more than a GPU has, or than the job asks for.
local function take_shards(job, options)
	local part = math.max(part_of(options["share"]) or 0, part_of(options["cap"]) or 0)
	if shards == 0 or part == 0 then
		return nil
	end
	-- A twentieth of the time goes to switching. The small number is for parts that are no binary fractions.
	local wanted = math.ceil(part * shards / 95 - 1e-6)
	local asked = job.tres_per_node or job.tres_per_job or job.tres_per_task or job.tres_per_socket
	local own = asked and tonumber(asked:match("shard[:=](%d+)"))
	if asked and not own then
		return nil -- whole GPUs
	elseif wanted > shards then
		return string.format("--gpu-share or --gpu-cap of %g%% is more than 95%%, the most beside other jobs", part)
	elseif own and own < wanted then
		return string.format("%g%% of a GPU are %d of its %d shards, and the job asks for %d", part, wanted, shards, own)
	elseif not own then
		job.tres_per_node = shard .. wanted
	end
	return nil
end

function slurm_job_submit(job, partitions, uid)
	local options = options_of(job)
	local sentence = refused(job, options, partitions) or take_shards(job, options)
	if sentence then
		slurm.log_user("nvdebug: %s", sentence)
		return slurm.ERROR
	end
	return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
	return slurm.SUCCESS
end

return slurm.SUCCESS
