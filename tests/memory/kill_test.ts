import { assert, assertEquals } from "@std/assert";
import { extractText } from "../../src/core/content.ts";
import { repairHistory } from "../../src/core/history.ts";
import type { AgentMessage } from "../../src/core/message.ts";
import { FileSessionStore } from "../../src/memory/file/file_store.ts";
import { resumeSession } from "../../src/memory/recording/resume.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import {
  isFinished,
  openStore,
  runWork,
  type StoreKind,
  type WorkOptions,
} from "./crash_worker.ts";

const IS_PROOF_RUN = Deno.env.get("SWINK_PROVE") === "1";
const KILLS: Readonly<Record<StoreKind, number>> = IS_PROOF_RUN
  ? { files: 500, SQLite: 100 }
  : { files: 6, SQLite: 2 };
const CUTS = IS_PROOF_RUN ? 4096 : 40;
const OPERATIONS = 45;
/** Most of a worker's life, in milliseconds. */
const MAX_LIFETIME_MS = 90;

const workerPath = new URL("./crash_worker.ts", import.meta.url).pathname;

/** A session, and where it is. */
type WorkerSession = Omit<WorkOptions, "operations">;

/** Starts a worker and kills it some time after it has begun; tells whether it finished before. */
async function runWorker({ directory, kind, id }: WorkerSession, lifeMs: number): Promise<boolean> {
  const flags = ["--quiet", "--no-config", "--no-lock", "--cached-only", "--no-check", "-A"];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, workerPath, directory, kind, id, String(OPERATIONS)],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const first = await lines.read();
  assert(first.value?.includes("ready"), "the worker begins");
  const timer = setTimeout(() => killWorker(child), lifeMs);
  let said = first.value ?? "";
  for (let part = await lines.read(); !part.done; part = await lines.read()) said += part.value;
  clearTimeout(timer);
  const { signal } = await child.status;
  const isDone = said.includes("finished");
  assert(isDone || signal === "SIGKILL", "the worker ends well or is killed");
  return isDone;
}

function killWorker(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // it has just ended by itself
  }
}

/** What must be true of a session at any moment, whatever happened to its writer. */
async function expectReadable({ directory, kind, id }: WorkerSession): Promise<void> {
  await using store = openStore(kind, directory);
  if (!(await store.list()).some((summary) => summary.id === id)) return;
  await using session = await store.open(id, { access: "read" });
  const kinds = new Set(session.damage.map(({ type }) => type));
  kinds.delete("torn_tail");
  kinds.delete("broken_line");
  assertEquals([...kinds], [], "nothing but the line that was being written is lost");
}

/** What must be true when everything is done. */
async function expectDoneOnce({ directory, kind, id }: WorkerSession): Promise<void> {
  await using store = openStore(kind, directory);
  const { session, messages, isInterrupted, pendingCalls } = await resumeSession(store, id);
  await session.close();
  assert(isFinished(messages));
  assertEquals([isInterrupted, pendingCalls, repairHistory(messages).repairs], [false, [], []]);
  assertEquals(messages.filter((message) => getText(message) === "say bye").length, 1);

  const done = (await Deno.readTextFile(`${directory}/effects.txt`)).trim().split("\n").map(Number);
  assertEquals(new Set(done).size, done.length, "no side effect happened twice");
  for (let operation = 0; operation < OPERATIONS; operation += 3) {
    const results = messages.filter((message) =>
      message.role === "tool_result" && message.toolCallId.startsWith(`operation_${operation}_`)
    ).map(getText);
    const isKnown = results.some((text) => text === `done ${operation}`);
    assert(!isKnown || done.includes(operation), "what is said to be done is done");
    assert(
      isKnown || results.some((text) => text.includes("is not known")),
      "every call is answered",
    );
  }
  const keys = (await Deno.readTextFile(`${directory}/keys.txt`)).trim().split("\n");
  const keyOfCall = new Map<string, string>();
  for (const [call = "", key = ""] of keys.map((line) => line.split(" "))) {
    assertEquals(keyOfCall.get(call) ?? key, key, "a repetition has the key of the first time");
    keyOfCall.set(call, key);
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

for (const kind of ["files", "SQLite"] as const) {
  Deno.test(`in ${kind}, a program that is killed at ${KILLS[kind]} random points goes on each time, and does nothing twice`, async () => {
    const random = seededRandom(11);
    let kills = 0;
    for (let number = 0; kills < KILLS[kind]; number++) {
      await withTempDirectory(async (directory) => {
        const place = { directory, kind, id: `session-${number}` };
        for (let isDone = false; !isDone;) {
          const lifeMs = kills < KILLS[kind] ? random() * MAX_LIFETIME_MS : 60_000;
          isDone = await runWorker(place, lifeMs);
          if (!isDone) kills++;
          await expectReadable(place);
        }
        await expectDoneOnce(place);
      });
    }
  });
}

Deno.test(`a log that is cut at ${CUTS} places of its last 4 KiB opens, is valid and goes on`, async () => {
  await withTempDirectory(async (directory) => {
    const place = { directory, kind: "files", operations: 12 } as const;
    await runWork({ ...place, id: "whole" });
    const log = await Deno.readFile(`${directory}/whole.jsonl`);
    const random = seededRandom(12);
    const range = Math.min(4096, log.length);
    for (let number = 0; number < Math.min(CUTS, range); number++) {
      const back = IS_PROOF_RUN ? number : Math.floor(random() * range);
      const id = `cut-${number}`;
      await Deno.writeFile(`${directory}/${id}.jsonl`, log.subarray(0, log.length - back));
      await expectReadable({ ...place, id });
      const agent = await runWork({ ...place, id });
      assert(isFinished(agent.state.messages), `it goes on when ${back} bytes are missing`);
      assertEquals(repairHistory(agent.state.messages).repairs, []);
      await new FileSessionStore({ directory }).delete(id);
    }
  });
});
