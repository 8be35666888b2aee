/**
 * Workers that tests kill, and what must be true after that.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { choosePackages } from "../../scripts/packages.ts";
import { extractText } from "../../src/core/messages/content.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import { PostgresSessionStore } from "../../src/memory/postgres/mod.ts";
import { resumeSession } from "../../src/memory/recording/resume.ts";
import { createDeadline } from "../deadline.ts";
import type { PostgresServer } from "../memory/postgres_server.ts";
import { isUnknown, OPERATIONS } from "./kill_worker.ts";

/** Whether the test is a proof, with many kills. */
export const IS_PROOF_RUN: boolean = Deno.env.get("SWINK_PROVE") === "1";
/** Number of workers. */
export const WORKERS = 2;
/** Longest pause between two kills, in milliseconds. */
export const MAX_PAUSE_MS = 2_000;
/** Time in which the runs of a generation end after the last kill, in milliseconds. */
const END_MS = 240_000;

const { config: configPath } = await choosePackages();

/** The workers and the files of a test. */
export class Workers implements AsyncDisposable {
  readonly #path: string;
  readonly #url: string;
  readonly #directory: string;
  readonly #processes: (Deno.ChildProcess | undefined)[] = Array(WORKERS).fill(undefined);
  #started = 0;

  constructor(
    { path, url, directory }: {
      /** Path of the code of a worker, which prints a line when it works. */
      readonly path: string;
      /** URL of the database. */
      readonly url: string;
      /** Directory of the files that tools change. */
      readonly directory: string;
    },
  ) {
    this.#path = path;
    this.#url = url;
    this.#directory = directory;
  }

  /** Starts the worker in a slot, with its share of the runs; resolves to the line that it prints when it works. */
  async start(slot: number, runs: readonly string[]): Promise<string> {
    const share = runs.filter((_id, index) => index % WORKERS === slot);
    // With the lock file, DBOS's optional packages are resolved once.
    const flags = ["--quiet", "-c", configPath, "--no-check", "-A"];
    const args = [this.#url, this.#directory, `${this.#started++}`, ...share];
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", ...flags, this.#path, ...args],
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
      signal: createDeadline(IS_PROOF_RUN ? 3_600_000 : undefined),
    }).spawn();
    this.#processes[slot] = process;
    const reader = process.stdout.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    const line = new TextDecoder().decode(value);
    assert(line.includes("ready"), "the worker did not start");
    return line;
  }

  /** Ends a worker with SIGKILL. */
  async kill(slot: number): Promise<void> {
    const process = this.#processes[slot];
    this.#processes[slot] = undefined;
    if (!process) return;
    process.kill("SIGKILL");
    const { signal } = await process.status;
    assertEquals(signal, "SIGKILL", "the worker ended by itself");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const slot of this.#processes.keys()) await this.kill(slot);
  }
}

/** Counts the runs that have not ended; -1 while the server does not answer. */
export async function countUnfinished(server: PostgresServer): Promise<number> {
  const rows = await server.sql(
    "SELECT count(*) AS count FROM dbos.workflow_status WHERE status NOT IN ('SUCCESS', 'ERROR')",
  ).catch(() => [{ count: -1 }]); // The server is being started.
  return Number(rows[0]?.count);
}

/** Waits. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Waits until all runs have ended, and those with these ids have begun, which a worker starts after it was started. */
export async function untilFinished(
  server: PostgresServer,
  ids: readonly string[] = [],
): Promise<void> {
  const deadline = performance.now() + END_MS;
  while (!await haveBegun(server, ids) || await countUnfinished(server) !== 0) {
    assert(performance.now() < deadline, "the runs did not end");
    await pause(100);
  }
}

async function haveBegun(server: PostgresServer, ids: readonly string[]): Promise<boolean> {
  const rows = await server.sql("SELECT workflow_uuid FROM dbos.workflow_status").catch(() => []);
  const begun = new Set(rows.map(({ workflow_uuid }) => workflow_uuid));
  return ids.every((id) => begun.has(id));
}

/**
 * Asserts that the runs have ended, that no effect was repeated, and that their sessions are complete; `runs` has the id of
 * the run of each session.
 */
export async function assertDoneOnce(
  server: PostgresServer,
  directory: string,
  runs: ReadonlyMap<string, string>,
): Promise<void> {
  const outcomes = await server.sql(
    "SELECT workflow_uuid, status, error FROM dbos.workflow_status",
  );
  assertEquals(outcomes.filter(({ status }) => status !== "SUCCESS"), [], "runs without success");
  const ended = new Set(outcomes.map(({ workflow_uuid }) => workflow_uuid));
  assertEquals([...runs.values()].filter((id) => !ended.has(id)), [], "runs that have not begun");
  const effects = (await Deno.readTextFile(`${directory}/effects.txt`)).trim().split("\n");
  assertEquals(effects.length, new Set(effects).size, "a side effect happened twice");
  const keyByCall = new Map<string, string>();
  for (const line of (await Deno.readTextFile(`${directory}/keys.txt`)).trim().split("\n")) {
    const [run, operation, key = ""] = line.split(" ");
    const call = `${run} ${operation}`;
    assertEquals(keyByCall.get(call) ?? key, key, "a repeated call has another key");
    keyByCall.set(call, key);
  }
  const store = new PostgresSessionStore({ connection: server.url });
  const done = new Set(effects);
  for (const [id, run] of runs) {
    const operations = new Set(
      Array.from(Array(OPERATIONS).keys()).filter((operation) => done.has(`${run} ${operation}`)),
    );
    await assertComplete(store, id, operations);
  }
  await store.close();
}

async function assertComplete(
  store: PostgresSessionStore,
  id: string,
  effects: ReadonlySet<number>,
): Promise<void> {
  const { session, messages, isInterrupted, pendingCalls } = await resumeSession(store, id);
  await session.close();
  assertEquals([isInterrupted, pendingCalls, repairHistory(messages).repairs], [false, [], []], id);
  assertEquals(messages.filter(({ role }) => role === "user").length, 1, id);
  const last = messages.at(-1);
  assert(last?.role === "assistant" && extractText(last.content) === "all done", id);
  const results = messages.filter((message) => message.role === "tool_result");
  assertEquals(results.length, OPERATIONS, id);
  for (const result of results) {
    const operation = Number(result.toolCallId.split("_")[1]);
    if (operation % 3 !== 0 || isUnknown(result)) continue;
    assert(effects.has(operation), `${id}: a reported effect did not happen`);
  }
}
