import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { TransformOutput } from "../../core/context/context.ts";
import { ContextWindowOverflowError } from "../../core/errors/errors.ts";
import { repairHistory } from "../../core/messages/history.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";
import { assistantMessage, text, toolCall, toolResultMessage } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import type { CompactingTransform, CompactionOptions } from "./compaction.ts";
import { isPlan } from "./plan_message.ts";
import { slidingWindow } from "./sliding_window.ts";
import { summarize } from "./summarize.ts";
import { OPENING_MESSAGE } from "./summary_messages.ts";

const RUNS = Deno.env.get("SWINK_PROVE") === "1" ? 20_000 : 80;
const MODEL = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;

/** One step of a history: its type and its length in characters. */
type Step =
  | { readonly type: "user" | "assistant" | "plan" | "note"; readonly length: number }
  | { readonly type: "tools"; readonly lengths: readonly number[]; readonly isReported: boolean };

const length = fc.integer({ min: 0, max: 4000 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("user" as const), length }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("assistant" as const), length }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("plan" as const), length }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("note" as const), length }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("tools" as const),
      lengths: fc.array(length, { minLength: 1, maxLength: 4 }),
      isReported: fc.boolean(),
    }),
  },
);

const options: fc.Arbitrary<CompactionOptions> = fc.record({
  contextWindow: fc.integer({ min: 500, max: 8000 }),
  threshold: fc.double({ min: 0.3, max: 1, noNaN: true }),
  target: fc.double({ min: 0.1, max: 1, noNaN: true }),
  overflowTarget: fc.double({ min: 0.1, max: 0.6, noNaN: true }),
  anchor: fc.integer({ min: 0, max: 3 }),
  keepSteps: fc.integer({ min: 0, max: 6 }),
});

const history = fc.array(step, { minLength: 1, maxLength: 40 });
const overflows = fc.array(fc.boolean(), { minLength: 1, maxLength: 40 });

/** Creates the messages of steps; each call has its result, and some replies report the usage of the request. */
function createMessages(steps: readonly Step[]): AgentMessage[][] {
  let used = 0;
  let calls = 0;
  return steps.map((step, number) => {
    const messages = createStepMessages(step, number, () => `call_${++calls}`, used);
    used += messages.reduce((sum, message) => sum + estimateTokens(message), 0);
    return messages;
  });
}

function createStepMessages(
  step: Step,
  number: number,
  nextId: () => string,
  used: number,
): AgentMessage[] {
  switch (step.type) {
    case "user":
      return [userMessage("u".repeat(step.length + 1), number)];
    case "assistant":
      return [assistantMessage("a".repeat(step.length + 1))];
    case "plan":
    case "note":
      return [{ role: "custom", type: step.type, data: step.length, timestamp: number }];
    case "tools": {
      const calls = step.lengths.map((length) => ({
        call: toolCall("t", {}, { id: nextId() }),
        length,
      }));
      const usage = { input: step.isReported ? used : 0, output: step.isReported ? 20 : 0 };
      const zeros = { cacheRead: 0, cacheWrite: 0, total: 0 };
      return [
        assistantMessage([text("t"), ...calls.map(({ call }) => call)], {
          usage: { ...usage, ...zeros },
        }),
        ...calls.map(({ call, length }) => toolResultMessage(call, "r".repeat(length))),
      ];
    }
  }
}

function getMessages(output: TransformOutput): readonly AgentMessage[] {
  return "messages" in output ? output.messages : output;
}

function getReport(output: TransformOutput) {
  return "messages" in output ? output.report : undefined;
}

/** Asserts that a request is valid, keeps what it must, and has a correct report. */
function assertValidRequest(
  complete: readonly AgentMessage[],
  output: TransformOutput,
  { threshold = 0, contextWindow, anchor = 0 }: CompactionOptions,
): void {
  const kept = getMessages(output);
  // Every call is followed by its result, in order, and every result has its call.
  assertEquals(repairHistory(kept).repairs, []);
  // Messages that were not added keep their order.
  const positions = kept.map((message) => complete.indexOf(message)).filter((index) => index >= 0);
  assertEquals(positions, positions.toSorted((left, right) => left - right));
  assertEquals(new Set(positions).size, positions.length);
  const opening = kept.find(({ role }) => role !== "custom");
  if (complete[0]?.role === "user") assertEquals(opening?.role, "user");
  // The latest message, that of the model, every plan and the anchor are kept.
  const latest = complete.findLast(({ role }) => role !== "custom");
  for (const message of [latest, complete.at(-1)]) assert(!message || kept.includes(message));
  assert(complete.filter(isPlan).every((plan) => kept.includes(plan)));
  const first = complete.filter(({ role }) => role !== "custom").slice(0, anchor);
  assert(first.every((message) => kept.includes(message)));
  const report = getReport(output);
  if (!report) return;
  // A summary that is not used omits nothing more.
  if (report.droppedCount === 0) return assert(report.problem, "a report without a change");
  assertEquals(report.droppedCount, complete.length - positions.length);
  assert(report.tokensAfter <= threshold * Number(contextWindow), "below the threshold");
}

/** Transforms a history after every step, as a run does, and checks each request. */
async function replayHistory(
  transform: CompactingTransform,
  steps: readonly Step[],
  { overflowing, settings }: {
    readonly overflowing: readonly boolean[];
    readonly settings: CompactionOptions;
  },
): Promise<void> {
  const complete: AgentMessage[] = [];
  for (const [number, messages] of createMessages(steps).entries()) {
    complete.push(...messages);
    const history = complete.slice();
    const overflow = overflowing[number] ?? false;
    const { signal } = new AbortController();
    const input = { overflow, model: MODEL, systemPrompt: "s", tools: [], signal };
    try {
      const output = await transform(history, input);
      assertValidRequest(complete, output, settings);
      // The same input gives the same request, which is reported once.
      const repeated = await transform(history, { ...input, overflow: false });
      if (!getReport(repeated)) assertEquals(getMessages(repeated), getMessages(output));
    } catch (error) {
      if (!(error instanceof ContextWindowOverflowError)) throw error;
      assert(error.message.includes("Cannot fit the conversation"));
    }
    assertEquals(history, complete);
  }
}

Deno.test("slidingWindow(): requests of any history are valid and fit [A126a]", async () => {
  await fc.assert(
    fc.asyncProperty(history, options, overflows, async (steps, settings, overflowing) => {
      await replayHistory(slidingWindow(settings), steps, { overflowing, settings });
    }),
    { numRuns: RUNS, seed: 1 },
  );
});

Deno.test("summarize(): requests of any history are valid and fit [A126a]", async () => {
  await fc.assert(
    fc.asyncProperty(history, options, overflows, async (steps, settings, overflowing) => {
      const streamFn = scriptedStream(steps.flatMap(() => [reply("sum"), reply("sum")]));
      const transform = summarize({ ...settings, streamFn, maxSummaryTokens: 50 });
      await replayHistory(transform, steps, { overflowing, settings });
    }),
    { numRuns: RUNS, seed: 2 },
  );
});

Deno.test("slidingWindow() throws only when the kept messages do not fit", async () => {
  const unreported = history.map((steps) => steps.map((step) => ({ ...step, isReported: false })));
  const anchored = options.map((settings) => ({
    ...settings,
    anchor: settings.anchor === 0 ? 0 : 1,
  }));
  await fc.assert(
    fc.asyncProperty(unreported, anchored, async (steps, settings) => {
      const groups = createMessages(steps);
      const complete = groups.flat();
      const { signal } = new AbortController();
      const input = { overflow: false, model: MODEL, systemPrompt: "", tools: [], signal };
      const { anchor } = settings;
      const first = groups.findIndex(([message]) => message?.role !== "custom") + anchor - 1;
      const plans = complete.filter(isPlan);
      const last = groups.findLastIndex(([message]) => message?.role !== "custom");
      const ends = [...groups.slice(0, Math.max(0, first + 1)), ...groups.slice(last)].flat();
      const required = new Set([...ends, ...plans]);
      const opening = anchor === 0 ? estimateTokens(OPENING_MESSAGE) : 0;
      const tokens = Array.from(required, estimateTokens).reduce(
        (sum, count) => sum + count,
        opening,
      );
      const limit = Number(settings.contextWindow) * (settings.threshold ?? 0);
      const failed = await Promise.resolve(slidingWindow(settings)(complete, input))
        .then(() => false, () => true);
      assert(!failed || tokens > limit, `${tokens} tokens must stay, ${limit} may be used`);
    }),
    { numRuns: RUNS, seed: 4 },
  );
});

Deno.test("slidingWindow(): a restored cut gives the same request for any history", async () => {
  await fc.assert(
    fc.asyncProperty(history, options, async (steps, settings) => {
      const complete = createMessages(steps).flat();
      const { signal } = new AbortController();
      const input = { overflow: true, model: MODEL, systemPrompt: "", tools: [], signal };
      const transform = slidingWindow(settings);
      await Promise.resolve(transform(complete, input)).catch(() => {});
      const restored = slidingWindow(settings);
      restored.restore(structuredClone(transform.cut));
      assertEquals(restored.view(complete).messages, transform.view(complete).messages);
    }),
    { numRuns: RUNS, seed: 3 },
  );
});
