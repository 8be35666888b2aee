import { assert, assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../../mod.ts";
import { SessionError } from "../../../src/core/errors/errors.ts";
import {
  FileSessionStore,
  recordSession,
  resumeSession,
  SqliteSessionStore,
} from "../../../src/memory/mod.ts";
import { findBuiltinModule } from "../../../src/platform/builtin_modules.ts";
import type { SystemProcess } from "../../../src/platform/process_calls.ts";
import { isDeno, system } from "../../../src/platform/system.ts";
import { reply, scriptedStream } from "../../../src/testing/mod.ts";
import { withDirectory } from "./temporary_directory.ts";

function createAgent(): Agent {
  return new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hello!")]) });
}

Deno.test("library: an agent continues a session in files", () =>
  withDirectory(async (directory) => {
    const store = new FileSessionStore({ directory });
    const agent = createAgent();
    const recording = await recordSession(agent, store);
    await agent.prompt("Hi");
    await recording.stop();
    const { id } = recording.session;
    await recording.session.close();

    const otherStore = new FileSessionStore({ directory });
    assertEquals((await otherStore.list()).map((summary) => summary.id), [id]);
    assertEquals((await otherStore.search("hello")).length, 1);
    const resumed = await resumeSession(otherStore, id);
    const next = createAgent();
    await using _recording = await resumed.into(next);
    assertEquals(next.state.messages.map(({ role }) => role), ["user", "assistant"]);
  }));

/** Starts a module in another process of this runtime. */
function startModule(module: URL, ...args: string[]): SystemProcess {
  const flags = isDeno
    ? ["run", "--no-config", "--no-lock", "--cached-only", "--no-check", "-A"]
    : [];
  return new system.Command(system.execPath(), {
    args: [...flags, decodeURIComponent(module.pathname), ...args],
    env: { HOME: system.env.get("HOME") ?? "", PATH: system.env.get("PATH") ?? "" },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
}

Deno.test("library: a session is locked by another process until that is killed", () =>
  withDirectory(async (directory) => {
    const holder = startModule(new URL("./session_holder.ts", import.meta.url), directory);
    const output = holder.stdout.getReader();
    assertEquals(new TextDecoder().decode((await output.read()).value), "open\n");

    const store = new FileSessionStore({ directory });
    const error = await assertRejects(() => store.open("s"), SessionError, "is open in holder");
    assertEquals([error.reason, error.owner?.pid], ["locked", holder.pid]);
    system.kill(holder.pid, "SIGKILL");
    await holder.status;
    await output.cancel();
    await using session = await store.open("s");
    assertEquals((await session.path()).length, 1);
  }));

Deno.test("library: a session has all entries of several processes that write to it in turn", () =>
  withDirectory(async (directory) => {
    const store = new FileSessionStore({ directory });
    const created = await store.create({ id: "s" });
    created.append({ type: "title", title: "Begun" });
    await created.close();
    const writers = Array.from(
      { length: 4 },
      () => startModule(new URL("./session_writer.ts", import.meta.url), directory, "20"),
    );
    const outputs = await Promise.all(writers.map(({ stdout }) => new Response(stdout).text()));
    await Promise.all(writers.map(({ status }) => status));
    assertEquals(outputs, Array.from({ length: 4 }, () => "done\n"));
    await using session = await store.open("s");
    const entries = await session.path({ types: ["custom"] });
    const data = entries.map((entry) => entry.type === "custom" ? String(entry.data) : "");
    assertEquals([session.damage, new Set(data).size, data.length], [[], 80, 80]);
  }));

Deno.test("library: sessions in SQLite, or an error that names the alternative", () =>
  withDirectory(async (directory) => {
    await using store = new SqliteSessionStore({ path: `${directory}/sessions.db` });
    if (!findBuiltinModule("node:sqlite")) {
      const error = await assertRejects(() => store.create(), SessionError, "FileSessionStore");
      return assertEquals(error.reason, "read_failed");
    }
    await using session = await store.create();
    session.append({ type: "title", title: "First steps" });
    await session.flush();
    assert((await store.search("steps")).length === 1);
  }));
