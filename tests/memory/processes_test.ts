import { assert, assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../src/core/errors/errors.ts";
import { FileSessionStore } from "../../src/memory/file/file_store.ts";
import { createDeadline } from "../deadline.ts";
import type { FillReport } from "./session_child.ts";

const CHILD_PATH = new URL("./session_child.ts", import.meta.url).pathname;
const FLAGS = ["run", "--quiet", "--no-config", "--no-lock", "--cached-only", "--no-check", "-A"];
const canMount = Deno.build.os === "linux" && await succeeds("unshare", ["-rm", "true"]);

async function succeeds(command: string, args: string[]): Promise<boolean> {
  try {
    return (await new Deno.Command(command, { args, stdout: "null", stderr: "null" }).output())
      .success;
  } catch {
    return false;
  }
}

function withTempDirectory(
  name: string,
  test: (directory: string) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const directory = await Deno.makeTempDir({ prefix: name });
    try {
      await test(directory);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  };
}

async function createTestSession(directory: string): Promise<FileSessionStore> {
  const store = new FileSessionStore({ directory });
  await using session = await store.create({ id: "s" });
  session.append({ type: "title", title: "begun" });
  return store;
}

Deno.test(
  "FileSessionStore: another process can read an open session, and write to it after the owner was killed [B76]",
  withTempDirectory("held", async (directory) => {
    const store = await createTestSession(directory);
    const child = new Deno.Command(Deno.execPath(), {
      args: [...FLAGS, CHILD_PATH, "hold", directory],
      stdout: "piped",
      signal: createDeadline(),
    }).spawn();
    const output = child.stdout.getReader();
    await output.read();
    const error = await assertRejects(
      () => store.open("s"),
      SessionError,
      "is open in other host",
    );
    assertEquals([error.reason, error.owner?.pid], ["locked", child.pid]);
    const reader = await store.open("s", { access: "read" });
    assertEquals(reader.outline.length, 2);
    await reader.close();
    child.kill("SIGKILL");
    await child.status;
    await output.cancel();
    await using session = await store.open("s");
    assertEquals(session.damage, []);
  }),
);

Deno.test(
  "FileSessionStore: keeps all entries when several processes write in turn [A144]",
  withTempDirectory("turns", async (directory) => {
    const store = await createTestSession(directory);
    const [processes, entries] = [4, 15];
    const children = Array.from({ length: processes }, () =>
      new Deno.Command(Deno.execPath(), {
        args: [...FLAGS, CHILD_PATH, "append", directory, String(entries)],
        stderr: "inherit",
        signal: createDeadline(),
      }).output());
    for (const { success } of await Promise.all(children)) assert(success);
    await using session = await store.open("s");
    assertEquals(session.damage, []);
    const path = await session.path({ types: ["custom"] });
    assertEquals(path.length, processes * entries);
    assertEquals(
      new Set(path.map((entry) => entry.type === "custom" && String(entry.data))).size,
      processes * entries,
    );
  }),
);

Deno.test({
  name:
    "recordSession() aborts the run on a full disk before a tool runs unrecorded, and continues later [B77]",
  ignore: !canMount,
  fn: withTempDirectory("full", async (directory) => {
    const command = [Deno.execPath(), ...FLAGS, CHILD_PATH, "fill", directory].join(" ");
    const mount = `mount -t tmpfs -o size=64k tmpfs ${directory}`;
    const { success, stdout } = await new Deno.Command("unshare", {
      args: ["-rm", "sh", "-c", `${mount} && ${command}`],
      stderr: "inherit",
      signal: createDeadline(),
    }).output();
    assert(success);
    const report: FillReport = JSON.parse(new TextDecoder().decode(stdout));
    assertEquals([report.stopReason, report.reason], ["aborted", "write_failed"]);
    assert(report.message.includes("the disk is full: free some space"), report.message);
    assert(
      report.ran > 3 && report.ran <= report.started,
      "a tool ran that the log does not have",
    );
    assertEquals([report.matchesWhenFull, report.matchesAtEnd, report.finalStopReason], [
      true,
      true,
      "stop",
    ]);
  }),
});

Deno.test(
  "FileSessionStore: reads from a read-only directory and rejects open() for writing",
  withTempDirectory("read_only", async (directory) => {
    const store = await createTestSession(directory);
    await Deno.chmod(directory, 0o555);
    try {
      // The superuser can write to every directory.
      if (Deno.uid() !== 0) {
        const error = await assertRejects(
          () => store.open("s"),
          SessionError,
          "permission denied",
        );
        assertEquals(error.reason, "write_failed");
      }
      await using reader = await store.open("s", { access: "read" });
      assertEquals(reader.outline.length, 1);
      assertEquals((await store.list()).length, 1);
    } finally {
      await Deno.chmod(directory, 0o755);
    }
  }),
);

Deno.test({
  name: "FileSessionStore and SqliteSessionStore: delete() works on a full disk",
  ignore: !canMount,
  fn: withTempDirectory("purge", async (directory) => {
    const command = [Deno.execPath(), ...FLAGS, CHILD_PATH, "purge", directory].join(" ");
    const mount = `mount -t tmpfs -o size=2m tmpfs ${directory}`;
    const { success, stdout } = await new Deno.Command("unshare", {
      args: ["-rm", "sh", "-c", `${mount} && ${command}`],
      stderr: "inherit",
      signal: createDeadline(),
    }).output();
    assert(success);
    assertEquals(JSON.parse(new TextDecoder().decode(stdout)), ["kept", "kept"]);
  }),
});
