# SPDX-License-Identifier: MIT
# tests/search/order/local.mk - strict FIFO on the histories of real threads; included by ../../local.mk.

if TESTS_ENABLED
if HAVE_WRAP
test_programs += tests/search/order/order
endif
endif
tests_search_order_order_SOURCES = \
	tests/search/order/doctored.c tests/search/order/doctored.h \
	tests/search/order/history.c tests/search/order/history.h \
	tests/search/order/order.c \
	tests/search/order/record.c tests/search/order/record.h
tests_search_order_order_LDFLAGS = -Wl,--wrap=fs_waitq_join -Wl,--wrap=fs_waitq_leave \
	-Wl,--wrap=pthread_mutex_lock -Wl,--wrap=pthread_mutex_trylock \
	-Wl,--wrap=pthread_mutex_unlock

.PHONY: check-order
OPERATIONS = 5000000
check-order: tests/search/order/order$(EXEEXT)
	tests/search/order/order$(EXEEXT) $(OPERATIONS)
