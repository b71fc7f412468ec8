/* no_device.h - the remedy that messages about a system without a device name.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_NO_DEVICE_H
#define CORE_NO_DEVICE_H

#define NO_DEVICE_REMEDY                                                                           \
    "PoCL makes the CPU a device: sudo apt-get install pocl-opencl-icd on Debian and Ubuntu, "     \
    "else the package pocl"

#endif
