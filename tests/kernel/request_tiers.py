# SPDX-License-Identifier: MIT
"""The sets of hooks of the request probe, see bpf/request.bpf.c."""

TIERS = (1, 2, 3, 4, 5)
IN_SOCKET = (1, 2, 3)         # keep what they know of a socket in it
KNOWS_ARRIVAL = (1, 2, 3, 4)  # know when a request has come
# What Debian's kernels are known to have; of any other one at least one.
OFFERED = {"6.1": {3, 4, 5}, "6.12": {1, 2, 5}}
