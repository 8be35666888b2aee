/**
 * Tools on unusual files: every call returns promptly with a clear message.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../src/core/json/json.ts";
import { withDeadline } from "../deadline.ts";
import { TestWorkspace } from "./test_workspace.ts";

const isLinux = Deno.build.os === "linux";
const isRoot = Deno.uid() === 0;

/** Calls take a few milliseconds, unless they block or read all of a huge file. */
const MAX_CALL_MS = 60_000;

function runShell(workspace: TestWorkspace, script: string): void {
  const { success, stderr } = new Deno.Command("bash", {
    args: ["-c", script],
    cwd: workspace.directory,
  })
    .outputSync();
  assert(success, new TextDecoder().decode(stderr));
}

interface HostileCase {
  readonly name: string;
  /** Shell script that creates the input in the working directory. */
  readonly setup: string;
  readonly path: string;
  /** Expected text of each tool. */
  readonly read: RegExp;
  readonly write?: RegExp;
  readonly edit?: RegExp;
  readonly list?: RegExp;
  readonly search?: RegExp;
}

const CASES: readonly HostileCase[] = [
  {
    name: "a named pipe",
    setup: "mkfifo it",
    path: "it",
    read: /"it" is a named pipe, not a regular file/,
    write: /"it" is a named pipe/,
    edit: /"it" is a named pipe/,
    list: /"it" is not a directory/,
    search: /"it" is neither a file nor a directory/,
  },
  {
    name: "a link to a device",
    setup: "ln -s /dev/zero it",
    path: "it",
    read: /resolves to "\/dev\/zero"\) is outside/,
    write: /outside/,
    edit: /outside/,
    list: /outside/,
    search: /outside/,
  },
  {
    name: "a socket",
    setup: `perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "it", Listen => 1)'`,
    path: "it",
    read: /"it" is a socket, not a regular file/,
    write: /"it" is a socket/,
  },
  {
    name: "a file of 10 GB",
    setup: "truncate -s 10G it; printf 'first\\n' | dd of=it conv=notrunc status=none",
    path: "it",
    read: /"it" is a binary file of 10,737,418,240 bytes/,
    write: /"it" is larger than 20,000,000 bytes: use a command/,
    edit: /"it" is larger than 20,000,000 bytes: use a command/,
    search: /No matches/,
  },
  {
    name: "a directory",
    setup: "mkdir it",
    path: "it",
    read: /"it" is a directory, not a regular file/,
    write: /"it" is a directory/,
    edit: /"it" is a directory/,
    list: /The directory is empty/,
  },
  {
    name: "a path through a file",
    setup: "touch it",
    path: "it/below",
    read: /has a file where a directory should be/,
    write: /has a file where a directory should be/,
    edit: /has a file where a directory should be/,
  },
  {
    name: "a loop of links",
    setup: "ln -s b a; ln -s a b",
    path: "a",
    read: /"a" is a loop of symbolic links/,
    write: /loop/,
    edit: /loop/,
    list: /loop/,
    search: /loop/,
  },
  {
    name: "a name with a newline and an escape",
    setup: "printf 'needle\\n' > $'it\\n\\033[31m'",
    path: "it\n\u001b[31m",
    read: /^1\tneedle$/,
    search: /^"it\\n\\u001b\[31m"\n1: needle$/,
  },
  {
    name: "a name that is too long",
    setup: "true",
    path: "x".repeat(5_000),
    read: /has a name that is too long/,
    write: /has a name that is too long/,
    edit: /has a name that is too long/,
    list: /has a name that is too long/,
    search: /has a name that is too long/,
  },
  {
    name: "a NUL in the path",
    setup: "true",
    path: "a\0b",
    read: /contains a NUL character/,
    write: /contains a NUL character/,
    edit: /contains a NUL character/,
    list: /contains a NUL character/,
    search: /contains a NUL character/,
  },
  {
    name: "an empty path",
    setup: "true",
    path: "",
    read: /The path is empty/,
    write: /The path is empty/,
    edit: /The path is empty/,
    list: /The path is empty/,
    search: /The path is empty/,
  },
  {
    name: "invalid UTF-8",
    setup: "printf 'caf\\351 \\377\\n' > it",
    path: "it",
    read: /^1\tcaf\ufffd \ufffd$/,
    edit: /is not valid UTF-8/,
    search: /No matches/,
  },
  {
    name: "a dangling link to a path outside",
    setup: "ln -s /nowhere/at/all it",
    path: "it",
    read: /resolves to "\/nowhere\/at\/all"\) is outside/,
    write: /outside/,
    edit: /outside/,
  },
  {
    name: "a dangling link to a path inside",
    setup: "ln -s missing it",
    path: "it",
    read: /"it" does not exist/,
    edit: /"it" does not exist/,
    write: /^Created missing/,
  },
  {
    name: "a protected name in upper case",
    setup: "printf 'KEY=needle\\n' > .ENV.local",
    path: ".ENV.local",
    read: /is protected/,
    write: /is protected/,
    edit: /is protected/,
    search: /is protected/,
  },
];

for (const hostile of CASES) {
  Deno.test({
    name: `file tools: return promptly with a clear message for ${hostile.name}`,
    ignore: !isLinux,
    async fn() {
      const { setup, path, read, write, edit, list, search } = hostile;
      const calls: readonly (readonly [string, JsonObject, RegExp | undefined])[] = [
        ["read_file", { path }, read],
        ["list_directory", { path }, list],
        ["search_files", { pattern: "needle", path }, search],
        ["edit_file", { path, edits: [{ old_string: "a", new_string: "b" }] }, edit],
        ["write_file", { path, content: "x" }, write],
      ];
      await using workspace = new TestWorkspace();
      runShell(workspace, setup);
      for (const [name, args, expected] of calls) {
        if (!expected) continue;
        const { text } = await withDeadline(workspace.callTool(name, args), MAX_CALL_MS);
        assertMatch(text, expected, name);
      }
    },
  });
}

Deno.test("read_file: truncates a line of 30 MB", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("it", "x".repeat(30_000_000));
  const { text } = await workspace.callTool("read_file", { path: "it" });
  assertStringIncludes(text, "[… line of 30,000,000 characters truncated …]");
});

Deno.test({
  name: "file tools: report a denied permission",
  ignore: isRoot || !isLinux,
  async fn() {
    await using workspace = new TestWorkspace();
    workspace.writeFile("file", "x");
    workspace.writeFile("directory/file", "x");
    runShell(workspace, "chmod 000 file; chmod 500 directory");
    try {
      const denied = /permission denied by the operating system/;
      assertMatch((await workspace.callTool("read_file", { path: "file" })).text, denied);
      assertMatch(
        (await workspace.callTool("write_file", { path: "directory/new", content: "" })).text,
        denied,
      );
      runShell(workspace, "chmod 000 directory");
      assertMatch((await workspace.callTool("list_directory", { path: "directory" })).text, denied);
      assertEquals((await workspace.callTool("search_files", { pattern: "x" })).text, "No matches");
    } finally {
      runShell(workspace, "chmod 700 directory");
    }
  },
});

Deno.test("file tools: tolerate a directory that is removed during a listing and a search", async () => {
  await using workspace = new TestWorkspace();
  const createFiles = () => {
    for (let index = 0; index < 30; index++) {
      workspace.writeFile(`gone/d${index}/file.txt`, "needle");
    }
  };
  for (let round = 0; round < 5; round++) {
    createFiles();
    const listing = workspace.callTool("list_directory", { depth: 5 });
    const searching = workspace.callTool("search_files", { pattern: "needle" });
    await Promise.resolve();
    Deno.removeSync(`${workspace.directory}/gone`, { recursive: true });
    assertMatch((await listing).text, /gone|The directory is empty/);
    assertMatch((await searching).text, /needle|No matches/);
  }
  await Deno.remove(workspace.directory);
  for (const name of ["list_directory", "search_files", "bash", "read_file", "write_file"]) {
    const args =
      { list_directory: {}, search_files: { pattern: "x" }, bash: { command: "pwd" } }[name] ??
        { path: "x", content: "x" };
    const { isError } = await workspace.callTool(name, name === "read_file" ? { path: "x" } : args);
    assert(isError || name === "write_file", name);
  }
  await Deno.mkdir(workspace.directory, { recursive: true });
});

Deno.test({
  name: "bash: handles endless, binary, split and closed output, and a stopped command",
  ignore: !isLinux,
  async fn() {
    await using workspace = new TestWorkspace();
    const run = async (command: string, timeout_ms = 60_000) =>
      await workspace.callTool("bash", { command, timeout_ms });
    assertStringIncludes((await run("yes", 60)).text, "timed out");
    assertStringIncludes((await run("head -c 5000000 /dev/urandom")).text, "Exit code: 0");
    assertEquals((await run("printf 'a\\0b\\x1b[2J\\x07c'")).text, "Exit code: 0\nabc");
    assertEquals(
      (await run("printf '\\xf0\\x9f'; sleep 0.01; printf '\\x98\\x80'")).text,
      "Exit code: 0\n😀",
    );
    assertEquals((await run("exec >&-; echo lost")).text.split("\n")[0], "Exit code: 1");
    assertMatch((await run("ulimit -v 1; ls")).text, /Exit code: (1|2|12[67]|139)/);
    assertStringIncludes((await run("exec sleep 30", 30)).text, "timed out");
    assertStringIncludes((await run("kill -STOP $$", 30)).text, "timed out");
  },
});
