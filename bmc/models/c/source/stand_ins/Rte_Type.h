/* Stand-in for the application types of AUTOSAR's run-time environment: the basic ones only. */
#ifndef RTE_TYPE_H
#define RTE_TYPE_H
#include <Rte.h>
#endif
