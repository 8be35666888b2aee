import { assertEquals, assertRejects } from "@std/assert";
import { AbortedError } from "../core/errors.ts";
import { withDeadline } from "../../tests/deadline.ts";
import { readSmallFile } from "./small_file.ts";
import { readUntrustedFile, readUntrustedText } from "./untrusted_file.ts";

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

for (const { name, setup, reason } of CASES) {
  Deno.test({
    name: `readUntrustedFile(): refuses ${name}`,
    ignore: Deno.build.os === "windows",
    fn: () =>
      withDirectory(async (directory) => {
        runShell(directory, setup);
        const options = { within: directory, maxBytes: MAX_BYTES };
        const read = await withDeadline(readUntrustedFile(`${directory}/it`, options), 5_000);
        assertEquals(read, { type: "refused", reason });
        assertEquals(readSmallFile(`${directory}/it`, { verifyPath: true }), undefined);
      }),
  });
}

Deno.test("readUntrustedFile(): reads a regular file and a link inside of the directory", () =>
  withDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/file`, "content");
    await Deno.symlink("file", `${directory}/link`);
    const options = { within: directory, maxBytes: MAX_BYTES };
    assertEquals(await readUntrustedText(`${directory}/file`, options), "content");
    assertEquals(await readUntrustedText(`${directory}/link`, options), "content");
    assertEquals(await readUntrustedFile(`${directory}/none`, options), { type: "missing" });
    assertEquals(await readUntrustedFile(`${directory}/file/x`, options), { type: "missing" });
  }));

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
