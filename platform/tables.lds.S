/* SPDX-License-Identifier: Apache-2.0 */
/* The table of components (core/include/component.h), in .rodata of every linker script: what
 * COMPONENT() has put into the section `components`. */
__start_components = .;
KEEP(*(components))
__stop_components = .;
/* The classes of functions of the component `virtio` (VIRTIO_CLASS in virtio.h). */
__start_virtio_classes = .;
KEEP(*(virtio_classes))
__stop_virtio_classes = .;
