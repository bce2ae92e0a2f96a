/* SPDX-License-Identifier: Apache-2.0 */
/* How many apps there may be, and how finely what they see is counted, where half a megabyte is all that a part has. */
#ifndef RTM_SIZE_H
#define RTM_SIZE_H

#define RTM_APPS 8U
#define RTM_BUCKETS 64U

#endif
