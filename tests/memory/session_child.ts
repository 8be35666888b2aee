/**
 * A process that uses the sessions of a test. `hold` keeps a session open until it is killed, `append` adds entries
 * whenever the session is not locked, `fill` runs an agent until the disk is full and continues when space is free,
 * `purge` deletes sessions on a full disk.
 *
 * @module
 */

import { Agent } from "../../src/agent/agent.ts";
import { SessionError } from "../../src/core/errors/errors.ts";
import { isJsonEqual } from "../../src/core/json/json_equal.ts";
import type { Session } from "../../src/core/sessions/session.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { FileSessionStore } from "../../src/memory/file/file_store.ts";
import { recordSession } from "../../src/memory/recording/record_session.ts";
import { resumeSession } from "../../src/memory/recording/resume.ts";
import { SqliteSessionStore } from "../../src/memory/sqlite/sqlite_store.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";

/** Result of {@linkcode fillDisk}. */
export interface FillReport {
  readonly stopReason: string;
  readonly reason: string | undefined;
  readonly message: string;
  /** Number of tool calls that ran before the disk was full. */
  readonly ran: number;
  /** Number of tool calls that the log has as started. */
  readonly started: number;
  /** Whether memory and log were equal when the disk was full. */
  readonly matchesWhenFull: boolean;
  /** Whether they were equal at the end. */
  readonly matchesAtEnd: boolean;
  /** Stop reason of the run after space was freed. */
  readonly finalStopReason: string;
}

async function holdSession(directory: string): Promise<void> {
  const store = new FileSessionStore({ directory, owner: "other host" });
  const session = await store.open("s");
  session.append({ type: "title", title: "held" });
  await session.flush();
  console.log("held");
  await new Promise(() => setInterval(() => {}, 60_000));
}

async function appendEntries(directory: string, count: number): Promise<void> {
  const store = new FileSessionStore({ directory });
  for (let number = 0; number < count;) {
    try {
      await using session = await store.open("s");
      session.append({ type: "custom", name: "appended", data: [Deno.pid, number] });
      number++;
    } catch (error) {
      if (!(error instanceof SessionError) || error.reason !== "locked") throw error;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

async function fillDisk(directory: string): Promise<FillReport> {
  await Deno.writeFile(`${directory}/ballast`, new Uint8Array(36 * 1024));
  const store = new FileSessionStore({ directory });
  let ran = 0;
  const write = defineTool({
    name: "write",
    description: "Writes.",
    parameters: { type: "object" },
    execute: () => `${++ran} ${"x".repeat(3000)}`,
  });
  const steps = Array.from(
    { length: 60 },
    (_, number) =>
      number % 13 === 12
        ? reply("enough")
        : reply([toolCall("write", {}, { id: `call_${number}` })]),
  );
  const streamFn = scriptedStream(steps);
  const agent = new Agent({ model: "p/m", streamFn, tools: [write], validator: () => () => [] });
  const recording = await recordSession(agent, store, { id: "s" });
  const { stopReason, abortReason } = await agent.prompt("go");
  const { session } = recording;
  const started = session.outline.filter(({ type }) => type === "tool_started").length;
  const matchesWhenFull = await matchesLog(store, session);
  const ranUntilFull = ran;
  await Deno.remove(`${directory}/ballast`);
  const continued = await agent.continue();
  await recording.stop();
  const resumed = await resumeSession(store, "s");
  const matchesAtEnd = isJsonEqual(resumed.messages, agent.state.messages);
  await resumed.session.close();
  const error = abortReason instanceof SessionError ? abortReason : undefined;
  return {
    stopReason,
    reason: error?.reason,
    message: error?.message ?? "",
    ran: ranUntilFull,
    started,
    matchesWhenFull,
    matchesAtEnd,
    finalStopReason: continued.stopReason,
  };
}

async function matchesLog(store: FileSessionStore, session: Session): Promise<boolean> {
  await using reader = await store.open("s", { access: "read" });
  return JSON.stringify(reader.outline) === JSON.stringify(session.outline);
}

/** Deletes a session of each kind of store on a full disk; returns the ids of the others. */
async function purgeFullDisk(directory: string): Promise<string[]> {
  const stores = [
    new FileSessionStore({ directory: `${directory}/files` }),
    new SqliteSessionStore({ path: `${directory}/sessions.db` }),
  ];
  for (const store of stores) {
    for (const id of ["gone", "kept"]) {
      await using session = await store.create({ id });
      for (let number = 0; number < 50; number++) {
        session.append({ type: "custom", name: "filled", data: `${number} `.repeat(500) });
      }
    }
  }
  using ballast = await Deno.open(`${directory}/ballast`, { write: true, create: true });
  try {
    for (;;) await ballast.write(new Uint8Array(512));
  } catch {
    // The disk is full.
  }
  const kept: string[] = [];
  for (const store of stores) {
    await store.delete("gone");
    for (const { id } of await store.list()) kept.push(id);
    if (store instanceof SqliteSessionStore) await store.close();
  }
  return kept;
}

if (import.meta.main) {
  const [mode, directory = "", count] = Deno.args;
  if (mode === "hold") await holdSession(directory);
  if (mode === "append") await appendEntries(directory, Number(count));
  if (mode === "purge") console.log(JSON.stringify(await purgeFullDisk(directory)));
  if (mode === "fill") console.log(JSON.stringify(await fillDisk(directory)));
}
