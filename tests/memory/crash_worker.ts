/**
 * A program that tests kill at random: an agent performs a list of operations with tools, and resumes its session when
 * the program is started again.
 *
 * @module
 */

import { Agent } from "../../src/agent/agent.ts";
import { SessionError } from "../../src/core/errors/errors.ts";
import { extractText } from "../../src/core/messages/content.ts";
import type { AgentMessage, LlmMessage } from "../../src/core/messages/message.ts";
import type { SessionStore } from "../../src/core/sessions/session.ts";
import type { StreamRequest } from "../../src/core/streams/stream.ts";
import { type AgentTool, defineTool } from "../../src/core/tools/tool.ts";
import { FileSessionStore } from "../../src/memory/file/file_store.ts";
import { PostgresSessionStore } from "../../src/memory/postgres/mod.ts";
import { recordSession } from "../../src/memory/recording/record_session.ts";
import { resumeSession } from "../../src/memory/recording/resume.ts";
import type { SessionRecording } from "../../src/memory/recording/session_recording.ts";
import { SqliteSessionStore } from "../../src/memory/sqlite/sqlite_store.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply, type ScriptedAnswer } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";

/** The tools; operation number `n` uses tool `n % 3`. */
const TOOLS = ["append", "write", "inspect"] as const;
const BATCH_SIZE = 4;
/** Prompt that requests the final reply. */
export const FINAL_PROMPT = "finish";

/** Duration of leases in Postgres, after which the next worker continues, in milliseconds. */
const LEASE_MS = 100;
/** Time in which a server that was killed starts again, in milliseconds. */
const RESTART_MS = 60_000;

/** The stores that persist sessions. */
export type StoreKind = "files" | "SQLite" | "Postgres";

/** A store, and the files that tools change. */
export interface WorkPlace {
  /** Directory of the files that tools change, and of the sessions in files and SQLite. */
  readonly directory: string;
  /** The store. */
  readonly kind: StoreKind;
  /** URL of the database, for Postgres. */
  readonly url?: string | undefined;
}

/** Opens a store that closes when it is disposed. */
export function openStore(
  { directory, kind, url = "" }: WorkPlace,
): SessionStore & AsyncDisposable {
  switch (kind) {
    case "files": {
      const disposable = { [Symbol.asyncDispose]: () => Promise.resolve() };
      return Object.assign(new FileSessionStore({ directory }), disposable);
    }
    case "SQLite":
      return new SqliteSessionStore({ path: `${directory}/sessions.db` });
    case "Postgres": {
      const options = { maxConnections: 2, leaseMs: LEASE_MS, retryMs: RESTART_MS };
      return new PostgresSessionStore({ connection: url, ...options });
    }
  }
}

/** Options for {@linkcode runWork}. */
export interface WorkOptions extends WorkPlace {
  /** Id of the session. */
  readonly id: string;
  /** Number of operations. */
  readonly operations: number;
  /** Called when the store is connected. */
  readonly onConnect?: () => void;
}

/** Runs the agent until all operations are done. */
export async function runWork(options: WorkOptions): Promise<Agent> {
  const { directory, kind, id, operations, onConnect } = options;
  await using store = openStore(options);
  if (kind === "Postgres") await store.list({ limit: 1 });
  onConnect?.();
  const agent = new Agent({
    model: "scripted/model",
    streamFn: scriptedStream(Array.from({ length: 1000 }, () => createNextStep(operations))),
    tools: createTools(directory),
    validator: () => () => [],
  });
  await using _recording = await startRecording(agent, store, id);
  const hasPrompt = agent.state.messages.some(({ role }) => role === "user");
  if (!hasPrompt) await agent.prompt("work");
  else if (!isFinished(agent.state.messages)) await agent.continue();
  return agent;
}

/** Whether the final reply was given. */
export function isFinished(messages: readonly AgentMessage[]): boolean {
  const last = messages.at(-1);
  return last?.role === "assistant" && extractText(last.content) === "bye";
}

async function startRecording(
  agent: Agent,
  store: SessionStore,
  id: string,
): Promise<SessionRecording> {
  try {
    const resumed = await resumeSession(store, id);
    const hasEntries = resumed.session.outline.length > 0;
    const recording = await resumed.into(agent);
    // Without entries, the worker was killed before it recorded the queue.
    if (!hasEntries) agent.followUp(FINAL_PROMPT);
    return recording;
  } catch (error) {
    if (!(error instanceof SessionError)) throw error;
    if (error.reason === "locked") {
      await new Promise((resolve) => setTimeout(resolve, LEASE_MS / 10));
      return await startRecording(agent, store, id);
    }
    if (error.reason !== "not_found") throw error;
  }
  agent.followUp(FINAL_PROMPT);
  return await recordSession(agent, store, { id });
}

/** Calls tools for the next open operations, and gives the final reply when it is requested. */
function createNextStep(operations: number): (request: StreamRequest) => ScriptedAnswer {
  return ({ context: { messages } }) => {
    const last = messages.at(-1);
    if (last?.role === "user" && extractText(last.content) === FINAL_PROMPT) return reply("bye");
    const open = findOpenOperations(messages, operations).slice(0, BATCH_SIZE);
    if (open.length === 0) return reply("all done");
    return reply(open.map((operation) => createCall(operation, messages)));
  };
}

function findOpenOperations(messages: readonly LlmMessage[], operations: number): number[] {
  const settled = new Set(
    messages.flatMap((message) =>
      message.role === "tool_result" && !extractText(message.content).includes("was not run")
        ? [parseOperation(message.toolCallId)]
        : []
    ),
  );
  return Array.from(Array(operations).keys()).filter((operation) => !settled.has(operation));
}

function createCall(operation: number, messages: readonly LlmMessage[]) {
  const attempts = messages.filter((message) =>
    message.role === "tool_result" && parseOperation(message.toolCallId) === operation
  );
  const name = TOOLS[operation % TOOLS.length] ?? "inspect";
  return toolCall(name, { operation }, { id: `operation_${operation}_${attempts.length}` });
}

function parseOperation(toolCallId: string): number {
  return Number(toolCallId.split("_")[1]);
}

function createTools(directory: string): AgentTool[] {
  const parameters = {
    type: "object",
    properties: { operation: { type: "integer" } },
    required: ["operation"],
  } as const;
  const append = (file: string, line: string) =>
    Deno.writeTextFile(`${directory}/${file}`, `${line}\n`, { append: true });
  return [
    defineTool({
      name: "append",
      description: "Must not be repeated.",
      parameters,
      sideEffect: "once",
      execute: async ({ operation }) => {
        await append("effects.txt", String(operation));
        return `done ${operation}`;
      },
    }),
    defineTool({
      name: "write",
      description: "May be repeated under the same key.",
      parameters,
      sideEffect: "idempotent",
      execute: async ({ operation }, { toolCallId, idempotencyKey }) => {
        await append("keys.txt", `${toolCallId} ${idempotencyKey}`);
        return `done ${operation}`;
      },
    }),
    defineTool({
      name: "inspect",
      description: "Changes nothing.",
      parameters,
      readOnly: true,
      execute: ({ operation }) => `done ${operation}`,
    }),
  ];
}

function parseKind(kind: string | undefined): StoreKind {
  return kind === "SQLite" || kind === "Postgres" ? kind : "files";
}

if (import.meta.main) {
  const [directory = "", kind, id = "", operations = "0", url] = Deno.args;
  await runWork({
    directory,
    kind: parseKind(kind),
    id,
    url,
    operations: Number(operations),
    onConnect: () => console.log("ready"),
  });
  console.log("finished");
}
