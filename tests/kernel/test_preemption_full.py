#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_preemption, in a kernel that preempts itself wherever it can."""

import test_preemption

BOOT = "preempt=full"

if __name__ == "__main__":
    test_preemption.main()
