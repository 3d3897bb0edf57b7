# SPDX-License-Identifier: MIT
# conanfile.py - the recipe for Conan 2; make release-files fills in what stands between at signs.
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, get, rm, rmdir
from conan.tools.gnu import Autotools, AutotoolsToolchain
from conan.tools.layout import basic_layout

required_conan_version = ">=2.0"


class FairsemConan(ConanFile):
    name = "fairsem"
    version = "@VERSION@"
    description = "Fair blocking counting semaphore for multithreaded programs"
    license = "MIT"
    url = "@URL@"
    homepage = "@URL@"
    topics = ("semaphore", "fairness", "threads", "synchronization")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")
        # It is written in C; fairsem.hpp has nothing in the library.
        self.settings.rm_safe("compiler.libcxx")
        self.settings.rm_safe("compiler.cppstd")

    def layout(self):
        basic_layout(self, src_folder="src")

    def validate(self):
        # Condition variables of macOS cannot wait by the monotonic clock.
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"{self.name} is not for {self.settings.os}")

    def source(self):
        get(self, "@URL@/fairsem-@VERSION@.tar.xz", sha256="@SHA256@", strip_root=True)

    def generate(self):
        toolchain = AutotoolsToolchain(self)
        toolchain.configure_args.append("--disable-tests")
        toolchain.generate()

    def build(self):
        autotools = Autotools(self)
        autotools.configure()
        autotools.make()

    def package(self):
        autotools = Autotools(self)
        autotools.install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # The library only: fairsem-run knows where it was installed, and a package is moved.  What
        # CMake and pkg-config read is written by Conan.
        for directory in ("bin", "share", "lib/cmake", "lib/fairsem", "lib/pkgconfig"):
            rmdir(self, os.path.join(self.package_folder, directory))
        rm(self, "*.la", os.path.join(self.package_folder, "lib"))

    def package_info(self):
        self.cpp_info.libs = ["fairsem"]
        self.cpp_info.system_libs = ["pthread"]
        self.cpp_info.set_property("cmake_file_name", "fairsem")
        self.cpp_info.set_property("cmake_target_name", "fairsem::fairsem")
        self.cpp_info.set_property("pkg_config_name", "fairsem")
