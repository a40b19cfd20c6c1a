// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU clocks and cores: a cpufreq driver with one policy per cluster, and a hotplug callback that
 * passes online cores to the plant.
 */
#include <linux/cpu.h>
#include <linux/cpufreq.h>
#include <linux/cpuhotplug.h>
#include <linux/module.h>
#include <linux/string.h>

#include "drivers.h"
#include "fault.h"
#include "knobs.h"

/*
 * Transition latency that the driver reports to cpufreq. The simulation switches at once; a board
 * takes some milliseconds.
 */
#define TRANSITION_NS	1000000

static struct cpufreq_frequency_table table[SIM_STEPS_MAX + 1];
static enum cpuhp_state state;

static int policy_init(struct cpufreq_policy *policy)
{
	u32 cpu;

	for_each_possible_cpu(cpu)
		if (sim_knobs_cluster(cpu) == sim_knobs_cluster(policy->cpu))
			cpumask_set_cpu(cpu, policy->cpus);
	policy->freq_table = table;
	policy->cpuinfo.transition_latency = TRANSITION_NS;
	policy->cur = sim_knobs_cpu(sim_knobs_cluster(policy->cpu));
	/*
	 * A simulated job does not load the CPUs, so a governor that measures load would lower
	 * their clock. Therefore start with the governor "performance", which keeps the clock at
	 * its limit.
	 */
	if (!policy->last_governor[0])
		strscpy(policy->last_governor, "performance", CPUFREQ_NAME_LEN);
	return 0;
}

/*
 * With the callbacks online and offline, the cpufreq core keeps a policy whose CPUs are all offline,
 * instead of calling exit() and init().
 */
static int policy_online(struct cpufreq_policy *policy)
{
	return 0;
}

static int policy_offline(struct cpufreq_policy *policy)
{
	return 0;
}

static int verify(struct cpufreq_policy_data *policy)
{
	if (sim_fault(SIM_FAIL_CPUFREQ))
		return -EIO;
	return cpufreq_generic_frequency_table_verify(policy);
}

static int target_index(struct cpufreq_policy *policy, unsigned int index)
{
	sim_knobs_set_cpu(sim_knobs_cluster(policy->cpu), table[index].frequency);
	return 0;
}

static unsigned int get(unsigned int cpu)
{
	return sim_knobs_cpu(sim_knobs_cluster(cpu));
}

static struct freq_attr *attrs[] = {
	SIM_CPUFREQ_ATTRS
	NULL,
};

static struct cpufreq_driver driver = {
	.name = "jetwatt-sim",
	.flags = CPUFREQ_NEED_INITIAL_FREQ_CHECK,
	.init = policy_init,
	.online = policy_online,
	.offline = policy_offline,
	.exit = sim_cpufreq_exit,
	.verify = verify,
	.target_index = target_index,
	.get = get,
	.attr = attrs,
};

static int core_online(unsigned int cpu)
{
	if (sim_fault(SIM_FAIL_HOTPLUG))
		return -EIO;
	sim_knobs_set_core(cpu, true);
	return 0;
}

static int core_offline(unsigned int cpu)
{
	if (sim_fault(SIM_FAIL_HOTPLUG))
		return -EIO;
	sim_knobs_set_core(cpu, false);
	return 0;
}

int sim_cpu_register(void)
{
	u32 i;
	int err;

	for (i = 0; i < sim_steps.nr_cpu; i++) {
		table[i].driver_data = i;
		table[i].frequency = sim_steps.cpu_khz[i];
	}
	table[i].frequency = CPUFREQ_TABLE_END;
	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "jetwatt-sim:online", core_online,
				core_offline);
	if (err < 0)
		return err;
	state = err;
	err = cpufreq_register_driver(&driver);
	if (err)
		cpuhp_remove_state_nocalls(state);
	return err;
}

void sim_cpu_unregister(void)
{
	cpufreq_unregister_driver(&driver);
	cpuhp_remove_state_nocalls(state);
}
