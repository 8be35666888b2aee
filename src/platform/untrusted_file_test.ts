// Needs its own isolate: the first tests expect that no program was started yet.
import { assertEquals, assertRejects } from "@std/assert";
import { withDeadline } from "../../tests/deadline.ts";
import { AbortedError } from "../core/errors/errors.ts";
import { readSmallFile } from "./small_file.ts";
import { hasStartedPrograms, noteStartedProgram } from "./started_programs.ts";
import { openUntrustedFile, readUntrustedFile, readUntrustedText } from "./untrusted_file.ts";

const MAX_BYTES = 1_000;

async function withDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const parent = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink_untrusted_" }));
  try {
    await Deno.mkdir(`${parent}/inside`);
    await Deno.writeTextFile(`${parent}/key`, "secret");
    await run(`${parent}/inside`);
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
}

function runShell(directory: string, script: string): void {
  const { success } = new Deno.Command("bash", { args: ["-c", script], cwd: directory })
    .outputSync();
  assertEquals(success, true, script);
}

interface RefusedCase {
  readonly name: string;
  /** Shell script that creates `it`. */
  readonly setup: string;
  readonly reason: string;
}

const OUTSIDE = "is a link to a file outside of its directory";

const CASES: readonly RefusedCase[] = [
  {
    name: "a named pipe",
    setup: "mkfifo it",
    reason: "is a named pipe, not a regular file",
  },
  {
    name: "a link to a named pipe",
    setup: "mkfifo pipe && ln -s pipe it",
    reason: "is a named pipe, not a regular file",
  },
  { name: "a directory", setup: "mkdir it", reason: "is a directory, not a regular file" },
  { name: "a link to an endless device", setup: "ln -s /dev/zero it", reason: OUTSIDE },
  { name: "a link to a file outside", setup: "ln -s ../key it", reason: OUTSIDE },
  {
    name: "a file behind a linked directory outside",
    setup: "mkdir ../other && touch ../other/it && ln -s ../other sub && ln -s sub/it it",
    reason: OUTSIDE,
  },
  {
    name: "a large file",
    setup: "truncate -s 10G it",
    reason: "is larger than 1000 bytes",
  },
];

/** Both ways to open a file, in this order: a started program remains noted. */
const WAYS = [
  { name: "before a program is started", prepare: () => assertEquals(hasStartedPrograms(), false) },
  { name: "after a program was started", prepare: noteStartedProgram },
];

for (const { name: way, prepare } of WAYS) {
  for (const { name, setup, reason } of CASES) {
    Deno.test({
      name: `readUntrustedFile(): refuses ${name} ${way}`,
      ignore: Deno.build.os === "windows",
      fn: () =>
        withDirectory(async (directory) => {
          prepare();
          runShell(directory, setup);
          const options = { within: directory, maxBytes: MAX_BYTES };
          const read = await withDeadline(readUntrustedFile(`${directory}/it`, options), 5_000);
          assertEquals(read, { type: "refused", reason });
          assertEquals(readSmallFile(`${directory}/it`, { verifyPath: true }), undefined);
        }),
    });
  }

  Deno.test(`readUntrustedFile(): reads a regular file and a link inside of the directory ${way}`, () =>
    withDirectory(async (directory) => {
      prepare();
      await Deno.writeTextFile(`${directory}/file`, "content");
      await Deno.symlink("file", `${directory}/link`);
      const options = { within: directory, maxBytes: MAX_BYTES };
      assertEquals(await readUntrustedText(`${directory}/file`, options), "content");
      assertEquals(await readUntrustedText(`${directory}/link`, options), "content");
      assertEquals(await readUntrustedFile(`${directory}/none`, options), { type: "missing" });
      assertEquals(await readUntrustedFile(`${directory}/file/x`, options), { type: "missing" });
    }));

  Deno.test(`openUntrustedFile(): opens no file behind a link ${way}`, () =>
    withDirectory(async (directory) => {
      prepare();
      await Deno.symlink("..", `${directory}/sub`);
      assertEquals(await openUntrustedFile(`${directory}/sub/key`), undefined);
    }));

  Deno.test(`openUntrustedFile(): reads a file from the beginning, in chunks, each time ${way}`, () =>
    withDirectory(async (directory) => {
      prepare();
      const path = `${directory}/file`;
      const content = crypto.getRandomValues(new Uint8Array(60_000));
      const bytes = new Uint8Array(2_500_000).map((_, index) => content[index % 60_000] ?? 0);
      await Deno.writeFile(path, bytes);
      await using file = await openUntrustedFile(path);
      for (let time = 0; time < 2; time++) {
        const chunks = await Array.fromAsync(file?.chunks() ?? []);
        assertEquals(chunks.map(({ length }) => length), [1_048_576, 1_048_576, 402_848]);
        assertEquals(
          new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer()),
          bytes,
        );
      }
      assertEquals(file?.size, bytes.length);
    }));
}

Deno.test({
  name: "openUntrustedFile(): does not wait for the writer of a pipe after a program was started",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withDirectory(async (directory) => {
      noteStartedProgram();
      runShell(directory, "mkfifo pipe");
      const opening = openUntrustedFile(`${directory}/pipe`);
      assertEquals(await withDeadline(opening, 5_000), undefined);
    }),
});

Deno.test("readUntrustedFile(): rejects when it is aborted", () =>
  withDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/file`, "content");
    const options = { within: directory, maxBytes: MAX_BYTES, signal: AbortSignal.abort() };
    await assertRejects(() => readUntrustedFile(`${directory}/file`, options), AbortedError);
  }));

Deno.test("readSmallFile(): does not read through a directory that was replaced by a link", () =>
  withDirectory(async (directory) => {
    await Deno.symlink("..", `${directory}/sub`);
    const path = `${directory}/sub/key`;
    assertEquals(readSmallFile(path, { verifyPath: true }), undefined);
    assertEquals(readSmallFile(path, { verifyPath: false })?.length, 6);
  }));
