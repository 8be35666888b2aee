import { assert, assertEquals } from "@std/assert";
import { extractText } from "../../src/core/messages/content.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import type { AgentMessage } from "../../src/core/messages/message.ts";
import { FileSessionStore } from "../../src/memory/file/file_store.ts";
import { resumeSession } from "../../src/memory/recording/resume.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import { createDeadline } from "../deadline.ts";
import {
  FINAL_PROMPT,
  isFinished,
  openStore,
  runWork,
  type StoreKind,
  type WorkOptions,
} from "./crash_worker.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "./postgres_server.ts";

const IS_PROOF_RUN = Deno.env.get("SWINK_PROVE") === "1";
const KILLS: Readonly<Record<StoreKind, number>> = IS_PROOF_RUN
  ? { files: 500, SQLite: 200, Postgres: 300 }
  : { files: 3, SQLite: 1, Postgres: 3 };
/** Of that many kills in Postgres, one is that of the server. */
const KILLS_PER_CRASH = IS_PROOF_RUN ? 5 : 3;
const CUTS = IS_PROOF_RUN ? 4096 : 20;
const OPERATIONS = 45;
/** Longest time after which a worker is killed, in milliseconds. */
const MAX_LIFETIME_MS = 90;
/** Time for which a worker may wait for a server that was killed, in milliseconds. */
const RESTART_MS = 1_000;
/** Time in which a worker that is not killed finishes, in milliseconds. */
const FULL_LIFETIME_MS = 60_000;

const workerPath = new URL("./crash_worker.ts", import.meta.url).pathname;

/** A session and its store. */
type WorkerSession = Omit<WorkOptions, "operations">;

const server = POSTGRES_DIRECTORY === undefined
  ? undefined
  : await startPostgres({ durable: true });
Deno.test.afterAll(() => server?.stop());

/** When a worker and the server are killed, in milliseconds after the worker has connected. */
interface WorkerLife {
  readonly lifetimeMs: number;
  /** Default: the server is not killed. */
  readonly crashMs?: number | undefined;
}

/** Starts a worker and kills it; resolves to whether it finished before. */
async function runWorker(
  { directory, kind, id, url }: WorkerSession,
  { lifetimeMs, crashMs }: WorkerLife,
): Promise<boolean> {
  const flags = ["--quiet", "--no-config", "--no-lock", "--cached-only", "--no-check", "-A"];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, workerPath, directory, kind, id, `${OPERATIONS}`, url ?? ""],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
    signal: createDeadline(),
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const first = await lines.read();
  assert(first.value?.includes("ready"), "the worker did not start");
  const timer = setTimeout(() => killWorker(child), lifetimeMs);
  const crash = crashMs === undefined ? undefined : crashServer(crashMs);
  let output = first.value ?? "";
  for (let part = await lines.read(); !part.done; part = await lines.read()) output += part.value;
  clearTimeout(timer);
  await crash;
  const { signal } = await child.status;
  const isDone = output.includes("finished");
  assert(isDone || signal === "SIGKILL", "the worker neither finished nor was killed");
  return isDone;
}

async function crashServer(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  await server?.crash();
}

function killWorker(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // The worker has just ended.
  }
}

/** Asserts that a session can be opened and has lost at most the line that was being written. */
async function expectReadable({ id, ...place }: WorkerSession): Promise<void> {
  await using store = openStore(place);
  if (!(await store.list()).some((summary) => summary.id === id)) return;
  await using session = await store.open(id, { access: "read" });
  const types = new Set(session.damage.map(({ type }) => type));
  types.delete("torn_tail");
  types.delete("broken_line");
  assertEquals([...types], [], "only the line that was being written may be lost");
}

/** Asserts that every operation is done, and no side effect happened twice. */
async function expectDoneOnce({ id, ...place }: WorkerSession): Promise<void> {
  const { directory } = place;
  await using store = openStore(place);
  const { session, messages, isInterrupted, pendingCalls } = await resumeSession(store, id);
  await session.close();
  assert(isFinished(messages));
  assertEquals([isInterrupted, pendingCalls, repairHistory(messages).repairs], [false, [], []]);
  assertEquals(messages.filter((message) => getText(message) === FINAL_PROMPT).length, 1);

  const done = (await Deno.readTextFile(`${directory}/effects.txt`)).trim().split("\n").map(Number);
  assertEquals(new Set(done).size, done.length, "a side effect happened twice");
  for (let operation = 0; operation < OPERATIONS; operation += 3) {
    const results = messages.filter((message) =>
      message.role === "tool_result" && message.toolCallId.startsWith(`operation_${operation}_`)
    ).map(getText);
    const isKnown = results.some((text) => text === `done ${operation}`);
    assert(!isKnown || done.includes(operation), "a reported side effect did not happen");
    assert(
      isKnown || results.some((text) => text.includes("is not known")),
      "a call has no result",
    );
  }
  const keys = (await Deno.readTextFile(`${directory}/keys.txt`)).trim().split("\n");
  const keyByCall = new Map<string, string>();
  for (const [call = "", key = ""] of keys.map((line) => line.split(" "))) {
    assertEquals(keyByCall.get(call) ?? key, key, "a repeated call has another key");
    keyByCall.set(call, key);
  }
}

function getText(message: AgentMessage): string {
  return message.role === "custom" ? "" : extractText(message.content);
}

async function withTempDirectory(test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await test(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

for (const kind of ["files", "SQLite", "Postgres"] as const) {
  Deno.test({
    name: `resumeSession() continues a program that was killed at ${
      KILLS[kind]
    } random points, without repeating side effects, in ${kind}`,
    ignore: kind === "Postgres" && !server,
    fn: async () => {
      const random = seededRandom(11);
      let kills = 0;
      for (let number = 0; kills < KILLS[kind]; number++) {
        await withTempDirectory(async (directory) => {
          const session = { directory, kind, id: `session-${number}`, url: server?.url };
          for (let isDone = false; !isDone;) {
            const isLast = kills >= KILLS[kind];
            const isCrash = kind === "Postgres" && kills % KILLS_PER_CRASH === 1;
            const life = isLast ? { lifetimeMs: FULL_LIFETIME_MS } : createLife(random, isCrash);
            isDone = await runWorker(session, life);
            assert(isDone || !isLast, "the worker did not finish");
            if (!isDone) kills++;
            if (life.crashMs !== undefined) kills++;
            await expectReadable(session);
          }
          await expectDoneOnce(session);
        });
      }
    },
  });
}

/** Chooses when to kill a worker, or the server, and the worker a second later. */
function createLife(random: () => number, isCrash: boolean): WorkerLife {
  const lifetimeMs = random() * MAX_LIFETIME_MS;
  return isCrash ? { lifetimeMs: lifetimeMs + RESTART_MS, crashMs: lifetimeMs } : { lifetimeMs };
}

Deno.test(`resumeSession() continues a log that was cut at ${CUTS} offsets in its last 4 KiB`, async () => {
  await withTempDirectory(async (directory) => {
    const session = { directory, kind: "files", operations: 12 } as const;
    await runWork({ ...session, id: "complete" });
    const log = await Deno.readFile(`${directory}/complete.jsonl`);
    const random = seededRandom(12);
    const range = Math.min(4096, log.length);
    for (let number = 0; number < Math.min(CUTS, range); number++) {
      const cutBytes = IS_PROOF_RUN ? number : Math.floor(random() * range);
      const id = `cut-${number}`;
      await Deno.writeFile(`${directory}/${id}.jsonl`, log.subarray(0, log.length - cutBytes));
      await expectReadable({ ...session, id });
      const agent = await runWork({ ...session, id });
      assert(
        isFinished(agent.state.messages),
        `the session did not continue with ${cutBytes} bytes missing`,
      );
      assertEquals(repairHistory(agent.state.messages).repairs, []);
      await new FileSessionStore({ directory }).delete(id);
    }
  });
});
