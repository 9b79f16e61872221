package app

import (
	"fmt"
	"io"
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
	fixed := isFixed(program)
	for line := range strings.Lines(string(maps)) {
		var span, rights, offset, device, file string
		var inode int
		if n, _ := fmt.Sscan(line, &span, &rights, &offset, &device, &inode, &file); n != 6 || file != program {
			continue
		}
		// Written pages would lose what was written. The loader of a program that may lie
		// anywhere has written pages that are only readable now; code it has not.
		if rights != "r-xp" && (rights != "r--p" || !fixed) {
			continue
		}
		first, last, _ := strings.Cut(span, "-")
		from, err1 := strconv.ParseUint(first, 16, 64)
		to, err2 := strconv.ParseUint(last, 16, 64)
		if err1 == nil && err2 == nil && to > from {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(from), uintptr(to-from), syscall.MADV_DONTNEED)
		}
	}
}

// isFixed reports whether a program has fixed addresses: ELF type 2 (ET_EXEC), little endian.
func isFixed(program string) bool {
	f, err := os.Open(program)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 18)
	if _, err := io.ReadFull(f, head); err != nil {
		return false
	}
	return string(head[:4]) == "\x7fELF" && head[5] == 1 && head[16] == 2 && head[17] == 0
}
