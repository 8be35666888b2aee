import { assertEquals } from "@std/assert";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { findImports, MAX_INSTRUCTION_BYTES, readInstructions } from "./read_instructions.ts";

/** Reads the instructions for a directory of a project with these files. */
async function read(files: Readonly<Record<string, string>>, directory = "") {
  await using temporary = await createTemporaryDirectory(files);
  const root = await Deno.realPath(temporary.path);
  const { files: found, problems } = await readInstructions(root, `${root}${directory}`);
  return { paths: found.map(({ path }) => path), problems };
}

Deno.test("readInstructions(): reads from the root down to the directory", async () => {
  const files = {
    "AGENTS.md": "root",
    "a/CLAUDE.md": "a",
    "a/b/AGENTS.md": "b",
    "a/b/CLAUDE.md": "not read",
    "a/b/c/AGENTS.md": "below",
  };
  assertEquals(await read(files, "/a/b"), {
    paths: ["AGENTS.md", "a/CLAUDE.md", "a/b/AGENTS.md"],
    problems: [],
  });
});

Deno.test("readInstructions(): imports files, each once, and not in a circle", async () => {
  const files = {
    "AGENTS.md": "See @docs/style.md and @docs/style.md, and @eva.",
    "docs/style.md": "@../AGENTS.md @names.md",
    "docs/names.md": "names",
  };
  assertEquals((await read(files)).paths, ["AGENTS.md", "docs/style.md", "docs/names.md"]);
});

Deno.test("readInstructions(): ends a chain of imports after five files", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 10 }, (_, i) => [i === 0 ? "AGENTS.md" : `${i}.md`, `@${i + 1}.md`]),
  );
  const paths = ["AGENTS.md", "1.md", "2.md", "3.md", "4.md", "5.md"];
  assertEquals((await read(files)).paths, paths);
});

Deno.test("readInstructions(): imports never leave the project", async () => {
  await using outside = await createTemporaryDirectory({ "secret.md": "secret", "p/x": "" });
  const root = await Deno.realPath(`${outside.path}/p`);
  const text = "@../secret.md @/etc/passwd @/etc/x.md @~/notes.md @link.md @alias/x.md";
  await Deno.writeTextFile(`${root}/AGENTS.md`, text);
  await Deno.symlink("../secret.md", `${root}/link.md`);
  await Deno.writeTextFile(`${outside.path}/x.md`, "secret");
  await Deno.symlink("..", `${root}/alias`);
  const { files, problems } = await readInstructions(root, root);
  assertEquals(files.map(({ path }) => path), ["AGENTS.md"]);
  assertEquals(problems, [
    "@../secret.md was not loaded: it is outside of the project",
    "@/etc/x.md was not loaded: it is outside of the project",
    "@~/notes.md was not loaded: it is outside of the project",
    "link.md is a link to a file outside of its directory",
    "alias/x.md is a link to a file outside of its directory",
  ]);
});

Deno.test("readInstructions(): files that usually hold secrets are not loaded", async () => {
  await using directory = await createTemporaryDirectory({
    "AGENTS.md": "@.env @notes.md @ok.md",
    ".env": "KEY=1",
    "ok.md": "ok",
  });
  await Deno.symlink(".env", `${directory.path}/notes.md`);
  const { files, problems } = await readInstructions(directory.path, directory.path);
  assertEquals(files.map(({ path }) => path), ["AGENTS.md", "ok.md"]);
  assertEquals(problems, [
    ".env was not loaded: such files usually hold secrets",
    "notes.md was not loaded: such files usually hold secrets",
  ]);
});

Deno.test("readInstructions(): limits the size of all files together", async () => {
  const half = "x".repeat(MAX_INSTRUCTION_BYTES / 2);
  const files = { "AGENTS.md": `${half}\n@a.md @b.md`, "a.md": half, "b.md": "short" };
  assertEquals(await read(files), {
    paths: ["AGENTS.md", "b.md"],
    problems: ["a.md was not loaded: instructions may have 64000 bytes in all"],
  });
  const large = { "AGENTS.md": "x".repeat(MAX_INSTRUCTION_BYTES + 1) };
  assertEquals((await read(large)).problems, ["AGENTS.md is larger than 64000 bytes"]);
});

Deno.test("findImports(): finds paths outside of code", () => {
  assertEquals(findImports("@a.md, (@b.md) x@c.md `@d.md` @e/f.md."), ["a.md", "e/f.md"]);
  assertEquals(findImports("```\n@a.md\n```\n@b.md\n~~~~\n@c.md\n~~~\n@d.md\n~~~~\n@e.md"), [
    "b.md",
    "e.md",
  ]);
  assertEquals(findImports("``x ` @a.md`` @ @@b @c.md"), ["c.md"]);
});
