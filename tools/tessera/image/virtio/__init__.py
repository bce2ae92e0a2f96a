# SPDX-License-Identifier: Apache-2.0
"""What the image builder knows of the component `virtio`, the functions on the VMs' virtual PCI buses.

functions reads and checks the functions, and writes their section of the image
hostpci   checks functions of the machine's PCI bus; pcikinds has the kinds of their properties
describe  describes the functions in guests' device trees and in system.json
virtio_image the binary layout of the section, and limits of the functions
"""
