import { assertEquals } from "@std/assert";
import { readTrackedPaths } from "./git_index.ts";

async function runGit(cwd: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...args],
    cwd,
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
  }).output();
  if (!success) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

const NAMES = [
  ...["a", "ab", "abc", "abcdefgh", "sub/deep/one.txt", "sub/deep/two.txt", "sub/other", "ümläut"],
  ...Array.from({ length: 40 }, (_, index) => `long/${"x".repeat(index * 6)}${index}`),
];

async function withRepository(
  options: readonly string[],
  run: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "swink_index_" });
  try {
    await runGit(directory, "init", "--quiet", ...options);
    for (const name of NAMES) {
      await Deno.mkdir(`${directory}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${directory}/${name}`, name);
    }
    await run(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Returns the tracked files that git lists. */
async function listFiles(directory: string): Promise<string[]> {
  return (await runGit(directory, "ls-files", "-z")).split("\0").slice(0, -1);
}

for (
  const [name, options, commands] of [
    ["version 2", [], []],
    ["version 3, with further flags", [], [["add", "--intent-to-add", "abc"]]],
    ["version 4, with shortened names", [], [["update-index", "--index-version", "4"]]],
    ["hashes of SHA-256", ["--object-format=sha256"], []],
  ] as const
) {
  Deno.test(`readTrackedPaths: reads an index of ${name} as git does`, async () => {
    await withRepository(options, async (directory) => {
      await runGit(directory, "add", "--", ...NAMES.filter((path) => path !== "abc"));
      for (const command of commands) await runGit(directory, ...command);
      const paths = await readTrackedPaths(directory);
      assertEquals(paths, await listFiles(directory));
      assertEquals(paths.length >= NAMES.length - 1, true);
    });
  });
}

Deno.test("readTrackedPaths: reads the index of a worktree", async () => {
  await withRepository([], async (directory) => {
    await runGit(directory, "add", ".");
    await runGit(directory, "commit", "--quiet", "--message", "Add files");
    await runGit(directory, "worktree", "add", "--quiet", "-b", "other", "worktree");
    await runGit(`${directory}/worktree`, "rm", "--quiet", "abc");
    const paths = await readTrackedPaths(`${directory}/worktree`);
    assertEquals(paths, await listFiles(`${directory}/worktree`));
    assertEquals(paths.length, NAMES.length - 1);
  });
});

Deno.test("readTrackedPaths: returns nothing for an index that is missing, cut or damaged", async () => {
  await withRepository([], async (directory) => {
    assertEquals(await readTrackedPaths(directory), []);
    await runGit(directory, "add", ".");
    const index = `${directory}/.git/index`;
    const bytes = await Deno.readFile(index);
    for (let length = 0; length < 3_000; length += 61) {
      await Deno.writeFile(index, bytes.subarray(0, length));
      assertEquals(await readTrackedPaths(directory), []);
    }
    // Damage of any byte is an index of other names, or none; it never throws or hangs.
    for (let position = 0; position < 600; position += 3) {
      const damaged = bytes.slice();
      damaged[position] = 0xff;
      await Deno.writeFile(index, damaged);
      assertEquals(Array.isArray(await readTrackedPaths(directory)), true);
    }
  });
});

Deno.test("readTrackedPaths: omits paths that lead out of the repository or into its settings", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_index_" });
  try {
    const paths = ["../key", "/etc/passwd", "a/../../key", "a//b", ".git/config", "s/.GIT/hooks/x"];
    await Deno.mkdir(`${directory}/.git`);
    await Deno.writeFile(`${directory}/.git/index`, createIndex([...paths, "a", "b/.gitignore"]));
    assertEquals(await readTrackedPaths(directory), ["a", "b/.gitignore"]);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("readTrackedPaths: returns nothing for an index whose names together are too long", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_index_" });
  try {
    await Deno.mkdir(`${directory}/.git`);
    // Each name is the previous one with a further letter.
    for (const [count, length] of [[2_000, 2_000], [30_000, 0]] as const) {
      await Deno.writeFile(`${directory}/.git/index`, createGrowingIndex(count));
      assertEquals((await readTrackedPaths(directory)).length, length);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

/** Returns an index of version 4. */
function createGrowingIndex(count: number): Uint8Array {
  const entry = new Uint8Array(65);
  entry.set([0o100644 >>> 8, 0o100644 & 0xff], 26);
  entry.set([0, 0x61, 0], 62);
  const bytes = new Uint8Array(12 + count * entry.length);
  bytes.set(new TextEncoder().encode("DIRC"));
  new DataView(bytes.buffer).setUint32(4, 4);
  new DataView(bytes.buffer).setUint32(8, count);
  for (let index = 0; index < count; index++) bytes.set(entry, 12 + index * entry.length);
  return bytes;
}

/** Returns an index of version 2, which git would refuse to write. */
function createIndex(paths: readonly string[]): Uint8Array {
  const bytes: number[] = [...new TextEncoder().encode("DIRC"), 0, 0, 0, 2, 0, 0, 0, paths.length];
  for (const path of paths) {
    const entry = new Array<number>(62).fill(0);
    entry[26] = 0o100644 >>> 8;
    entry[27] = 0o100644 & 0xff;
    entry.push(...new TextEncoder().encode(path), 0);
    while (entry.length % 8 !== 0) entry.push(0);
    bytes.push(...entry);
  }
  return new Uint8Array(bytes);
}
