# SPDX-License-Identifier: Apache-2.0
"""What the image builder knows of the component `accel`, the devices of the fabric.

accelerators reads and checks the devices, and writes their section of the image
overlays  reads and checks overlays; frames reads the blocks of frames that a board keeps in a file
describe  describes the devices in guests' device trees and in system.json
accel_image the binary layout of the section, and limits of the fabric
"""
