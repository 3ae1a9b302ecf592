# SPDX-License-Identifier: MIT
"""What the tags of the series say that they are, written by make describe, from the tags of the probes."""

TEXTS = {   # by series and data source
    "ps_cputime": {
        "user": "CPU time, user: split from system time as in /proc.",
        "syst": "CPU time, system: split from user time as in /proc.",
    },
    "gauge-cpu_percent": {
        "value": "CPU: user and system time together.",
    },
    "delay_rate-delay-cpu": {
        "value": "Run-queue wait: time in which threads were ready and waited for a CPU.",
    },
    "contextswitch-voluntary": {
        "value": "Context switches, voluntary: the thread had to wait for something.",
    },
    "contextswitch-involuntary": {
        "value": "Context switches, involuntary: another thread got the CPU.",
    },
    "ps_pagefaults": {
        "minflt": "Page faults, minor: resolved without a disk.",
        "majflt": "Page faults, major: resolved by reading from a disk.",
    },
    "io_octets": {
        "rx": "Read by calls: from files, sockets, pipes and all else.",
        "tx": "Written by calls: to files, sockets, pipes and all else.",
    },
    "io_ops": {
        "read": "Read calls: read and similar calls, on any descriptor.",
        "write": "Write calls: write and similar calls, on any descriptor.",
    },
    "disk_octets": {
        "read": "Read from disk: bytes that storage had to read.",
        "write": "Written to disk: bytes that storage will have to write.",
    },
    "total_events-processes_started": {
        "value": "Processes started: by fork, or moved here from another service.",
    },
    "total_events-processes_ended": {
        "value": "Processes ended: exited, or moved to another service.",
    },
    "ps_count": {
        "processes": "Processes: at the reading, without zombies.",
        "threads": "Threads: at the reading.",
    },
    "ps_rss": {
        "value": "Resident memory: at the reading; a shared page counts for each process.",
    },
    "ps_rss-peak": {
        "value": "Highest resident memory: within the interval, by the kernel's high-water marks.",
    },
    "ps_vm": {
        "value": "Virtual size: address space at the reading.",
    },
    "swap": {
        "value": "Swapped out: at the reading.",
    },
    "total_requests-upstream-*": {
        "value": "Requests to an upstream: as a client, by its address.",
    },
    "errors-upstream-*": {
        "value": "Errors of an upstream: requests without a response, and connections that it did not accept.",
    },
    "gauge-requests_in_progress-upstream-*": {
        "value": "Requests at an upstream: sent and not yet answered, average of the interval.",
    },
    "latency-upstream-*": {
        "value": "Response time of an upstream: from the first send to the last receive.",
    },
    "total_requests-*": {
        "value": "Requests by class: by the class of the response, from Response lines.",
    },
    "latency-service-*": {
        "value": "Service time by class: from the first receive to the last send.",
    },
    "percent-response-*": {
        "value": "Share of a class: in all requests of the service.",
    },
    "total_requests": {
        "value": "Requests: each is what a client sends, and the response to it.",
    },
    "total_requests-streams": {
        "value": "Streams: exchanges that last longer than stream_after with pauses; they have no latency.",
    },
    "total_requests-full_duplex": {
        "value": "Full-duplex turns: on connections where both sides send at any time; not requests.",
    },
    "total_requests-acknowledgements": {
        "value": "Acknowledgements: of messages that the server sent unasked; not requests.",
    },
    "if_octets": {
        "rx": "Received: on sockets that the service has accepted or bound.",
        "tx": "Sent: on sockets that the service has accepted or bound.",
    },
    "gauge-receive_gap": {
        "value": "Gap between receives: on all connections as one trace; frequency is receives per second.",
    },
    "gauge-send_gap": {
        "value": "Gap between sends: on all connections as one trace; frequency is sends per second.",
    },
    "latency-wait": {
        "value": "Wait in the socket buffer: from the arrival of data to its first receive.",
    },
    "latency-service_first": {
        "value": "Service time, to the first send: from the first receive.",
    },
    "latency-service": {
        "value": "Service time, to the last send: from the first receive.",
    },
    "latency-response": {
        "value": "Response time: from the arrival of data to the last send.",
    },
    "gauge-requests_in_progress": {
        "value": "Requests in progress: between first receive and last send, average of the interval.",
    },
    "gauge-requests_waiting": {
        "value": "Requests waiting: in the socket, before the first receive, average of the interval.",
    },
    "total_connections-unread": {
        "value": "Connections not inspected: unreadable, or HTTP/2 inside TLS; turns are counted instead of requests.",
    },
    "gauge-send_wait": {
        "value": "Wait in the send buffer: from the last send until everything has gone out, average of all requests.",
    },
    "total_connections-tls_handshakes": {
        "value": "TLS handshakes: completed by clients.",
    },
    "gauge-tls_handshake": {
        "value": "TLS handshake: from its first bytes to its end, average of the interval.",
    },
    "gauge-requests_oldest": {
        "value": "Oldest request: age of the oldest request that waits or is in progress.",
    },
    "percent-slack": {
        "value": "Slack: remaining capacity, the smaller of slack of threads and of CPUs; 0 means saturated.",
    },
    "percent-slack_threads": {
        "value": "Slack, threads: share of time in which the serving threads were free.",
    },
    "percent-slack_cpus": {
        "value": "Slack, CPUs: share of CPU time that the serving threads could still use.",
    },
    "gauge-request_cpu": {
        "value": "CPU time per request: CPU time of the service divided by its requests.",
    },
    "gauge-request_capacity": {
        "value": "Capacity: request rate at which the CPUs of the service would be fully used.",
    },
    "total_requests-client": {
        "value": "Requests as a client: on sockets that the service has connected.",
    },
    "if_octets-client": {
        "rx": "Received as a client: on sockets that the service has connected.",
        "tx": "Sent as a client: on sockets that the service has connected.",
    },
    "latency-client_first": {
        "value": "Response time as a client, first: from the first send to the first receive.",
    },
    "latency-client": {
        "value": "Response time as a client: from the first send to the last receive.",
    },
    "total_events-listen_drops": {
        "value": "Listen drops: new connections dropped, mostly because the accept queue is full.",
    },
    "delay_rate-delay-memory": {
        "value": "Blocked by memory: page faults and reclaim of all threads, by samples.",
    },
    "delay_rate-delay-lock": {
        "value": "Blocked by locks: futexes and file locks of all threads, by samples.",
    },
    "delay_rate-delay-timed_wait": {
        "value": "Blocked in futexes with a timeout: of all threads, by samples.",
    },
    "delay_rate-delay-upstream": {
        "value": "Waiting for other services: on connections of all threads, by samples.",
    },
    "delay_rate-delay-client": {
        "value": "Waiting for clients: with a request in hand, by samples.",
    },
    "delay_rate-delay-pipe": {
        "value": "Waiting for pipes: of all threads, by samples.",
    },
    "delay_rate-delay-child": {
        "value": "Waiting for child processes: of all threads, by samples.",
    },
    "delay_rate-delay-event": {
        "value": "Waiting for events: of all threads, by samples.",
    },
    "delay_rate-delay-sleep": {
        "value": "Asleep for a time: of all threads, by samples.",
    },
    "delay_rate-delay-stopped": {
        "value": "Stopped: of all threads, by samples.",
    },
    "delay_rate-delay-other": {
        "value": "Other waits: of all threads, by samples.",
    },
    "delay_rate-syscall-*": {
        "value": "Asleep in a system call: of all threads, by call, by samples.",
    },
    "delay_rate-request_syscall-*": {
        "value": "Requests asleep in a system call: of threads with a request in hand, by call, by samples.",
    },
    "latency-in_cpu": {
        "value": "On a CPU: part of a request's mean response time.",
    },
    "latency-in_runqueue": {
        "value": "Run queue: waiting for a CPU, also to be received, part of a request's mean response time.",
    },
    "latency-in_disk": {
        "value": "Disk: blocked by block I/O, part of a request's mean response time.",
    },
    "latency-in_memory": {
        "value": "Memory: blocked by page faults and reclaim, part of a request's mean response time.",
    },
    "latency-in_lock": {
        "value": "Lock: futexes, file locks, latches of other processes, part of a request's mean response time.",
    },
    "latency-in_timed_wait": {
        "value": "Timed wait: a futex with a timeout, part of a request's mean response time.",
    },
    "latency-in_upstream": {
        "value": "Upstream: waiting for another service, part of a request's mean response time.",
    },
    "latency-in_client": {
        "value": "Client: waiting for the rest of the request, or for room to send the response, part of a request's mean response time.",
    },
    "latency-in_pipe": {
        "value": "Pipe: waiting for another process, part of a request's mean response time.",
    },
    "latency-in_child": {
        "value": "Child: waiting for a child process, part of a request's mean response time.",
    },
    "latency-in_event": {
        "value": "Event: eventfd, inotify, signals, queues, part of a request's mean response time.",
    },
    "latency-in_sleep": {
        "value": "Sleep: for a time, part of a request's mean response time.",
    },
    "latency-in_stopped": {
        "value": "Stopped: by a signal or the freezer, part of a request's mean response time.",
    },
    "latency-in_other": {
        "value": "Other waits: anything else, part of a request's mean response time.",
    },
    "latency-in_socket": {
        "value": "Socket: waiting to be received, but not for a CPU, part of a request's mean response time.",
    },
    "latency-in_queue": {
        "value": "Queue: within the service, whose threads are busy, part of a request's mean response time.",
    },
    "latency-in_async": {
        "value": "Asynchronous: no thread has it in hand, part of a request's mean response time.",
    },
    "gauge-request_samples": {
        "value": "Samples of requests: from which the parts of the mean response time are computed.",
    },
    "percent-slow_cpu": {
        "value": "Slow requests on a CPU: share of the time of those past the 95th percentile.",
    },
    "percent-slow_runqueue": {
        "value": "Slow requests in a run queue: share of the time of those past the 95th percentile.",
    },
    "percent-slow_disk": {
        "value": "Slow requests, disk: share of the time of those past the 95th percentile.",
    },
    "percent-slow_memory": {
        "value": "Slow requests, memory: share of the time of those past the 95th percentile.",
    },
    "percent-slow_lock": {
        "value": "Slow requests, lock: share of the time of those past the 95th percentile.",
    },
    "percent-slow_timed_wait": {
        "value": "Slow requests, timed wait: share of the time of those past the 95th percentile.",
    },
    "percent-slow_upstream": {
        "value": "Slow requests, upstream: share of the time of those past the 95th percentile.",
    },
    "percent-slow_client": {
        "value": "Slow requests, client: share of the time of those past the 95th percentile.",
    },
    "percent-slow_pipe": {
        "value": "Slow requests, pipe: share of the time of those past the 95th percentile.",
    },
    "percent-slow_child": {
        "value": "Slow requests, child: share of the time of those past the 95th percentile.",
    },
    "percent-slow_event": {
        "value": "Slow requests, event: share of the time of those past the 95th percentile.",
    },
    "percent-slow_sleep": {
        "value": "Slow requests, sleep: share of the time of those past the 95th percentile.",
    },
    "percent-slow_stopped": {
        "value": "Slow requests, stopped: share of the time of those past the 95th percentile.",
    },
    "percent-slow_other": {
        "value": "Slow requests, other waits: share of the time of those past the 95th percentile.",
    },
    "delay_rate-delay-blkio": {
        "value": "Blocked by disks: block I/O of all threads, by samples.",
    },
    "delay_rate-upstream-*": {
        "value": "Waiting for another service: on its connections, by address, by samples.",
    },
    "disk_ops-completed": {
        "read": "Reads: completed by the device.",
        "write": "Writes: completed by the device.",
    },
    "disk_octets-completed": {
        "read": "Read: from the device.",
        "write": "Written: to the device.",
    },
    "total_operations-discard": {
        "value": "Discards: of blocks that are no longer in use.",
    },
    "total_bytes-discard": {
        "value": "Discarded: bytes no longer in use.",
    },
    "total_operations-flush": {
        "value": "Flushes: of the device's cache, as for fsync.",
    },
    "latency-disk_service-*": {
        "value": "Time in service: from issue to end.",
    },
    "latency-disk_queued-*": {
        "value": "Time queued: from the start of a request until it is issued to the device.",
    },
    "bytes-disk_request-*": {
        "value": "Size of a request: when it ends.",
    },
    "errors-disk-*": {
        "value": "Failed requests: reported by the device.",
    },
    "disk_merged": {
        "read": "Reads merged: with one that was queued.",
        "write": "Writes merged: with one that was queued.",
    },
    "pending_operations": {
        "value": "Requests in flight: queued or in service.",
    },
    "disk_io_time": {
        "io_time": "I/O time: with at least one request in flight; 1000 per second means always busy.",
        "weighted_io_time": "Weighted I/O time: summed over all requests in flight.",
    },
    "disk_ops-submitted": {
        "read": "Reads submitted: to block devices.",
        "write": "Writes submitted: to block devices.",
    },
    "disk_octets-submitted": {
        "read": "Read by submitted requests: from block devices.",
        "write": "Written by submitted requests: to block devices.",
    },
    "latency-disk_read": {
        "value": "Time of a submitted read: from the start of a request to its end.",
    },
    "latency-disk_write": {
        "value": "Time of a submitted write: from the start of a request to its end.",
    },
    "disk_ops-submitted-*": {
        "read": "Reads submitted: to block devices.",
        "write": "Writes submitted: to block devices.",
    },
    "disk_octets-submitted-*": {
        "read": "Read by submitted requests: from block devices.",
        "write": "Written by submitted requests: to block devices.",
    },
    "latency-disk_read-*": {
        "value": "Time of a submitted read: from the start of a request to its end.",
    },
    "latency-disk_write-*": {
        "value": "Time of a submitted write: from the start of a request to its end.",
    },
    "total_connections-connected": {
        "value": "Connections opened: by the service, to others.",
    },
    "total_connections-accepted": {
        "value": "Connections accepted: established on sockets on which the service listens.",
    },
    "total_connections-closed": {
        "value": "Connections closed: by both sides, or aborted.",
    },
    "errors-connect": {
        "value": "Failed connects: with an error, or abandoned.",
    },
    "errors-connect_refused": {
        "value": "Refused connects: ECONNREFUSED.",
    },
    "errors-connect_timeout": {
        "value": "Connects that timed out: ETIMEDOUT.",
    },
    "errors-connect_unreachable": {
        "value": "Connects to unreachable hosts: ENETUNREACH and EHOSTUNREACH.",
    },
    "errors-connect_abandoned": {
        "value": "Abandoned connects: closed by the program after 50 ms or more.",
    },
    "if_octets-tcp": {
        "rx": "Received by TCP: on all connections.",
        "tx": "Sent by TCP: on all connections, retransmits left out.",
    },
    "total_events-retransmits": {
        "value": "Retransmits: segments sent again.",
    },
    "percent-retransmitted": {
        "value": "Retransmitted share: bytes sent again, of all bytes sent.",
    },
    "total_events-resets_received": {
        "value": "Resets received: on established connections.",
    },
    "total_events-resets_sent": {
        "value": "Resets sent: by the service's sockets.",
    },
    "total_events-connection_timeouts": {
        "value": "Connections that timed out: the other side no longer responds.",
    },
    "current_connections": {
        "value": "Open connections: held by the service; if they only grow, it leaks them.",
    },
    "current_connections-close_wait": {
        "value": "Connections in CLOSE_WAIT: closed by the other side, but not by the service.",
    },
    "current_connections-unaccepted": {
        "value": "Unaccepted connections: established, waiting for accept.",
    },
    "percent-accept_queue": {
        "value": "Accept queue: fill level of the fullest listening socket.",
    },
    "latency-connect": {
        "value": "Connect latency: from the first packet until the connection is established.",
    },
    "latency-rtt": {
        "value": "Round-trip time: smoothed, of connections that send.",
    },
    "duration-connection": {
        "seconds": "Connection lifetime: from established until closed by both sides.",
    },
    "bytes-connection_received": {
        "value": "Bytes received per connection: when it ends.",
    },
    "bytes-connection_sent": {
        "value": "Bytes sent per connection: when it ends, retransmits left out.",
    },
    "protocol_counter-ActiveOpens": {
        "value": "Connects: of the machine, ActiveOpens.",
    },
    "protocol_counter-PassiveOpens": {
        "value": "Connections accepted: of the machine, PassiveOpens.",
    },
    "protocol_counter-AttemptFails": {
        "value": "Failed connects: of the machine, AttemptFails.",
    },
    "protocol_counter-EstabResets": {
        "value": "Connections reset: of the machine, EstabResets.",
    },
    "protocol_counter-OutRsts": {
        "value": "Resets sent: of the machine, OutRsts.",
    },
    "protocol_counter-RetransSegs": {
        "value": "Retransmits: of the machine, RetransSegs.",
    },
    "protocol_counter-OutSegs": {
        "value": "Segments sent: of the machine, OutSegs.",
    },
    "tcp_connections-established": {
        "value": "Open connections: of the machine, CurrEstab.",
    },
    "protocol_counter-ListenOverflows": {
        "value": "Accept queue full: of the machine, ListenOverflows.",
    },
    "protocol_counter-ListenDrops": {
        "value": "Listen drops: of the machine, ListenDrops.",
    },
    "protocol_counter-TCPTimeouts": {
        "value": "Retransmission timeouts: of the machine, TCPTimeouts.",
    },
    "fork_rate": {
        "value": "Forks: processes created by the service.",
    },
    "total_events-threads_created": {
        "value": "Threads created: in addition to the first of each process.",
    },
    "total_events-execs": {
        "value": "Programs executed: counted for the service after the exec.",
    },
    "percent-short_lived": {
        "value": "Short-lived: share of the ended processes that lived for less than short_lived_ns.",
    },
    "total_events-exits": {
        "value": "Processes that ended: by exit or by a signal.",
    },
    "total_events-exits_failed": {
        "value": "Processes that failed: exited with a code other than 0.",
    },
    "total_events-exits_by_signal": {
        "value": "Processes ended by a signal: killed or crashed.",
    },
    "total_events-signals_sent": {
        "value": "Signals sent: by kill and similar calls, to any process.",
    },
    "total_events-signals_received": {
        "value": "Signals received: from processes and the kernel, ignored ones left out.",
    },
    "duration-lifetime": {
        "seconds": "Lifetime of a process: from its fork to the end of its last thread.",
    },
    "total_events-signal_received-*": {
        "value": "Signals received: by name.",
    },
    "total_events-signal_sent-*": {
        "value": "Signals sent: by name.",
    },
    "total_events-exit_by_signal-*": {
        "value": "Processes ended by a signal: by name of the signal.",
    },
    "latency-runqueue": {
        "value": "Run-queue latency: how long a thread waits for a CPU.",
    },
    "duration-on_cpu": {
        "seconds": "Time on a CPU: from the start of a thread's turn until it leaves the CPU.",
    },
    "total_events-cpu_migrations": {
        "value": "CPU migrations: of threads, from one CPU to another.",
    },
    "latency-runqueue-*": {
        "value": "Run-queue latency on a CPU: of threads that were woken, or had to leave one.",
    },
    "latency-lock_wait": {
        "value": "Lock wait: blocked on a futex as mutexes use it (FUTEX_WAIT, FUTEX_LOCK_PI).",
    },
    "latency-condition_wait": {
        "value": "Condition wait: blocked on a futex as condition variables, semaphores and Java's locks use it (FUTEX_WAIT_BITSET).",
    },
    "total_events-profile_samples": {
        "value": "Profile samples: of threads on a CPU, hz per second of CPU time.",
    },
    "total_operations-open": {
        "value": "Opens: calls that open a file, failed ones included.",
    },
    "errors-open": {
        "value": "Opens that failed: for any reason.",
    },
    "total_operations-create": {
        "value": "Files created: by opens of files that did not exist.",
    },
    "total_operations-delete": {
        "value": "Files deleted: names removed.",
    },
    "total_operations-rename": {
        "value": "Files renamed: files and directories.",
    },
    "latency-file": {
        "value": "File latency: of opens, reads, writes, syncs, deletes and renames.",
    },
    "total_operations-slow-*": {
        "value": "Slow file operations: longer than slow_ns, by operation and file system.",
    },
    "total_time_in_ms-slow-*": {
        "value": "Time in slow file operations: by operation and file system.",
    },
    "latency-operation-*": {
        "value": "File latency: by operation and file system.",
    },
    "cache_result-page_miss": {
        "value": "Page cache misses: pages brought in by reads, read-ahead included.",
    },
    "cache_result-page_miss_mapped": {
        "value": "Page cache misses of mappings: pages brought in by page faults.",
    },
    "cache_operation-page_new": {
        "value": "New pages: brought in by writes.",
    },
    "cache_operation-page_dirtied": {
        "value": "Dirtied pages: to be written to disk later.",
    },
    "cache_result-page_hit": {
        "value": "Page cache hits: pages that were read and already in memory.",
    },
    "cache_ratio-page_hit": {
        "value": "Page cache hit ratio: share of hits in the pages read.",
    },
    "cache_result-page_unused": {
        "value": "Read-ahead unused: pages brought in and not read by the next reading but one.",
    },
    "cache_eviction-page_reclaimed": {
        "value": "Reclaimed pages: left the page cache to make room.",
    },
    "cache_eviction-page_dropped": {
        "value": "Dropped pages: removed because the file was truncated, deleted or dropped on request.",
    },
    "vmpage_action-refault_file": {
        "value": "Refaults: reclaimed pages of files that were read again.",
    },
    "vmpage_action-dirtied": {
        "value": "Dirtied pages: of the whole machine, any kind of file.",
    },
    "vmpage_action-written": {
        "value": "Written pages: of the whole machine, to disk.",
    },
    "total_operations-brk": {
        "value": "Brk: the heap grows or shrinks, or its end is asked for.",
    },
    "total_operations-mmap": {
        "value": "Mmap: calls, successful or not.",
    },
    "total_bytes-mmap": {
        "value": "Mmap: bytes of address space that were asked for.",
    },
    "total_operations-munmap": {
        "value": "Munmap: calls, successful or not.",
    },
    "total_bytes-munmap": {
        "value": "Munmap: bytes of address space that were given back.",
    },
    "latency-reclaim": {
        "value": "Stall for reclaim: a thread frees pages before it gets its own.",
    },
    "total_operations-reclaim_direct": {
        "value": "Stalls, direct reclaim: the machine was short of memory.",
    },
    "total_operations-reclaim_cgroup": {
        "value": "Stalls, cgroup reclaim: the cgroup was at its limit.",
    },
    "vmpage_action-reclaimed": {
        "value": "Pages reclaimed: by threads that stalled.",
    },
    "total_operations-compaction": {
        "value": "Compactions: pages moved to get contiguous free memory.",
    },
    "total_time_in_ms-compaction": {
        "value": "Time in compactions: from start to end.",
    },
    "vmpage_action-alloc": {
        "value": "Pages allocated: by the service.",
    },
    "vmpage_action-free": {
        "value": "Pages freed: by the service, also those that others allocated.",
    },
    "total_operations-kmalloc": {
        "value": "Kmalloc: memory of any size for the kernel's own use.",
    },
    "total_bytes-kmalloc": {
        "value": "Kmalloc: bytes, rounded up as they are allocated.",
    },
    "total_operations-kfree": {
        "value": "Kfree: by the service, also objects that others allocated.",
    },
    "total_operations-kmem_cache_alloc": {
        "value": "Kmem_cache_alloc: objects from caches of one size.",
    },
    "total_bytes-kmem_cache_alloc": {
        "value": "Kmem_cache_alloc: bytes of these objects.",
    },
    "total_operations-kmem_cache_free": {
        "value": "Kmem_cache_free: by the service, also objects that others allocated.",
    },
    "total_events-fault_read": {
        "value": "Page faults, read: of a page that is not mapped yet.",
    },
    "total_events-fault_write": {
        "value": "Page faults, write: to a page that is not mapped yet.",
    },
    "total_events-fault_protection": {
        "value": "Page faults, protection: an access that the page does not permit, mostly copy on write.",
    },
    "total_events-fault_instruction": {
        "value": "Page faults, instruction: code that is not mapped yet.",
    },
    "total_events-fault_kernel": {
        "value": "Page faults, kernel: in memory of the process, during a system call.",
    },
    "gauge-poll": {
        "value": "Time of a poll: from call to return.",
    },
    "percent-poll_idle": {
        "value": "Time in polls: share of the polling threads' time.",
    },
    "total_events-oom_kills": {
        "value": "OOM kills: processes ended because memory ran out.",
    },
    "gauge-cpu_limit_percent": {
        "value": "CPU limit: quota divided by period, from cpu.max.",
    },
    "total_events-cpu_periods": {
        "value": "CPU periods: in which a task wanted to run, nr_periods of cpu.stat.",
    },
    "total_events-cpu_periods_throttled": {
        "value": "CPU periods, throttled: in which the quota was used up, nr_throttled of cpu.stat.",
    },
    "percent-cpu_periods_throttled": {
        "value": "Throttled share: periods in which the quota was used up, of all periods.",
    },
    "total_time_in_ms-cpu_throttled": {
        "value": "CPU time, throttled: of all CPUs, throttled_usec of cpu.stat.",
    },
    "memory-limit": {
        "value": "Memory limit: from memory.max.",
    },
    "total_events-cgroup_oom_kills": {
        "value": "OOM kills in the cgroup: oom_kill of memory.events.",
    },
    "percent-pressure_cpu_some": {
        "value": "CPU pressure, some: time in which a task waited for a CPU.",
    },
    "percent-pressure_cpu_full": {
        "value": "CPU pressure, full: time in which all tasks waited, for example at a CPU limit.",
    },
    "percent-pressure_io_some": {
        "value": "I/O pressure, some: time in which a task waited for a disk.",
    },
    "percent-pressure_io_full": {
        "value": "I/O pressure, full: time in which all tasks waited.",
    },
    "percent-pressure_memory_some": {
        "value": "Memory pressure, some: time in which a task waited for memory.",
    },
    "percent-pressure_memory_full": {
        "value": "Memory pressure, full: time in which all tasks waited.",
    },
    "irq-softirq-*": {
        "value": "Software interrupts: of each kind.",
    },
    "total_time_in_ms-softirq-*": {
        "value": "Time in software interrupts: from start to end.",
    },
    "duration-softirq-*": {
        "seconds": "Duration of a software interrupt: from start to end.",
    },
    "latency-softirq-*": {
        "value": "Latency of a software interrupt: from its raise to its start.",
    },
    "irq-hardirq-*": {
        "value": "Hardware interrupts: of each line.",
    },
    "total_time_in_ms-hardirq-*": {
        "value": "Time in hardware interrupts: from start to end of their handlers.",
    },
    "duration-hardirq-*": {
        "seconds": "Duration of a hardware interrupt: from start to end of its handler.",
    },
    "cpufreq": {
        "value": "CPU frequency: at the reading, from scaling_cur_freq.",
    },
    "total_operations-syscall-*": {
        "value": "System calls: by name, when they return.",
    },
    "total_time_in_ms-syscall-*": {
        "value": "Time in system calls: from call to return.",
    },
    "errors-syscall-*": {
        "value": "System calls that failed: by name.",
    },
    "latency-syscall-*": {
        "value": "Latency of system calls: by name, from call to return.",
    },
    "total_operations-function-*": {
        "value": "Calls: of functions, by name.",
    },
    "errors-function-*": {
        "value": "Calls that failed: by their return value.",
    },
    "total_time_in_ms-function-*": {
        "value": "Time in functions: from call to return.",
    },
    "derive-argument-*": {
        "value": "Sum of an argument: or of the return value.",
    },
    "count-unreturned-*": {
        "value": "Calls not seen to return: still running, or left by an exception, longjmp(), a tail call or the end of the thread.",
    },
    "latency-function-*": {
        "value": "Latency of functions: from call to return.",
    },
    "gauge-argument-*": {
        "value": "An argument: its value, or the return value.",
    },
}
