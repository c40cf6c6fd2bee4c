// A plugin of QEMU's user mode that counts the instructions of a program, and appends their number to a file
// when the program ends: qemu-x86_64 -plugin count.so,out=FILE PROGRAM. A program that is killed leaves none.
// It declares what it needs of qemu-plugin.h, which distributions do not install with QEMU.
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef uint64_t plugin;
struct qemu_plugin_tb; // a block of instructions, which has one way in
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin, void (*)(plugin, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_atexit_cb(plugin, void (*)(plugin, void *), void *);

int qemu_plugin_version = VERSION;

static uint64_t count; // of all threads
static char out[4096];

static void executed(unsigned cpu, void *instructions)
{
	__atomic_fetch_add(&count, (uintptr_t)instructions, __ATOMIC_RELAXED);
}

static void translated(plugin p, struct qemu_plugin_tb *block)
{
	void *instructions = (void *)(uintptr_t)qemu_plugin_tb_n_insns(block);
	qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, instructions);
}

// Programs that run at the same time append to one file: a line is one write. It looks like a line of perf.
static void ended(plugin p, void *none)
{
	char line[64];
	int length = snprintf(line, sizeof line, "%" PRIu64 ",,instructions\n", count);
	int file = open(out, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (file < 0 || write(file, line, length) != length)
		perror(out);
}

int qemu_plugin_install(plugin p, const void *qemu, int argc, char **argv)
{
	if (argc != 1 || strncmp(argv[0], "out=", 4) || strlen(argv[0] + 4) >= sizeof out)
		return 1;
	strcpy(out, argv[0] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(p, translated);
	qemu_plugin_register_atexit_cb(p, ended, NULL);
	return 0;
}
