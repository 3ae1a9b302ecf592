/* SPDX-License-Identifier: MIT */
#ifndef EBPF_WORKLOAD_H
#define EBPF_WORKLOAD_H

/* What creates containers again under another generated name. Containers of one workload with the same name are
 * replicas: one service. */
enum workload {
	WORKLOAD_NONE, /* each container is a service of its own */
	WORKLOAD_POD,  /* whose name is not generated: of a StatefulSet, static, or made by hand */
	WORKLOAD_DEPLOYMENT,
	WORKLOAD_DAEMONSET, /* or another owner that generates names in the same way */
	WORKLOAD_JOB,
	WORKLOAD_COMPOSE,
	WORKLOAD_ECS,
	WORKLOAD_NOMAD,
	WORKLOAD_SWARM,
};

#endif
