import { assert, assertEquals } from "@std/assert";
import { createTemporaryDirectory } from "../cli/temporary_directory.ts";
import { createDeadline } from "../deadline.ts";
import { type KillMoment, STEPS } from "./plan_child.ts";

const IS_PROOF_RUN = Deno.env.get("SWINK_PROVE") === "1";
const CHILD_PATH = new URL("./plan_child.ts", import.meta.url).pathname;
const FLAGS = ["run", "--quiet", "--no-config", "--no-lock", "--cached-only", "--no-check", "-A"];
const TEXT = Array.from({ length: STEPS }, (_, step) => `## ${step + 1}. Step ${step + 1}\n`)
  .join("\n");
const PLAN = `# Plan\n\n${TEXT}`;
/** Every how many events a process of a sample is killed. */
const SAMPLE = IS_PROOF_RUN ? 1 : 83;

/** The life of one process. */
interface Life {
  /** The states with which it began; `null` for a new session. */
  readonly opened: readonly string[] | null;
  /** The changes of states, as `step state`. */
  readonly changes: readonly string[];
  /** The outcome; missing if it was killed. */
  readonly outcome: string | undefined;
  /** Number of events. */
  readonly ticks: number;
}

async function runLife(directory: string, killAt: number, moment: KillMoment): Promise<Life> {
  const { stdout, stderr, signal, success } = await new Deno.Command(Deno.execPath(), {
    args: [...FLAGS, CHILD_PATH, directory, String(killAt), moment],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: createDeadline(),
  }).output();
  const [text, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert(success || signal === "SIGKILL", `${text}\n${errors}`);
  const read = (word: string): string[] =>
    (text ?? "").split("\n").flatMap((line) =>
      line.startsWith(`${word} `) ? line.slice(word.length + 1) : []
    );
  const [outcome, ticks] = read("outcome")[0]?.split(" ") ?? [];
  assertEquals(success, outcome !== undefined);
  return {
    opened: JSON.parse(read("opened")[0] ?? "null"),
    changes: read("state"),
    outcome,
    ticks: Number(ticks),
  };
}

/** Applies changes to states. */
function applyChanges(states: readonly string[], changes: readonly string[]): string[] {
  const result = [...states];
  for (const change of changes) {
    const [step, state = ""] = change.split(" ");
    result[Number(step)] = state;
  }
  return result;
}

const OPEN: readonly string[] = Array(STEPS).fill("pending");

/** Checks that a process has begun where the one before it was killed, and has continued at that step. */
function checkResumed(before: Life, after: Life): void {
  const known = before.opened ?? OPEN;
  // The last change is lost if the process was killed before it was on disk.
  const possible = [before.changes, before.changes.slice(0, -1)].map((changes) =>
    applyChanges(known, changes)
  );
  const begun = after.opened ?? OPEN;
  assert(
    possible.some((states) => states.join() === begun.join()),
    `${JSON.stringify(possible)} → ${JSON.stringify(begun)}`,
  );
  const [first] = after.changes;
  if (first === undefined) return;
  const current = begun.findIndex((state) => state !== "complete");
  assertEquals(Number(first.split(" ")[0]), current);
}

/** Runs processes until one is not killed, and checks what they have done together. */
async function proveExecution(
  kills: readonly number[],
  moment: KillMoment,
): Promise<readonly Life[]> {
  await using directory = await createTemporaryDirectory({ "plan.md": PLAN, ledger: "" });
  const lives: Life[] = [];
  const doneBefore = new Map<string, number>();
  for (const killAt of [...kills, 0]) {
    const life = await runLife(directory.path, killAt, moment);
    const previous = lives.at(-1);
    if (previous) checkResumed(previous, life);
    lives.push(life);
    if (life.outcome !== undefined) break;
    const ledger = directory.read("ledger");
    applyChanges(life.opened ?? OPEN, life.changes).forEach((state, step) => {
      if (state === "complete") doneBefore.set(`${step + 1}`, countLines(ledger, step + 1));
    });
  }
  assertEquals(lives.at(-1)?.outcome, "complete");
  const ledger = directory.read("ledger");
  for (let step = 1; step <= STEPS; step++) {
    const lines = ledger.split("\n").filter((line) => line.startsWith(`${step} `));
    assertEquals(new Set(lines).size, 1, "the work of a step has one idempotency key");
    const before = doneBefore.get(`${step}`);
    if (before !== undefined) assertEquals(lines.length, before, "a done step works no more");
  }
  const order = ledger.trim().split("\n").map((line) => Number(line.split(" ")[0]));
  assertEquals(order, order.toSorted());
  assertEquals(directory.read("plan.md"), PLAN.replaceAll(/^## \d\. /gm, "$&[done] "));
  return lives;
}

function countLines(ledger: string, step: number): number {
  return ledger.split("\n").filter((line) => line.startsWith(`${step} `)).length;
}

for (const moment of ["before", "after"] as const) {
  Deno.test(`plans: an executor that is killed ${moment} any event is recorded continues at its step with its states`, async () => {
    const [whole] = await proveExecution([], moment);
    const ticks = whole?.ticks ?? 0;
    assert(ticks > 50, `${ticks} events`);
    for (let killAt = moment === "before" ? 1 : 9; killAt <= ticks; killAt += SAMPLE) {
      const lives = await proveExecution([killAt], moment);
      assertEquals(lives.length, 2, `the process was killed at event ${killAt} of ${ticks}`);
    }
  });
}

Deno.test("plans: an executor that is killed again and again finishes the plan", async () => {
  const intervals = IS_PROOF_RUN ? Array.from({ length: 30 }, (_, index) => index + 9) : [23];
  for (const interval of intervals) {
    const lives = await proveExecution(Array(60).fill(interval), "after");
    assert(lives.length > 2, `${lives.length} processes`);
  }
});
