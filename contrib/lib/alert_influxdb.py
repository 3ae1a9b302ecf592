# SPDX-License-Identifier: MIT
"""The alerts as queries."""

INFLUXDB = {
    "EbpfSaturated": "none: TODO",
    "EbpfSaturatedSoon": "none: TODO",
    "EbpfSlowerThanYesterday": "none: TODO",
    "EbpfErrors": "none: TODO",
    "EbpfStuck": "none: TODO",
    "EbpfConnectionLeak": "none: TODO",
    "EbpfCpuThrottled": "none: TODO",
    "EbpfMemoryLimitNear": "none: TODO",
    "EbpfOomKill": "none: TODO",
    "EbpfDiskSlow": "none: TODO",
    "EbpfUpstreamSlow": "none: TODO",
    "EbpfBlind": "none: TODO",
}
