package app

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// giveBackProgram tells the kernel that the pages of the program file which are in memory
// are not needed: starting touches most of the code and of its tables, running a part. What
// is needed comes back from the page cache, so this is for once after the start. A system
// that refuses loses nothing.
func giveBackProgram() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	program, err := os.Executable()
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		var span, rights, offset, device, file string
		var inode int
		if n, _ := fmt.Sscan(line, &span, &rights, &offset, &device, &inode, &file); n != 6 || file != program || !strings.HasPrefix(rights, "r-") {
			continue // written pages would lose what was written
		}
		first, last, _ := strings.Cut(span, "-")
		from, err1 := strconv.ParseUint(first, 16, 64)
		to, err2 := strconv.ParseUint(last, 16, 64)
		if err1 == nil && err2 == nil && to > from {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(from), uintptr(to-from), syscall.MADV_DONTNEED)
		}
	}
}
