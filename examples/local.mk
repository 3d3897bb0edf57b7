# SPDX-License-Identifier: MIT
# examples/local.mk - programs people would write; included by ../Makefile.am.

noinst_PROGRAMS += examples/hog-and-victim
examples_hog_and_victim_SOURCES = \
	examples/hog-and-victim.c \
	examples/wait_plot_svg.c examples/wait_plot_svg.h \
	$(hog_victim_sources)
examples_hog_and_victim_LDADD = libfairsem.la $(LIBM)

compress_tree_sources = \
	examples/compress-tree.c \
	examples/file_list.c examples/file_list.h
if HAVE_ZLIB
noinst_PROGRAMS += examples/compress-tree
examples_compress_tree_SOURCES = $(compress_tree_sources)
examples_compress_tree_LDADD = libfairsem.la $(ZLIB_LIBS)
else
EXTRA_DIST += $(compress_tree_sources)
endif
