/* SPDX-License-Identifier: Apache-2.0 */
/* Number of apps and size of their histograms, for VMs with megabytes of RAM. */
#ifndef RTM_SIZE_H
#define RTM_SIZE_H

#define RTM_APPS 64U
#define RTM_BUCKETS 512U

#endif
