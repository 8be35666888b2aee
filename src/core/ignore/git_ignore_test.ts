import { assertEquals } from "@std/assert";
import { isIgnored, parseIgnoreFile } from "./git_ignore.ts";

const NAMES = ["a", "b", "ab", "a.b", "A", "#a", "!a", "a b", "[a]", "a*"];
const PATTERNS = [
  "a",
  "/a",
  "a/",
  "*",
  "*.b",
  "a*",
  "/*/a",
  "**/a",
  "a/**",
  "a/**/b",
  "!a",
  "!a/",
  "!/a/b",
  "\\#a",
  "\\!a",
  "# a",
  "a\\ b",
  "[ab]",
  "[!a]",
  "a?",
  "\\[a\\]",
  "a\\*",
  "  ",
  "ab   ",
  "a//b",
  "b/a/",
  "[a-",
];

Deno.test("random ignore files leave out what git leaves out", async () => {
  const folder = await Deno.makeTempDir();
  const random = seededRandom(5);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  try {
    await runGit(folder, ["init", "-q"]);
    for (let round = 0; round < 40; round++) {
      const top = Array.from({ length: 4 }, () => pick(PATTERNS)).join("\n");
      const deep = Array.from({ length: 2 }, () => pick(PATTERNS)).join("\n");
      await Deno.mkdir(`${folder}/a`, { recursive: true });
      await Deno.writeTextFile(`${folder}/.gitignore`, top);
      await Deno.writeTextFile(`${folder}/a/.gitignore`, deep);
      const levels = [parseIgnoreFile(top, ""), parseIgnoreFile(deep, "a/")];
      const paths = Array.from(
        { length: 20 },
        () => Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(NAMES)).join("/"),
      ).filter((path) => path !== "a");
      const byGit = await findIgnoredByGit(folder, paths);
      const byUs = paths.filter((path) => isPathIgnored(path, levels));
      assertEquals(byUs, byGit, JSON.stringify({ top, deep }));
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** A walk never enters a folder that is left out; a file in it is left out with it. */
function isPathIgnored(path: string, levels: ReturnType<typeof parseIgnoreFile>[]): boolean {
  const parts = path.split("/");
  return parts.some((_, index) => {
    const part = parts.slice(0, index + 1).join("/");
    const known = levels.filter(({ directory: folder }) => part.startsWith(folder));
    return isIgnored(part, index < parts.length - 1, known);
  });
}

async function findIgnoredByGit(cwd: string, paths: string[]): Promise<string[]> {
  const output = await runGit(
    cwd,
    ["check-ignore", "--no-index", "-z", "--stdin"],
    paths.join("\0") + "\0",
  );
  const ignored = new Set(output.split("\0"));
  return paths.filter((path) => ignored.has(path));
}

async function runGit(cwd: string, args: string[], input = ""): Promise<string> {
  const child = new Deno.Command("git", {
    args,
    cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    env: { GIT_CONFIG_GLOBAL: "/dev/null" },
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  return new TextDecoder().decode((await child.output()).stdout);
}

function seededRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
