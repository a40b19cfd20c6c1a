// SPDX-License-Identifier: LGPL-2.1-only
/* Finds libcuda and libcudart in a process and the offsets of their functions in the files. */
#include "lib/library.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* maximum size of a file's full symbol table (SHT_SYMTAB), in bytes; larger ones are not read */
#define SYMTAB_MAX	(64 << 20)

/* Names of the libraries: libcuda.so.1.1; libcudart.so.12; in Python wheels also
 * libcudart-1f2e3d.so.11.0 */
int jetwatt_library_is(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	if (!strncmp(name, "libcuda.so", 10))
		return 1;
	return !strncmp(name, "libcudart", 9) && (name[9] == '.' || name[9] == '-') &&
	       strstr(name, ".so");
}

/* Format of a line of /proc/PID/maps: start-end perms offset dev inode    path */
int jetwatt_library_file(const char *line, struct jetwatt_library *lib)
{
	unsigned long long start, end;
	char perms[5];
	size_t len;
	int at = 0;

	if (sscanf(line, "%llx-%llx %4s %*x %*x:%*x %*u %n", &start, &end, perms, &at) != 3 || !at)
		return 0;
	len = strcspn(line + at, "\n");
	if (!len || len >= sizeof(lib->path) || line[at] != '/')
		return 0;
	memcpy(lib->path, line + at, len);
	lib->path[len] = '\0';
	lib->start = start;
	lib->end = end;
	return strlen(perms) == 4 && perms[2] == 'x' ? JETWATT_LIBRARY_CODE : 1;
}

int jetwatt_library_line(const char *line, struct jetwatt_library *lib)
{
	return jetwatt_library_file(line, lib) && jetwatt_library_is(lib->path);
}

int jetwatt_library_of(pid_t pid, struct jetwatt_library *lib, int max)
{
	char path[32], line[512];
	struct jetwatt_library l;
	int n = 0, i;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (n < max && fgets(line, sizeof(line), f)) {
		if (!jetwatt_library_line(line, &l))
			continue;
		for (i = 0; i < n && strcmp(lib[i].path, l.path); i++)
			;
		if (i == n)
			lib[n++] = l;
	}
	fclose(f);
	return n;
}

static int add_if_readable(char path[][256], int n, int max, const char *dir, size_t len)
{
	if (n < max && len && len < 200) {
		snprintf(path[n], 256, "%.*s/libcuda.so.1", (int)len, dir);
		if (!access(path[n], R_OK))
			n++;
	}
	return n;
}

int jetwatt_library_system(char path[][256], int max)
{
	/* Library directories of JetPack 5, 6 and 7, of Debian, and of container toolkits. */
	static const char *const dir[] = {
		"/usr/lib/aarch64-linux-gnu/nvidia", "/usr/lib/aarch64-linux-gnu/tegra",
		"/usr/lib/aarch64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib64",
		"/usr/lib", "/usr/local/cuda/compat",
	};
	const char *p = getenv("LD_LIBRARY_PATH");
	int n = 0;

	for (; p && *p; p += strcspn(p, ":"), p += *p == ':')
		n = add_if_readable(path, n, max, p, strcspn(p, ":"));
	for (size_t i = 0; i < sizeof(dir) / sizeof(dir[0]); i++)
		n = add_if_readable(path, n, max, dir[i], strlen(dir[i]));
	return n;
}

/* Convert an address of the loaded file to an offset in the file. Return: 1 on success; 0: not in
 * the file. */
static int file_offset(Elf *elf, uint64_t addr, uint64_t *offset)
{
	size_t nr, i;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &nr))
		return 0;
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD && addr >= ph.p_vaddr &&
		    addr - ph.p_vaddr < ph.p_filesz) {
			*offset = addr - ph.p_vaddr + ph.p_offset;
			return 1;
		}
	return 0;
}

static int add_library_call(Elf *elf, const char *name, uint64_t addr,
			    struct jetwatt_library_call *call, int n)
{
	const struct jetwatt_library_entry *known = jetwatt_library_entry(name);
	uint64_t offset;
	int i;

	if (!known || n == JETWATT_LIBRARY_CALLS_MAX || !file_offset(elf, addr, &offset))
		return n;
	for (i = 0; i < n; i++)
		if (call[i].offset == offset)
			return n;
	call[n] = (struct jetwatt_library_call){ known->what, known->name, offset };
	return n + 1;
}

/* Return whether a section is a table of symbols to search: the exported functions or, in a file
 * that is not stripped, all functions. */
static int has_symbols(const GElf_Shdr *sh)
{
	return sh->sh_entsize && (sh->sh_type == SHT_DYNSYM ||
				  (sh->sh_type == SHT_SYMTAB && sh->sh_size <= SYMTAB_MAX));
}

static int find_calls(Elf *elf, struct jetwatt_library_call *call)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;
	int n = 0;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		size_t i;

		if (!gelf_getshdr(scn, &sh) || !has_symbols(&sh))
			continue;
		data = elf_getdata(scn, NULL);
		for (i = 0; data && i < sh.sh_size / sh.sh_entsize; i++) {
			const char *name;

			if (!gelf_getsym(data, i, &sym) || sym.st_shndx == SHN_UNDEF ||
			    GELF_ST_TYPE(sym.st_info) != STT_FUNC)
				continue;
			name = elf_strptr(elf, sh.sh_link, sym.st_name);
			if (name)
				n = add_library_call(elf, name, sym.st_value, call, n);
		}
	}
	return n;
}

int jetwatt_library_calls(const char *path, struct jetwatt_library_call *call)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), n = -ENOEXEC;
	GElf_Ehdr head;
	Elf *elf;

	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	/* Read the file instead of mapping it: another process may truncate it. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && gelf_getehdr(elf, &head) && (head.e_type == ET_DYN || head.e_type == ET_EXEC))
		n = find_calls(elf, call);
	elf_end(elf);
	close(fd);
	return n;
}
