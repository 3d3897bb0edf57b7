# SPDX-License-Identifier: MIT
# fairsem.rb - the formula for Homebrew; make release-files fills in what stands between at signs.
class Fairsem < Formula
  desc "Fair blocking counting semaphore for multithreaded programs"
  homepage "@URL@"
  url "@URL@/fairsem-@VERSION@.tar.xz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "pkgconf" => [:build, :test]
  # Condition variables of macOS cannot wait by the monotonic clock.
  depends_on :linux

  def install
    system "./configure", "--disable-silent-rules", "--disable-tests", *std_configure_args
    system "make"
    system "make", "install"
  end

  test do
    (testpath/"prog.c").write <<~C
      #include <fairsem.h>

      static fairsem_t slots = FAIRSEM_INITIALIZER(2);

      int main(void)
      {
          return fairsem_acquire(&slots, 2) != 0 || fairsem_available(&slots) != 0;
      }
    C
    flags = shell_output("pkg-config --cflags --libs fairsem").chomp.split
    system ENV.cc, "prog.c", "-o", "prog", *flags
    system "./prog"
    system bin/"fairsem-limit", "brew-test", "1", "--", "true"
  end
end
