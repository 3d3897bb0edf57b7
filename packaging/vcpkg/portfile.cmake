# SPDX-License-Identifier: MIT
# portfile.cmake - the port for vcpkg; make release-files fills in what stands between at signs.
vcpkg_download_distfile(ARCHIVE
  URLS "@URL@/fairsem-@VERSION@.tar.xz"
  FILENAME "fairsem-@VERSION@.tar.xz"
  SHA512 "@SHA512@"
)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${ARCHIVE}")

vcpkg_make_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS --disable-tests)
vcpkg_make_install()
vcpkg_fixup_pkgconfig()

# The library only: fairsem-run knows where it was installed, and a port is moved.
file(REMOVE_RECURSE
  "${CURRENT_PACKAGES_DIR}/tools"
  "${CURRENT_PACKAGES_DIR}/lib/fairsem"
  "${CURRENT_PACKAGES_DIR}/share"
  "${CURRENT_PACKAGES_DIR}/debug/lib/fairsem"
  "${CURRENT_PACKAGES_DIR}/debug/include"
  "${CURRENT_PACKAGES_DIR}/debug/share"
)

# fairsem-config.cmake stays in lib/cmake of each build, since it takes what is beside it, and compares
# the path in it with the one where it is.
set(VCPKG_POLICY_SKIP_LIB_CMAKE_MERGE_CHECK enabled)
set(VCPKG_POLICY_SKIP_MISPLACED_CMAKE_FILES_CHECK enabled)
set(VCPKG_POLICY_SKIP_ABSOLUTE_PATHS_CHECK enabled)

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
