/* SPDX-License-Identifier: MIT */
/*
 * Calls a fuzzer's function once for each file in the directories of the command line, so that
 * programs of any compiler replay the corpus. With libFuzzer, its own main is linked instead.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *directory, const char *name)
{
	char *path = NULL, *data = NULL;
	size_t size = 0;
	FILE *file = NULL, *memory = NULL;
	int c, err = -1;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return -1;
	file = fopen(path, "rb");
	memory = open_memstream(&data, &size);
	if (!file || !memory) {
		perror(path);
		goto out;
	}
	while ((c = getc(file)) != EOF)
		putc(c, memory);
	if (ferror(file) || fflush(memory)) {
		perror(path);
		goto out;
	}
	printf("%s: %zu bytes\n", path, size);
	fflush(stdout);
	LLVMFuzzerTestOneInput((const uint8_t *)data, size);
	err = 0;
out:
	if (memory)
		fclose(memory);
	if (file)
		fclose(file);
	free(data);
	free(path);
	return err;
}

/* Returns the number of files, or -1. */
static int replay_directory(const char *directory)
{
	DIR *dir = opendir(directory);
	int files = 0;

	if (!dir) {
		perror(directory);
		return -1;
	}
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		if (replay_file(directory, entry->d_name)) {
			files = -1;
			break;
		}
		files++;
	}
	closedir(dir);
	return files;
}

int main(int argc, char **argv)
{
	int files = 0;

	for (int i = 1; i < argc; i++) {
		int n = argv[i][0] == '-' ? 0 : replay_directory(argv[i]);

		if (n < 0)
			return 1;
		files += n;
	}
	printf("%d files\n", files);
	return files == 0;
}
