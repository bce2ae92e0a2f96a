/* SPDX-License-Identifier: Apache-2.0 */
/* How many apps there may be, and how finely what they see is counted, in a VM of megabytes. */
#ifndef RTM_SIZE_H
#define RTM_SIZE_H

#define RTM_APPS 64U
#define RTM_BUCKETS 512U

#endif
