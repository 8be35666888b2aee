import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { planFile } from "./plan_file.ts";

Deno.test("planFile(): writes and reads a text, creates directories, and keeps the mode of the file", async () => {
  await using directory = await createTemporaryDirectory();
  const file = planFile(`${directory.path}/a/b/plan.md`, { within: directory.path });
  assertEquals(await file.read(), { type: "missing" });
  await file.write("# Ä\r\n");
  assertEquals(await file.read(), { type: "text", text: "# Ä\r\n" });
  Deno.chmodSync(file.path, 0o640);
  await file.write("# B");
  const mode = Deno.statSync(file.path).mode ?? 0;
  assertEquals([await file.read(), mode & 0o777], [{ type: "text", text: "# B" }, 0o640]);
  assertEquals([...Deno.readDirSync(`${directory.path}/a/b`)].map(({ name }) => name), ["plan.md"]);
});

Deno.test("planFile(): refuses a path that is no text", () => {
  for (const path of ["", "a\0b", 1 as unknown as string]) {
    assertThrows(() => planFile(path), Error, "must be a text that is not empty");
  }
});

/** Puts something other than a file of a project in the place of a plan; `outside` is beyond its directory. */
const PLACES: readonly (readonly [string, (path: string, outside: string) => void, RegExp])[] = [
  ["a named pipe", (path) => {
    new Deno.Command("mkfifo", { args: [path] }).outputSync();
  }, /is a named pipe, not a regular file: remove it/],
  ["a link to a file outside", (path, outside) => {
    Deno.symlinkSync(`${outside}/secret`, path);
  }, /is a symbolic link, not a regular file: remove it/],
  ["a link to a secret of the project", (path) => {
    Deno.writeTextFileSync(`${path}.env`, "KEY=secret");
    Deno.symlinkSync(`${path}.env`, path);
  }, /is a symbolic link, not a regular file: remove it/],
  ["a link to a missing file", (path, outside) => {
    Deno.symlinkSync(`${outside}/missing`, path);
  }, /is a symbolic link, not a regular file: remove it/],
  ["a link to itself", (path) => {
    Deno.symlinkSync(path, path);
  }, /is a symbolic link, not a regular file: remove it/],
  ["a directory", (path) => Deno.mkdirSync(path), /is a directory, not a regular file: remove it/],
];

for (const [name, put, reason] of PLACES) {
  Deno.test(`planFile(): neither follows, waits for nor replaces ${name} in its place`, async () => {
    await using outside = await createTemporaryDirectory({ secret: "key" });
    await using directory = await createTemporaryDirectory();
    const file = planFile(`${directory.path}/plan.md`, { within: directory.path });
    put(file.path, outside.path);
    const before = Deno.lstatSync(file.path);
    const read = await file.read();
    assert(read.type === "refused");
    assert(reason.test(read.reason), read.reason);
    await assertRejects(() => file.write("# P"), Error, read.reason);
    const { isSymlink, isDirectory, ino } = Deno.lstatSync(file.path);
    assertEquals(
      [isSymlink, isDirectory, ino],
      [before.isSymlink, before.isDirectory, before.ino],
    );
    assertEquals([...Deno.readDirSync(outside.path)].map(({ name }) => name), ["secret"]);
    assertEquals(outside.read("secret"), "key");
  });
}

Deno.test("planFile(): refuses a directory that is a link out of its own", async () => {
  await using outside = await createTemporaryDirectory({ "plan.md": "# Other" });
  await using directory = await createTemporaryDirectory();
  Deno.symlinkSync(outside.path, `${directory.path}/.swink`);
  const file = planFile(`${directory.path}/.swink/plan.md`, { within: directory.path });
  const read = await file.read();
  assertStringIncludes(JSON.stringify(read), "is a link to a file outside of its directory");
  await assertRejects(() => file.write("# P"), Error, "outside of its directory");
  assertEquals(outside.read("plan.md"), "# Other");
});

Deno.test("planFile(): refuses content that is too large or no UTF-8, with what to do", async () => {
  await using directory = await createTemporaryDirectory();
  const file = planFile(`${directory.path}/plan.md`);
  directory.write("plan.md", "x".repeat(1024 * 1024));
  assertEquals(await file.read(), {
    type: "refused",
    reason: `${JSON.stringify(file.path)} is larger than 262144 bytes: correct or remove it`,
  });
  directory.write("plan.md", Uint8Array.of(0xff, 0xfe));
  assertEquals(await file.read(), {
    type: "refused",
    reason: `${JSON.stringify(file.path)} is not UTF-8 text: correct or remove it`,
  });
  await assertRejects(() => file.write("x".repeat(262145)), Error, "shorten it");
});

Deno.test("planFile() rejects options with unknown names", () => {
  const options: object = { whithin: "/tmp" };
  assertThrows(() => planFile("plan.md", options), Error, "did you mean within?");
});
