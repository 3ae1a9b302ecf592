# SPDX-License-Identifier: MIT
# What probes include, ours and others'; the engine reads the *.h among them, too. Installed with their folders.
bpfincludedir = $(includedir)/collectd-ebpf
bpfinclude_HEADERS = \
	bpf/lib/asleep.bpf.h \
	bpf/lib/attached.bpf.h \
	bpf/lib/connection.bpf.h \
	bpf/lib/cpu_idle.bpf.h \
	bpf/lib/cpu_idle.h \
	bpf/lib/cpus.bpf.h \
	bpf/lib/cputime.h \
	bpf/lib/descriptor.bpf.h \
	bpf/lib/endpoint.h \
	bpf/lib/event.bpf.h \
	bpf/lib/file_use.bpf.h \
	bpf/lib/function.h \
	bpf/lib/function_row.bpf.h \
	bpf/lib/gap.bpf.h \
	bpf/lib/go_call.bpf.h \
	bpf/lib/hist.h \
	bpf/lib/holders.bpf.h \
	bpf/lib/kernel.bpf.h \
	bpf/lib/map.bpf.h \
	bpf/lib/memory.bpf.h \
	bpf/lib/metric.bpf.h \
	bpf/lib/number.bpf.h \
	bpf/lib/open_call.bpf.h \
	bpf/lib/opened.bpf.h \
	bpf/lib/preempt.bpf.h \
	bpf/lib/refused.bpf.h \
	bpf/lib/run_counter.bpf.h \
	bpf/lib/run_counter.h \
	bpf/lib/sample.bpf.h \
	bpf/lib/span.bpf.h \
	bpf/lib/stack.bpf.h \
	bpf/lib/stack.h \
	bpf/lib/storage.bpf.h \
	bpf/lib/task.bpf.h \
	bpf/lib/walk.bpf.h \
	bpf/lib/walk.h
kernelincludedir = $(bpfincludedir)/kernel
kernelinclude_HEADERS = \
	bpf/lib/kernel/block.bpf.h \
	bpf/lib/kernel/cgroup.bpf.h \
	bpf/lib/kernel/file.bpf.h \
	bpf/lib/kernel/irq.bpf.h \
	bpf/lib/kernel/mm.bpf.h \
	bpf/lib/kernel/net.bpf.h \
	bpf/lib/kernel/pagecache.bpf.h \
	bpf/lib/kernel/sched.bpf.h \
	bpf/lib/kernel/syscall.bpf.h
requestsincludedir = $(bpfincludedir)/requests
requestsinclude_HEADERS = \
	bpf/lib/requests/awaited.bpf.h \
	bpf/lib/requests/blocked.bpf.h \
	bpf/lib/requests/buffer.bpf.h \
	bpf/lib/requests/client.bpf.h \
	bpf/lib/requests/conversation.bpf.h \
	bpf/lib/requests/datagram.bpf.h \
	bpf/lib/requests/delay_row.bpf.h \
	bpf/lib/requests/exchange.bpf.h \
	bpf/lib/requests/follow.bpf.h \
	bpf/lib/requests/http2.bpf.h \
	bpf/lib/requests/http2_frame.bpf.h \
	bpf/lib/requests/http2_response.bpf.h \
	bpf/lib/requests/http2_stream.bpf.h \
	bpf/lib/requests/in_hand.bpf.h \
	bpf/lib/requests/inspection.bpf.h \
	bpf/lib/requests/length.bpf.h \
	bpf/lib/requests/listener.bpf.h \
	bpf/lib/requests/load.bpf.h \
	bpf/lib/requests/progress.bpf.h \
	bpf/lib/requests/protocol.bpf.h \
	bpf/lib/requests/request.bpf.h \
	bpf/lib/requests/request_address.bpf.h \
	bpf/lib/requests/response.bpf.h \
	bpf/lib/requests/response.h \
	bpf/lib/requests/serving.bpf.h \
	bpf/lib/requests/serving_socket.bpf.h \
	bpf/lib/requests/serving_thread.bpf.h \
	bpf/lib/requests/slack.bpf.h \
	bpf/lib/requests/socket.bpf.h \
	bpf/lib/requests/split.bpf.h \
	bpf/lib/requests/tail.bpf.h \
	bpf/lib/requests/thread_delay.bpf.h \
	bpf/lib/requests/timer.bpf.h \
	bpf/lib/requests/tls.bpf.h \
	bpf/lib/requests/tls_handshake.bpf.h \
	bpf/lib/requests/tls_hello.bpf.h \
	bpf/lib/requests/tls_record.bpf.h \
	bpf/lib/requests/unasked.bpf.h \
	bpf/lib/requests/unsent.bpf.h \
	bpf/lib/requests/upstream.bpf.h \
	bpf/lib/requests/upstream_name.bpf.h \
	bpf/lib/requests/woken.h
servicesincludedir = $(bpfincludedir)/services
servicesinclude_HEADERS = \
	bpf/lib/services/account.bpf.h \
	bpf/lib/services/group.h \
	bpf/lib/services/group_connection.h \
	bpf/lib/services/group_name.h \
	bpf/lib/services/process_slot.bpf.h \
	bpf/lib/services/service.bpf.h \
	bpf/lib/services/service.h \
	bpf/lib/services/service_configured.bpf.h \
	bpf/lib/services/service_cpu.bpf.h \
	bpf/lib/services/service_group.bpf.h \
	bpf/lib/services/service_request.bpf.h \
	bpf/lib/services/service_response.bpf.h \
	bpf/lib/services/service_slot.bpf.h \
	bpf/lib/services/slot.bpf.h \
	bpf/lib/services/slot.h \
	bpf/lib/services/usage.bpf.h
