import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Agent } from "../../agent/agent.ts";
import type { TransformContext } from "../../core/context/context.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import { repairHistory } from "../../core/messages/history.ts";
import type { LlmMessage } from "../../core/messages/message.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";
import { defineTool } from "../../core/tools/tool.ts";
import { toolCall } from "../../testing/messages.ts";
import { reply, type ScriptedStep } from "../../testing/script.ts";
import { type ScriptedStream, scriptedStream } from "../../testing/scripted_stream.ts";
import { compact } from "../context/compact.ts";
import type { CompactingTransform } from "../context/compaction.ts";
import { composeTransforms } from "../context/compose_transforms.ts";
import { slidingWindow } from "../context/sliding_window.ts";
import { summarize } from "../context/summarize.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { forkSession } from "../transfer/fork.ts";
import { openSession } from "./open_session.ts";
import { recordSession } from "./record_session.ts";
import type { SessionRecording } from "./session_recording.ts";

const RUNS = Deno.env.get("SWINK_PROVE") === "1" ? 5_000 : 25;

type Action =
  | { readonly type: "prompt"; readonly length: number; readonly calls: readonly number[] }
  | { readonly type: "note" | "follow_up" | "compact" | "reopen" | "fork" | "edit" | "plan" }
  | { readonly type: "rewind"; readonly to: number };

interface Setup {
  readonly actions: readonly Action[];
  /** The transform before the compaction: none, or one that omits or copies messages. */
  readonly front: "none" | "omit_notes" | "copy";
  readonly writesSummaries: boolean;
  /** The entry to remove from the log, as a fraction of its length. */
  readonly removed: number;
}

const length = fc.integer({ min: 1, max: 1200 });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("prompt" as const),
      length,
      calls: fc.array(length, { maxLength: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      { type: "note" } as const,
      { type: "follow_up" } as const,
      { type: "compact" } as const,
      { type: "reopen" } as const,
      { type: "fork" } as const,
      { type: "edit" } as const,
      { type: "plan" } as const,
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("rewind" as const), to: fc.nat({ max: 60 }) }),
  },
);

const setup: fc.Arbitrary<Setup> = fc.record({
  actions: fc.array(action, { minLength: 1, maxLength: 14 }),
  front: fc.constantFrom("none", "omit_notes", "copy"),
  writesSummaries: fc.boolean(),
  removed: fc.double({ min: 0, max: 0.999, noNaN: true }),
});

const FRONTS: Readonly<Record<Setup["front"], readonly TransformContext[]>> = {
  none: [],
  omit_notes: [(messages) => messages.filter(({ role }) => role !== "custom")],
  copy: [(messages) => structuredClone(messages)],
};

/** A process with the agent of a session. */
interface Process {
  readonly agent: Agent;
  readonly streamFn: ScriptedStream;
  readonly steps: ScriptedStep[];
  readonly transform: CompactingTransform;
  readonly warnings: string[];
}

function createProcess({ front, writesSummaries }: Setup): Process {
  const transform = createCompaction(writesSummaries);
  const steps: ScriptedStep[] = [];
  const next: ScriptedStep = (request) => {
    const step = steps.shift() ?? reply("ok");
    return typeof step === "function" ? step(request) : step;
  };
  const streamFn = scriptedStream(Array.from({ length: 100 }, () => next));
  const agent = new Agent({
    model: "p/m",
    streamFn,
    systemPrompt: "Be brief.",
    transformContext: composeTransforms(...FRONTS[front], transform),
    tools: [defineTool({
      name: "t",
      description: "Repeats a letter.",
      parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      execute: ({ n }) => "r".repeat(n),
    })],
  });
  const warnings: string[] = [];
  agent.subscribe((event: AgentEvent) => {
    if (event.type === "warning") warnings.push(event.code);
  });
  return { agent, streamFn, steps, transform, warnings };
}

function createCompaction(writesSummaries: boolean): CompactingTransform {
  const options = { contextWindow: 1500, keepSteps: 2 };
  if (!writesSummaries) return slidingWindow(options);
  // The summary depends only on the request, so that two processes write the same one.
  const step: ScriptedStep = ({ context }) => reply(`summary of ${JSON.stringify(context).length}`);
  const streamFn = scriptedStream(Array(100).fill(step));
  return summarize({ ...options, streamFn, maxSummaryTokens: 60 });
}

/** Returns the steps of the model for a prompt: a reply with calls, if any, and a text, each with a realistic usage. */
function createSteps(calls: readonly number[]): ScriptedStep[] {
  const withUsage = (content: Parameters<typeof reply>[0]): ScriptedStep => ({ context }) => {
    const input = context.messages.reduce((sum, message) => sum + estimateTokens(message), 0);
    const usage = { input, output: 10, cacheRead: 0, cacheWrite: 0, total: input + 10 };
    return reply(content, { usage });
  };
  const blocks = calls.map((n) => toolCall("t", { n }, { id: crypto.randomUUID() }));
  return blocks.length > 0 ? [withUsage(blocks), withUsage("done")] : [withUsage("done")];
}

/** Performs the actions; returns the process that is alive at the end, and the log. */
async function perform(options: Setup) {
  const store = new InMemorySessionStore();
  let alive = createProcess(options);
  let id = "s";
  let recording: SessionRecording = await recordSession(alive.agent, store, { id });
  for (const action of options.actions) {
    const { agent, steps } = alive;
    switch (action.type) {
      case "prompt":
        steps.push(...createSteps(action.calls));
        await agent.prompt("u".repeat(action.length));
        steps.length = 0;
        break;
      case "note":
        agent.appendMessages([{ role: "custom", type: "note", data: 1, timestamp: 0 }]);
        break;
      case "follow_up":
        agent.followUp("later");
        break;
      case "plan":
        recording.session.append({ type: "plan_created", plan: "# Plan", steps: ["one"] });
        break;
      case "compact":
        await compact(agent, alive.transform).catch(() => null);
        break;
      case "edit":
        agent.setMessages(agent.state.messages.slice(0, -1));
        break;
      case "rewind": {
        const entries = recording.session.outline.filter(({ type }) => type === "message");
        const target = entries[action.to % Math.max(1, entries.length)];
        await recording.rewind(target?.id ?? null);
        break;
      }
      case "reopen":
        await recording.stop();
        alive = createProcess(options);
        recording = await openSession(store, { id }, alive.agent);
        break;
      case "fork": {
        // The original is open until the fork is complete.
        await recording.session.flush();
        if (recording.session.leafId === null) break; // It is not in the store yet.
        const original = id;
        id = `${id}f`;
        await (await forkSession(store, original, { id })).close();
        await recording.stop();
        alive = createProcess(options);
        recording = await openSession(store, { id }, alive.agent);
      }
    }
  }
  // Records what the host has changed since the last run.
  await alive.agent.prompt("last");
  await recording.stop();
  await using session = await store.open(id, { access: "read" });
  const log: SessionEntry[] = [];
  for await (const entry of session.entries()) log.push(entry);
  return { alive, store, log, id };
}

/** Prompts an agent; returns the messages of the first request. */
async function probe({ agent, streamFn }: Process): Promise<readonly LlmMessage[]> {
  const { length } = streamFn.calls;
  const result = await agent.prompt("probe");
  assertEquals(result.error, undefined);
  const messages = streamFn.calls[length]?.context.messages ?? [];
  assertEquals(repairHistory(messages).repairs, []);
  // The prompt itself has the time and the id of its process.
  return messages.map((message, index) =>
    index === messages.length - 1 ? { ...message, id: "probe", timestamp: 0 } : message
  );
}

async function readPlans(store: InMemorySessionStore, id = "s"): Promise<readonly string[]> {
  await using session = await store.open(id, { access: "read" });
  const plans = await session.path({ types: ["plan_created"] });
  return plans.map(({ id }) => id);
}

async function countMessages(store: InMemorySessionStore): Promise<number> {
  const [summary] = await store.list();
  return summary?.messages ?? 0;
}

Deno.test("openSession(): the next request is the one that the live agent would have sent, for any history", async () => {
  await fc.assert(
    fc.asyncProperty(setup, async (options) => {
      const { alive, store, id } = await perform(options);
      const resumed = createProcess(options);
      await using _session = await openSession(store, { id }, resumed.agent);
      assertEquals(resumed.agent.state.messages, alive.agent.state.messages);
      assertEquals(await probe(resumed), await probe(alive));
      assertEquals(resumed.warnings, []);
    }),
    { numRuns: RUNS, seed: 5 },
  );
});

Deno.test("openSession(): a lost entry costs nothing but itself, for any history", async () => {
  await fc.assert(
    fc.asyncProperty(setup, async (options) => {
      const { alive, log, store, id } = await perform(options);
      const index = Math.floor(options.removed * log.length);
      const removed = log[index];
      if (!removed || !isLinear(log, index)) return;
      const damaged = new InMemorySessionStore();
      await (await damaged.create({ id: "s", entries: log.toSpliced(index, 1) })).close();
      const plans = (await readPlans(store, id)).filter((id) => id !== removed.id);
      const messages = await countMessages(damaged);
      const resumed = createProcess(options);
      const session = await openSession(damaged, { id: "s" }, resumed.agent);
      const request = await probe(resumed);
      await session.close();
      assert(!resumed.warnings.includes("request_repaired"));
      if (removed.type !== "message" && removed.type !== "compaction") {
        assertEquals(request, await probe(alive));
      }
      // Nothing was abandoned, and nothing was appended again.
      assertEquals(await readPlans(damaged), plans);
      assertEquals(await countMessages(damaged), messages + 2);
    }),
    { numRuns: RUNS, seed: 6 },
  );
});

/** Whether an entry is between its parent and its only child, so that its loss does not join branches. */
function isLinear(log: readonly SessionEntry[], index: number): boolean {
  const entry = log[index];
  if (!entry || entry.type === "leaf_moved") return false;
  const hasParent = entry.parentId === (log[index - 1]?.id ?? null);
  return hasParent &&
    log.every(({ parentId }, child) => parentId !== entry.id || child === index + 1);
}
