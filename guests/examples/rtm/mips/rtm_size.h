/* SPDX-License-Identifier: Apache-2.0 */
/* Number of apps and size of their histograms, for parts with 512 KiB of RAM. */
#ifndef RTM_SIZE_H
#define RTM_SIZE_H

#define RTM_APPS 8U
#define RTM_BUCKETS 64U

#endif
