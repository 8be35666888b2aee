import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { isIgnored, parseIgnoreFile } from "./git_ignore.ts";

const NAMES = [
  "a",
  "b",
  "ab",
  "a.b",
  "A",
  "#a",
  "!a",
  "a b",
  "[a]",
  "a*",
  "{a,b}",
  "ab ",
  "a\\",
  "a\t",
];
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
  "ab\\ ",
  "ab\\  ",
  "a\\\\ ",
  "a\t",
  "ab\t ",
  "a//b",
  "b/a/",
  "[a-",
  "**/**/a",
  "a/**/**/b",
  "**/a/**/b",
  "*a*b*",
  "/**/a*b/",
  "a**b",
  "**",
  "{a,b}*",
  "/",
  "//",
  "!",
  "!/",
];

Deno.test("parseIgnoreFile() ends a line at a line feed, before it a carriage return, and at the end of the file", () => {
  const { rules } = parseIgnoreFile("\ufeffa\r\nb\nc\r\r\nd\r", "");
  const matched = ["a", "b", "c", "c\r", "d"].filter((name) =>
    rules.some(({ matches }) => matches(name, name))
  );
  assertEquals(matched, ["a", "b", "c\r", "d"]);
});

Deno.test("parseIgnoreFile() takes seconds at most, not minutes, for lines of 200 KB", () => {
  const getThreadTime = startThreadTimer();
  for (const piece of [" ", "\\", "\\ ", "\r", "*", "["]) {
    parseIgnoreFile(`a${piece.repeat(200_000)}b`, "");
  }
  assert(getThreadTime() < 10_000);
});

Deno.test("isIgnored() agrees with git on random ignore files", async () => {
  const root = await Deno.makeTempDir();
  const random = seededRandom(5);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  try {
    await runGit(root, ["init", "-q"]);
    for (let round = 0; round < 40; round++) {
      const top = Array.from({ length: 4 }, () => pick(PATTERNS)).join("\n");
      const deep = Array.from({ length: 2 }, () => pick(PATTERNS)).join("\n");
      await Deno.mkdir(`${root}/a`, { recursive: true });
      await Deno.writeTextFile(`${root}/.gitignore`, top);
      await Deno.writeTextFile(`${root}/a/.gitignore`, deep);
      const levels = [parseIgnoreFile(top, ""), parseIgnoreFile(deep, "a/")];
      const paths = Array.from(
        { length: 20 },
        () => Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(NAMES)).join("/"),
      ).filter((path) => path !== "a");
      const ignoredByGit = await findIgnoredByGit(root, paths);
      const ignored = paths.filter((path) => isPathIgnored(path, levels));
      assertEquals(ignored, ignoredByGit, JSON.stringify({ top, deep }));
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

/** Whether a path or one of its parent directories is ignored; a walk does not enter ignored directories. */
function isPathIgnored(path: string, levels: ReturnType<typeof parseIgnoreFile>[]): boolean {
  const parts = path.split("/");
  return parts.some((_, index) => {
    const part = parts.slice(0, index + 1).join("/");
    const known = levels.filter(({ directory }) => part.startsWith(directory));
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
