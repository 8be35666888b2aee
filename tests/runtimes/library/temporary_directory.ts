/**
 * Temporary directories for tests.
 *
 * @module
 */

/** Calls a test with the canonical path of a temporary directory, which is removed at the end. */
export async function withDirectory(test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink_library_" }));
  try {
    await test(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
