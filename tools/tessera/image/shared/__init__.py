# SPDX-License-Identifier: Apache-2.0
"""What the image builder knows of the component `shared`, the devices that several VMs share.

devices   checks the devices, and writes their section of the image
display, uart check what these devices have, and give their settings
describe  describes the devices in guests' device trees and in system.json
timing    the longest times of requests
shared_image the binary layout of the section, and limits of the hardware
"""
