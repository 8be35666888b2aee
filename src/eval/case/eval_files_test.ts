import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { localEvalFiles } from "./eval_files.ts";

async function useFile(use: (path: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "swink_eval_files_" });
  try {
    await use(`${directory}/inner/file`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const readLines = (path: string) => Array.fromAsync(localEvalFiles.readLines(path));

Deno.test("localEvalFiles: reads lines of any length, with characters of several bytes", async () => {
  await useFile(async (path) => {
    assertEquals(await readLines(path), []);
    await localEvalFiles.write(path, "");
    assertEquals(await readLines(path), []);
    const part = fc.constantFrom("a", "\n", "€", "😀", "x".repeat(131_071), "é".repeat(140_000));
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
        const text = parts.join("");
        await localEvalFiles.write(path, text);
        const lines = await readLines(path);
        assertEquals(lines.join("") === text, true);
        assertEquals(lines.slice(0, -1).every((line) => /^[^\n]*\n$/.test(line)), true);
        assertEquals(
          lines.length,
          text.split("\n").filter((line, index, all) => line !== "" || index < all.length - 1)
            .length,
        );
      }),
      { numRuns: 40 },
    );
    await assertRejects(() => readLines(path.replace(/\/file$/, "")), Error, "is not a file");
  });
});

Deno.test("localEvalFiles: creates a file once, for its owner", async () => {
  await useFile(async (path) => {
    const create = (_: unknown, index: number) => localEvalFiles.create(path, `${index}`);
    const created = await Promise.all(Array.from({ length: 10 }, create));
    assertEquals(created.filter((isCreated) => isCreated).length, 1);
    assertEquals(await Deno.readTextFile(path), `${created.indexOf(true)}`);
    assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  });
});
