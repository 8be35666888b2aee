import { assert, assertEquals } from "@std/assert";
import { choosePackages } from "../../scripts/packages.ts";
import { extractText } from "../../src/core/content.ts";
import { repairHistory } from "../../src/core/history.ts";
import { PostgresSessionStore } from "../../src/memory/postgres/mod.ts";
import { resumeSession } from "../../src/memory/recording/resume.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import { createDeadline } from "../deadline.ts";
import {
  POSTGRES_DIRECTORY,
  type PostgresServer,
  startPostgres,
} from "../memory/postgres_server.ts";
import { isUnknown, OPERATIONS } from "./kill_worker.ts";

const IS_PROOF_RUN = Deno.env.get("SWINK_PROVE") === "1";
const KILLS = IS_PROOF_RUN ? 300 : 4;
const RUNS = IS_PROOF_RUN ? 50 : 8;
const WORKERS = 2;
/** Of that many kills, one is that of the Postgres server. */
const KILLS_PER_CRASH = IS_PROOF_RUN ? 15 : 3;
/** Longest pause between two kills, in milliseconds. */
const MAX_PAUSE_MS = 2_000;
/** Time in which the runs of a generation end after the last kill, in milliseconds. */
const END_MS = 240_000;

const { config: configPath } = await choosePackages();
const workerPath = new URL("./kill_worker.ts", import.meta.url).pathname;

/** The workers and the files of a test. */
class Workers implements AsyncDisposable {
  readonly #url: string;
  readonly #directory: string;
  readonly #processes: (Deno.ChildProcess | undefined)[] = Array(WORKERS).fill(undefined);
  #started = 0;

  constructor(url: string, directory: string) {
    this.#url = url;
    this.#directory = directory;
  }

  /** Starts the worker in a slot, with its share of the runs; resolves when it works. */
  async start(slot: number, runs: readonly string[]): Promise<void> {
    const share = runs.filter((_id, index) => index % WORKERS === slot);
    // With the lock file, DBOS's optional packages are resolved once.
    const flags = ["--quiet", "-c", configPath, "--no-check", "-A"];
    const args = [this.#url, this.#directory, `${this.#started++}`, ...share];
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", ...flags, workerPath, ...args],
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
      signal: createDeadline(IS_PROOF_RUN ? 3_600_000 : undefined),
    }).spawn();
    this.#processes[slot] = process;
    const reader = process.stdout.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    assert(new TextDecoder().decode(value).includes("ready"), "the worker did not start");
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

async function countUnfinished(server: PostgresServer): Promise<number> {
  const rows = await server.sql(
    "SELECT count(*) AS count FROM dbos.workflow_status WHERE status NOT IN ('SUCCESS', 'ERROR')",
  ).catch(() => [{ count: -1 }]); // The server is being started.
  return Number(rows[0]?.count);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function untilFinished(server: PostgresServer): Promise<void> {
  const deadline = performance.now() + END_MS;
  while (await countUnfinished(server) !== 0) {
    assert(performance.now() < deadline, "the runs did not end");
    await pause(100);
  }
}

/** Asserts that the runs have ended, that no effect was repeated, and that their sessions are complete. */
async function assertDoneOnce(
  server: PostgresServer,
  directory: string,
  runs: readonly string[],
): Promise<void> {
  const outcomes = await server.sql(
    "SELECT workflow_uuid FROM dbos.workflow_status WHERE status = 'SUCCESS'",
  );
  const ended = new Set(outcomes.map(({ workflow_uuid }) => workflow_uuid));
  assertEquals(runs.filter((id) => !ended.has(id)), [], "runs without success");
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
  for (const id of runs) await assertComplete(store, id, new Set(effects));
  await store.close();
}

async function assertComplete(
  store: PostgresSessionStore,
  id: string,
  effects: ReadonlySet<string>,
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
    assert(effects.has(`${id} ${operation}`), `${id}: a reported effect did not happen`);
  }
}

Deno.test({
  name:
    `DbosEngine: ${RUNS} concurrent runs end, without repeated side effects, when workers and the server are ` +
    `killed at ${KILLS} random points`,
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const random = seededRandom(17);
    const server = await startPostgres({ durable: true });
    const directory = await Deno.makeTempDir();
    const all: string[] = [];
    try {
      await using workers = new Workers(server.url, directory);
      let kills = 0;
      for (let generation = 0; kills < KILLS; generation++) {
        const runs = Array.from({ length: RUNS }, (_, index) => `run-${generation}-${index}`);
        all.push(...runs);
        // The first worker creates the tables.
        for (const slot of Array(WORKERS).keys()) {
          await workers.kill(slot);
          await workers.start(slot, runs);
        }
        while (kills < KILLS && await countUnfinished(server) !== 0) {
          await pause(random() * MAX_PAUSE_MS);
          const isCrash = ++kills % KILLS_PER_CRASH === 0;
          const slot = Math.floor(random() * WORKERS);
          if (isCrash) await server.crash();
          await workers.kill(slot);
          await workers.start(slot, runs);
        }
        await untilFinished(server);
      }
      await assertDoneOnce(server, directory, all);
    } finally {
      await server.stop();
      await Deno.remove(directory, { recursive: true });
    }
  },
});
