# SPDX-License-Identifier: Apache-2.0
# Linux and U-Boot from Debian's packages. (guests-bare.mk compiles FreeRTOS and lwIP.)
PKG := $(CACHE)/pkg
INSTALLER_PACKAGE := debian-installer-13-netboot-riscv64
INSTALLER := $(PKG)/$(INSTALLER_PACKAGE)/usr/lib/debian-installer/images/13/riscv64/text/debian-installer/riscv64
# All modules of the installer's kernel. The installer itself has only those that it needs.
MODULES_PACKAGE := linux-image-6.12.107+deb13-riscv64
FLASH_MODULES := ofpart spi-nor mtdblock jffs2 spi-sifive  # the controller last: drivers of the flash and its partitions must be there
NETWORK_MODULES := virtio_net virtio_blk virtio-rng vmw_vsock_virtio_transport uio_pci_generic virtio_crypto algif_skcipher
PASSTHROUGH_MODULES := virtio_net virtio_blk nvme e1000e
DOORBELL_MODULES := uio_pci_generic
DISK_MODULES := virtio_blk crc32c_generic ext4
DEBIAN_MODULES := $(DISK_MODULES) autofs4
LINUX_GUEST := $(BUILD)/guests/linux/Image $(BUILD)/guests/linux/initramfs.cpio.gz
UBOOT_GUEST := $(BUILD)/guests/uboot/u-boot.bin
FREERTOS_KERNEL_DIR ?= $(CACHE)/freertos/FreeRTOS-Kernel

guest-linux: $(LINUX_GUEST)
guest-uboot: $(UBOOT_GUEST)

# The fetcher writes both files.
$(PKG)/$(INSTALLER_PACKAGE).json $(PKG)/busybox-static.json &: tools/fetch.py guests/packages.lock | setup
	@$(PYTHON) tools/fetch.py linux

$(PKG)/$(MODULES_PACKAGE).json: tools/fetch.py guests/packages.lock | setup
	@$(PYTHON) tools/fetch.py linux-modules

$(PKG)/u-boot-qemu.json: tools/fetch.py guests/packages.lock | setup
	@$(PYTHON) tools/fetch.py uboot

$(PKG)/grub-efi-riscv64-unsigned.json: tools/fetch.py guests/packages.lock | setup
	@$(PYTHON) tools/fetch.py grub

$(PKG)/qemu-efi-riscv64.json: tools/fetch.py guests/packages.lock | setup
	@$(PYTHON) tools/fetch.py edk2

$(PKG)/lwip.json: tools/fetch.py guests/packages.lock | setup
	@$(PYTHON) tools/fetch.py lwip

$(CACHE)/freertos/FreeRTOS-Kernel.json: tools/fetch.py guests/packages.lock | setup
	@$(PYTHON) tools/fetch.py freertos

# A kernel given by the user is not fetched.
fetch-freertos: $(if $(filter $(CACHE)/%,$(FREERTOS_KERNEL_DIR)),$(CACHE)/freertos/FreeRTOS-Kernel.json)

# Unmodified files of the packages: a test compares the checksums.
$(BUILD)/guests/linux/Image: $(PKG)/$(INSTALLER_PACKAGE).json
	@mkdir -p $(@D)
	cp $(INSTALLER)/linux $@

# The installer, and a disk for it, whose file takes no space until it is written.
$(BUILD)/guests/debian/installer.gz: $(PKG)/$(INSTALLER_PACKAGE).json
	@mkdir -p $(@D)
	cp $(INSTALLER)/initrd.gz $@

$(BUILD)/guests/debian/installer-disk.img:
	@mkdir -p $(@D)
	truncate -s 4G $@

$(BUILD)/guests/uboot/u-boot.bin: $(PKG)/u-boot-qemu.json
	@mkdir -p $(@D)
	cp $(PKG)/u-boot-qemu/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin $@

# EDK2's code, at the start of a file of the flash's size, whose rest are zeros.
$(BUILD)/guests/edk2/code.fd: $(PKG)/qemu-efi-riscv64.json
	@mkdir -p $(@D)
	head -c 8M $(PKG)/qemu-efi-riscv64/usr/share/qemu-efi-riscv64/RISCV_VIRT_CODE.fd >$@

# Our programs for Linux: without a C library, compiled by the compiler of the bare guests. Without relaxation, because gp is not
# initialized. $(call linux_program,name,sources,flags): build/guests/linux/name.
LINUX_SDK := $(wildcard guests/sdk/linux/*.c guests/sdk/linux/*.S) guests/sdk/libc/string.c
define linux_program
$(BUILD)/guests/linux/$(1): $(2) $$(LINUX_SDK) $(wildcard $(addsuffix *.h,$(sort $(dir $(2))))) $(wildcard guests/sdk/linux/*.h guests/sdk/linux/*.ld) \
		tools/mk/guests.mk tools/mk/guests-bare.mk | setup
	@mkdir -p $$(@D)
	@echo "  LD    $$@"
	@$$(BARE_CC) $$(BARE_NOFP) $$(BARE_CFLAGS) $$(BARE_WARNINGS) $$(BARE_NO_IDIOMS) -Iguests/sdk/linux $(3) $$(BARE_LDFLAGS_$$(BARE_TOOLCHAIN)) \
	    -nostdlib -static -T guests/sdk/linux/program.ld \
	    -Wl,--gc-sections,--no-relax,-z,max-page-size=4096,--build-id=none,-s -o $$@ $(2) $$(LINUX_SDK)
endef

# The Linux client of the mailbox.
MAILBOX_LINUX := $(BUILD)/guests/linux/mailbox
$(eval $(call linux_program,mailbox,$(wildcard guests/examples/mailbox/linux/*.c) guests/examples/mailbox/client.c,-Iguests/examples/mailbox -Iguests/examples/mailbox/riscv))
$(MAILBOX_LINUX): $(wildcard guests/examples/mailbox/riscv/*.h)
# Streams between VMs, shared memory with doorbells, and ciphers of the kernel.
NETWORK_PROGRAMS := $(addprefix $(BUILD)/guests/linux/,vsock doorbell aes)
$(foreach name,vsock doorbell aes,$(eval $(call linux_program,$(name),guests/examples/$(name)/$(name).c,)))

# Debian's programs for the network, and the libraries that they need, under the names by which they find them.
SSH_PACKAGES := dropbear-bin libc6 libcrypt1 libgmp10 libtomcrypt1 libtommath1 zlib1g
IPERF_PACKAGES := iperf libgcc-s1 libstdc++6
DEBIAN_STAMPS := $(foreach name,$(SSH_PACKAGES) $(IPERF_PACKAGES),$(PKG)/$(name).json)
DEBIAN_PROGRAMS := $(addprefix $(PKG)/,dropbear-bin/usr/sbin/dropbear dropbear-bin/usr/bin/dropbearkey iperf/usr/bin/iperf)
DEBIAN_LIBRARIES := $(foreach file,libc6/ld-linux-riscv64-lp64d.so.1 libc6/libc.so.6 libc6/libm.so.6 libcrypt1/libcrypt.so.1 \
	libgcc-s1/libgcc_s.so.1 libgmp10/libgmp.so.10 libstdc++6/libstdc++.so.6 libtomcrypt1/libtomcrypt.so.1 \
	libtommath1/libtommath.so.1 zlib1g/libz.so.1,$(PKG)/$(dir $(file))usr/lib/riscv64-linux-gnu/$(notdir $(file)))

$(foreach name,$(SSH_PACKAGES),$(PKG)/$(name).json) &: tools/fetch.py guests/packages.lock | setup
	@$(PYTHON) tools/fetch.py ssh

$(foreach name,$(IPERF_PACKAGES),$(PKG)/$(name).json) &: tools/fetch.py guests/packages.lock | setup
	@$(PYTHON) tools/fetch.py iperf

INITRAMFS_PARTS := $(BUILD)/guests/linux/Image $(PKG)/busybox-static.json $(MAILBOX_LINUX) $(wildcard guests/images/linux/*)
MKINITRAMFS := $(PYTHON) guests/images/linux/mkinitramfs.py --kernel $(BUILD)/guests/linux/Image \
    --installer-initrd $(INSTALLER)/initrd.gz --busybox $(PKG)/busybox-static/usr/bin/busybox --program $(MAILBOX_LINUX)

$(BUILD)/guests/linux/initramfs.cpio.gz: $(INITRAMFS_PARTS)
	$(MKINITRAMFS) --output $@

# The same with the drivers of a flash behind an SPI controller, and a file system on it.
$(BUILD)/guests/linux/flash.cpio.gz: $(INITRAMFS_PARTS) $(PKG)/$(MODULES_PACKAGE).json
	$(MKINITRAMFS) --kernel-package $(PKG)/$(MODULES_PACKAGE) $(addprefix --module ,$(FLASH_MODULES)) \
	    --start guests/images/linux/flash.start --output $@

# The same with the driver of shared memory with doorbells.
$(BUILD)/guests/linux/messages.cpio.gz: $(INITRAMFS_PARTS) $(PKG)/$(MODULES_PACKAGE).json
	$(MKINITRAMFS) --kernel-package $(PKG)/$(MODULES_PACKAGE) $(addprefix --module ,$(DOORBELL_MODULES)) \
	    --start guests/images/linux/messages.start --output $@

# The same with the drivers of virtual PCI functions, programs that use them, an SSH server and iperf.
$(BUILD)/guests/linux/network.cpio.gz: $(INITRAMFS_PARTS) $(NETWORK_PROGRAMS) $(PKG)/$(MODULES_PACKAGE).json $(DEBIAN_STAMPS)
	$(MKINITRAMFS) --kernel-package $(PKG)/$(MODULES_PACKAGE) $(addprefix --module ,$(NETWORK_MODULES)) \
	    $(addprefix --program ,$(NETWORK_PROGRAMS) $(DEBIAN_PROGRAMS)) $(addprefix --library ,$(DEBIAN_LIBRARIES)) \
	    --start guests/images/linux/network.start --output $@

# The same with Python, the driver of PCI functions for user space, and programs that use accelerators and shared devices by them.
PYTHON_PACKAGES := libc6 libexpat1 libpython3.13-minimal libpython3.13-stdlib python3.13-minimal zlib1g
PYTHON_LIBRARIES := $(foreach file,libc6/ld-linux-riscv64-lp64d.so.1 libc6/libc.so.6 libc6/libm.so.6 libexpat1/libexpat.so.1 \
	zlib1g/libz.so.1,$(PKG)/$(dir $(file))usr/lib/riscv64-linux-gnu/$(notdir $(file)))
PYTHON_STAMPS := $(PYTHON_PACKAGES:%=$(PKG)/%.json)
PYTHON_MMAP := python3.13/lib-dynload/mmap.cpython-313-riscv64-linux-gnu.so
DSP := $(wildcard guests/examples/dsp/*.py)
STORE64 := $(BUILD)/guests/linux/store64
$(eval $(call linux_program,store64,guests/examples/dsp/store64.c,))

$(filter-out $(DEBIAN_STAMPS),$(PYTHON_STAMPS)) &: tools/fetch.py guests/packages.lock | setup
	@$(PYTHON) tools/fetch.py python

$(BUILD)/guests/linux/python.cpio.gz: $(INITRAMFS_PARTS) $(PKG)/$(MODULES_PACKAGE).json $(PYTHON_STAMPS) $(DSP) $(STORE64)
	$(MKINITRAMFS) --kernel-package $(PKG)/$(MODULES_PACKAGE) --module uio_pci_generic \
	    --tree usr/bin/python3.13=$(PKG)/python3.13-minimal/usr/bin/python3.13 $(addprefix --library ,$(PYTHON_LIBRARIES)) \
	    --tree usr/lib/python3.13=$(PKG)/libpython3.13-minimal/usr/lib/python3.13 \
	    --tree usr/lib/$(PYTHON_MMAP)=$(PKG)/libpython3.13-stdlib/usr/lib/$(PYTHON_MMAP) \
	    --program $(STORE64) $(foreach file,$(DSP),--tree root/$(notdir $(file))=$(file)) --start guests/images/linux/python.start --output $@

# The same with the drivers of networks and disks of the machine, and such disks, which keep what a guest writes.
$(BUILD)/guests/linux/passthrough.cpio.gz: $(INITRAMFS_PARTS) $(PKG)/$(MODULES_PACKAGE).json $(DEBIAN_STAMPS)
	$(MKINITRAMFS) --kernel-package $(PKG)/$(MODULES_PACKAGE) $(addprefix --module ,$(PASSTHROUGH_MODULES)) \
	    $(addprefix --program ,$(DEBIAN_PROGRAMS)) $(addprefix --library ,$(DEBIAN_LIBRARIES)) \
	    --start guests/images/linux/network.start --output $@

$(addprefix $(BUILD)/guests/linux/,slot-disk.img function-disk.img):
	@mkdir -p $(@D)
	truncate -s 16M $@

# The same with the drivers of a virtual disk, and the disk from which U-Boot boots it.
$(BUILD)/guests/linux/disk.cpio.gz: $(INITRAMFS_PARTS) $(PKG)/$(MODULES_PACKAGE).json
	$(MKINITRAMFS) --kernel-package $(PKG)/$(MODULES_PACKAGE) $(addprefix --module ,$(DISK_MODULES)) \
	    --start guests/images/linux/disk.start --output $@

$(BUILD)/guests/linux/disk.img: $(BUILD)/guests/linux/Image $(BUILD)/guests/linux/disk.cpio.gz $(wildcard guests/images/disk/*)
	$(PYTHON) guests/images/disk/mkdisk.py --size-mib 64 --file boot/vmlinuz=$(BUILD)/guests/linux/Image \
	    --file boot/initrd.gz=$(BUILD)/guests/linux/disk.cpio.gz \
	    --file boot/extlinux/extlinux.conf=guests/images/disk/extlinux.conf --output $@

# The same with an EFI partition, from which U-Boot starts GRUB. The name is that of EFI's default boot program.
GRUB := $(PKG)/grub-efi-riscv64-unsigned/usr/lib/grub/riscv64-efi/monolithic/grubriscv64.efi
$(BUILD)/guests/linux/grub-disk.img: $(BUILD)/guests/linux/Image $(BUILD)/guests/linux/disk.cpio.gz $(wildcard guests/images/disk/*) \
		$(PKG)/grub-efi-riscv64-unsigned.json
	$(PYTHON) guests/images/disk/mkdisk.py --size-mib 80 --file boot/vmlinuz=$(BUILD)/guests/linux/Image \
	    --file boot/initrd.gz=$(BUILD)/guests/linux/disk.cpio.gz --efi EFI/BOOT/BOOTRISCV64.EFI=$(GRUB) \
	    --efi EFI/debian/grub.cfg=guests/images/disk/grub.cfg --output $@

# The disk of the storage VM, with an empty file system. It keeps what guests write to it, until `make clean`.
$(BUILD)/guests/storage/disk.img: | setup
	@mkdir -p $(@D)
	$(PYTHON) guests/images/disk/mkdisk.py --size-mib 32 --output $@

# Debian's user land with systemd on a disk, and the initramfs that continues with it.
$(BUILD)/guests/debian/initramfs.cpio.gz: $(INITRAMFS_PARTS) $(PKG)/$(MODULES_PACKAGE).json
	@mkdir -p $(@D)
	$(MKINITRAMFS) --kernel-package $(PKG)/$(MODULES_PACKAGE) $(addprefix --module ,$(DEBIAN_MODULES)) \
	    --start guests/images/linux/debian.start --output $@

$(PKG)/userland.stamp: tools/fetch.py guests/packages.lock | setup
	@$(PYTHON) tools/fetch.py userland
	@touch $@

$(BUILD)/guests/debian/disk.img: $(PKG)/userland.stamp $(wildcard guests/images/debian/* guests/images/disk/*.py)
	@mkdir -p $(@D)
	$(PYTHON) guests/images/debian/mkdebian.py --packages $(PKG) --lock guests/packages.lock --size-mib 128 --output $@

# All of them, before the tests: a network that fails then does so before the first one.
fetch-guests: $(PKG)/$(INSTALLER_PACKAGE).json $(PKG)/$(MODULES_PACKAGE).json $(PKG)/u-boot-qemu.json $(PKG)/lwip.json \
	$(PKG)/qemu-efi-riscv64.json $(PKG)/grub-efi-riscv64-unsigned.json $(DEBIAN_STAMPS) $(PYTHON_STAMPS) $(PKG)/userland.stamp fetch-freertos

.PHONY: guest-linux guest-uboot fetch-freertos fetch-guests
