# SPDX-License-Identifier: MIT
# tests/order/local.mk - strict FIFO on the histories of real threads; included by ../local.mk.

if TESTS_ENABLED
if HAVE_WRAP
test_programs += tests/order/order
endif
endif
tests_order_order_SOURCES = \
	tests/order/doctored.c tests/order/doctored.h \
	tests/order/history.c tests/order/history.h \
	tests/order/order.c \
	tests/order/record.c tests/order/record.h
tests_order_order_LDFLAGS = -Wl,--wrap=fs_waitq_join -Wl,--wrap=fs_waitq_leave \
	-Wl,--wrap=pthread_mutex_lock -Wl,--wrap=pthread_mutex_trylock \
	-Wl,--wrap=pthread_mutex_unlock

.PHONY: check-order
OPERATIONS = 5000000
check-order: tests/order/order$(EXEEXT)
	tests/order/order$(EXEEXT) $(OPERATIONS)
