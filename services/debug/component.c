/* SPDX-License-Identifier: Apache-2.0 */
#include "component.h"

#include "session.h"

COMPONENT(debug, .console = &frames_part);
