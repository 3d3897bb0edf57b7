# SPDX-License-Identifier: MIT
# fairsem.m4 - find out which flags the compiler and the linker accept, and which libraries link.

# FS_LIBRARY(PREFIX, NAME, MODULE, HEADER, CALL) - sets have_NAME to yes or no.  If yes, sets PREFIX_CFLAGS and
# PREFIX_LIBS as PKG_CHECK_MODULES does; if no, sets lacks_NAME to the reason.  In a cross build, pkg-config may
# find the libraries of the wrong machine, so the macro links a program with them.
AC_DEFUN([FS_LIBRARY],
[have_$2=no
PKG_CHECK_MODULES([$1], [$3],
  [AC_MSG_CHECKING([whether a program with $2 links])
   fs_saved_CFLAGS=$CFLAGS
   fs_saved_LIBS=$LIBS
   CFLAGS="$CFLAGS $$1_CFLAGS"
   LIBS="$$1_LIBS $LIBS"
   AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <$4>]], [[(void)$5;]])], [have_$2=yes])
   CFLAGS=$fs_saved_CFLAGS
   LIBS=$fs_saved_LIBS
   AC_MSG_RESULT([$have_$2])
   AS_IF([test "x$have_$2" = xno],
     [$1_CFLAGS= $1_LIBS=
      lacks_$2="a program with $2 does not link: config.log says why"])],
  [lacks_$2="pkg-config finds no $3"])])

# FS_RESOLVER - sets have_resolver: can the C library look up DNS records of any type?  And RESOLV_LIBS.
AC_DEFUN([FS_RESOLVER],
[AC_MSG_CHECKING([for a resolver of DNS records])
have_resolver=no
fs_saved_LIBS=$LIBS
for fs_library in "" -lresolv; do
  LIBS="$fs_library $fs_saved_LIBS"
  AS_IF([test "x$have_resolver" = xno],
    [AC_LINK_IFELSE([AC_LANG_PROGRAM([[
      #include <netinet/in.h>
      #include <arpa/nameser.h>
      #include <resolv.h>
      ]], [[
      struct __res_state state;
      ns_msg message;
      ns_rr record;
      char name[NS_MAXDNAME];

      res_ninit(&state);
      res_nquery(&state, "", ns_c_in, ns_t_srv, 0, 0);
      ns_initparse(0, 0, &message);
      ns_parserr(&message, ns_s_an, 0, &record);
      dn_expand(0, 0, 0, name, sizeof name);
      res_nclose(&state);]])],
      [have_resolver=yes RESOLV_LIBS=$fs_library])])
done
LIBS=$fs_saved_LIBS
AC_MSG_RESULT([$have_resolver $RESOLV_LIBS])
AC_SUBST([RESOLV_LIBS])])

# FS_TRY_CFLAGS(VARIABLE, FLAGS) - append to VARIABLE the FLAGS that the compiler accepts.
AC_DEFUN([FS_TRY_CFLAGS],
[fs_saved_CFLAGS=$CFLAGS
for fs_flag in m4_normalize([$2]); do
  AC_MSG_CHECKING([whether $CC understands $fs_flag])
  CFLAGS="$fs_saved_CFLAGS $fs_flag -Werror"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
    [AC_MSG_RESULT([yes])
     $1="$$1 $fs_flag"],
    [AC_MSG_RESULT([no])])
done
CFLAGS=$fs_saved_CFLAGS])

# FS_TRY_LDFLAGS(VARIABLE, FLAGS) - append to VARIABLE the FLAGS that the linker accepts.
AC_DEFUN([FS_TRY_LDFLAGS],
[fs_saved_LDFLAGS=$LDFLAGS
for fs_flag in m4_normalize([$2]); do
  AC_MSG_CHECKING([whether the linker understands $fs_flag])
  LDFLAGS="$fs_saved_LDFLAGS $fs_flag"
  AC_LINK_IFELSE([AC_LANG_PROGRAM()],
    [AC_MSG_RESULT([yes])
     $1="$$1 $fs_flag"],
    [AC_MSG_RESULT([no])])
done
LDFLAGS=$fs_saved_LDFLAGS])

# FS_TRY_FAT_OBJECTS - with link-time optimization, let all objects contain machine code, too: append a flag to
# STD_CFLAGS.  src/local_names.sh can rename symbols only in machine code, and --wrap can redirect calls only in
# machine code.  Sets NO_LTO to the flag that links the machine code.
AC_DEFUN([FS_TRY_FAT_OBJECTS],
[AS_CASE([" $CC $CFLAGS"], [*' -flto'*],
  [FS_TRY_CFLAGS([STD_CFLAGS], [-ffat-lto-objects])
   FS_TRY_LDFLAGS([NO_LTO], [-fno-lto])])
AC_SUBST([NO_LTO])])

# FS_TRY_VERSION_SCRIPT - sets have_version_script and HAVE_VERSION_SCRIPT.  The linker must also report names
# in the script that do not exist: a misspelled name would otherwise hide its function without notice.
AC_DEFUN([FS_TRY_VERSION_SCRIPT],
[AC_MSG_CHECKING([for version scripts])
fs_saved_LDFLAGS=$LDFLAGS
cat > conftest.map <<_FS_MAP
FS_PROBE { global: probe; local: *; };
_FS_MAP
LDFLAGS="$LDFLAGS -shared -fPIC -Wl,--version-script=conftest.map -Wl,--no-undefined-version"
AC_LINK_IFELSE([AC_LANG_SOURCE([int probe(void) { return 0; }])],
  [have_version_script=yes], [have_version_script=no])
LDFLAGS=$fs_saved_LDFLAGS
rm -f conftest.map
AC_MSG_RESULT([$have_version_script])
AM_CONDITIONAL([HAVE_VERSION_SCRIPT], [test "x$have_version_script" = xyes])])

# FS_TRY_LOCAL_NAMES - find out whether src/local_names.sh can hide the names of a static library that are
# not public.  Sets have_local_names, and LOCAL_NAMES, a prefix of the command that links a library.  The script
# cannot hide names if link-time optimization makes objects without machine code.
AC_DEFUN([FS_TRY_LOCAL_NAMES],
[AC_REQUIRE([LT_INIT])
AC_CHECK_TOOL([OBJCOPY], [objcopy], [false])
AC_MSG_CHECKING([whether names in a static library can be hidden])
have_local_names=no
cat > conftest1.c <<_FS_SOURCE
int fs_probe(void);
int fs_probe(void) { return 42; }
_FS_SOURCE
cat > conftest2.c <<_FS_SOURCE
int fs_probe(void);
int probe(void);
int probe(void) { return fs_probe(); }
_FS_SOURCE
fs_saved_LIBS=$LIBS
LIBS="conftest.a $LIBS"
AS_IF([$CC $CPPFLAGS $STD_CFLAGS $CFLAGS -c conftest1.c >&AS_MESSAGE_LOG_FD 2>&1 &&
    $CC $CPPFLAGS $STD_CFLAGS $CFLAGS -c conftest2.c >&AS_MESSAGE_LOG_FD 2>&1 &&
    LD=$LD OBJCOPY=$OBJCOPY AR=$AR RANLIB=$RANLIB $SHELL "$srcdir/src/local_names.sh" \
      conftest.a $AR cr conftest.a conftest1.$ac_objext conftest2.$ac_objext \
      >&AS_MESSAGE_LOG_FD 2>&1],
  [AC_LINK_IFELSE([AC_LANG_SOURCE([
    int probe(void); int fs_probe(void) { return 1; }
    int main(void) { return probe() == fs_probe(); }])],
    [have_local_names=yes
     AC_SUBST([LOCAL_NAMES], ["LD='\$(LD)' OBJCOPY='\$(OBJCOPY)' AR='\$(AR)' RANLIB='\$(RANLIB)' \
\$(SHELL) \$(srcdir)/src/local_names.sh .libs/\$(@:.la=.a)"])])])
LIBS=$fs_saved_LIBS
rm -f conftest1.* conftest2.* conftest.a
AC_SUBST([have_local_names])
AC_MSG_RESULT([$have_local_names])])

# FS_TRY_WRAP - find out whether the linker can redirect calls (--wrap), even calls between our own objects.
AC_DEFUN([FS_TRY_WRAP],
[AC_MSG_CHECKING([whether the linker understands --wrap])
cat > conftest1.c <<_FS_SOURCE
int fs_probe(void);
int probe(void);
int fs_probe(void) { return 42; }
_FS_SOURCE
cat > conftest2.c <<_FS_SOURCE
int fs_probe(void);
int probe(void);
int probe(void) { return fs_probe(); }
_FS_SOURCE
fs_saved_CFLAGS=$CFLAGS
fs_saved_LDFLAGS=$LDFLAGS
fs_saved_LIBS=$LIBS
have_wrap=no
LIBS="conftest1.$ac_objext conftest2.$ac_objext $NO_LTO $LIBS"
LDFLAGS="$LDFLAGS -Wl,--wrap=fs_probe"
AS_IF([$CC $CPPFLAGS $STD_CFLAGS $CFLAGS -c conftest1.c >&AS_MESSAGE_LOG_FD 2>&1 &&
    $CC $CPPFLAGS $STD_CFLAGS $CFLAGS -c conftest2.c >&AS_MESSAGE_LOG_FD 2>&1],
  [CFLAGS="$STD_CFLAGS $CFLAGS"
   AC_LINK_IFELSE([AC_LANG_SOURCE([
     int probe(void); int __wrap_fs_probe(void); int __wrap_fs_probe(void) { return 0; }
     int main(void) { return probe(); }])],
     [have_wrap=yes])])
CFLAGS=$fs_saved_CFLAGS
LDFLAGS=$fs_saved_LDFLAGS
LIBS=$fs_saved_LIBS
rm -f conftest1.* conftest2.*
AC_MSG_RESULT([$have_wrap])
AM_CONDITIONAL([HAVE_WRAP], [test "x$have_wrap" = xyes])])
