# SPDX-License-Identifier: MIT
"""Why a panel may be without data in the tests: {pattern of its title: the reason}"""

MACHINE = {
    "*CPU frequency*": "the machine does not tell the frequency of its CPUs",
    "*, Disks, Time of a submitted read*": "the kernel itself reads nothing from disks",
}
RECORDED = MACHINE
LIVE = MACHINE
