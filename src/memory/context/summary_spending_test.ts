import { assertEquals, assertRejects } from "@std/assert";
import { createHistory } from "../../../tests/memory/long_history.ts";
import { Agent } from "../../agent/agent.ts";
import type { TransformContext } from "../../core/context/context.ts";
import { AbortedError } from "../../core/errors/errors.ts";
import type { Policy } from "../../core/hooks/policy.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { StreamFn } from "../../core/streams/stream.ts";
import { budget } from "../../policies/budget.ts";
import { sharedBudget } from "../../policies/shared_budget.ts";
import { fail, hang, reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { waitUntil } from "../../../tests/wait_until.ts";
import { recordSession } from "../recording/record_session.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { compact } from "./compact.ts";
import { composeTransforms } from "./compose_transforms.ts";
import { summarize } from "./summarize.ts";

const usage = { input: 70, output: 30, cacheRead: 0, cacheWrite: 0, total: 100 };

function createTransform(steps: readonly ScriptedStep[]) {
  const summaries = scriptedStream(steps);
  const transform = summarize({
    streamFn: summaries,
    contextWindow: 10_000,
    maxSummaryTokens: 500,
    keepSteps: 1,
    retry: ({ attempt }) => attempt === 1 ? 0 : null,
  });
  return { summaries, transform };
}

Deno.test("composeTransforms(): the summaries of several runs that fail are counted with the next request", async () => {
  const { summaries, transform } = createTransform([reply("s", { usage }), reply("t", { usage })]);
  let failures = 2;
  const unreliable: TransformContext = (messages) => {
    if (failures-- > 0) throw new Error("no network");
    return messages;
  };
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok")]),
    transformContext: composeTransforms(transform, unreliable),
    messages: createHistory(),
  });
  assertEquals((await agent.prompt("one")).error?.code, "stream_error");
  agent.setMessages([...agent.state.messages, ...createHistory()]);
  assertEquals((await agent.prompt("two")).error?.code, "stream_error");
  const result = await agent.prompt("three");
  assertEquals([result.error, result.usage.total, summaries.calls.length], [undefined, 200, 2]);
});

Deno.test("composeTransforms(): the summary of an earlier transform counts in the budget of a later one", async () => {
  const first = createTransform([reply("s", { usage })]);
  const second = createTransform([reply("t", { usage })]);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok")]),
    transformContext: composeTransforms(
      first.transform,
      (messages, input) => second.transform([...messages, ...createHistory()], input),
    ),
    messages: createHistory(),
    policies: [budget({ tokens: 100 })],
  });
  const result = await agent.prompt("one");
  assertEquals([first.summaries.calls.length, second.summaries.calls.length], [1, 0]);
  assertEquals([result.stoppedBy?.policy, result.usage.total], ["budget", 100]);
});

/** Creates an agent whose first summary fails, hangs at its second attempt, and is written at the third. */
function createInterrupted(policies: readonly Policy[] = []) {
  const { summaries, transform } = createTransform([
    fail("network_error", "Connection reset", { usage }),
    hang(),
    reply("s", { usage }),
  ]);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok")]),
    transformContext: transform,
    messages: createHistory(),
    policies,
  });
  return { summaries, transform, agent };
}

Deno.test("summarize(): an attempt that failed before an abort is counted in the aborted run", async () => {
  const { summaries, agent } = createInterrupted();
  const running = agent.prompt("one");
  await waitUntil(() => summaries.calls.length === 2);
  agent.abort("enough");
  const aborted = await running;
  assertEquals([aborted.stopReason, aborted.usage.total], ["aborted", 100]);
  const result = await agent.prompt("two");
  assertEquals([result.error, result.usage.total], [undefined, 100]);
});

Deno.test("compact(): what an aborted one has spent is not counted again in the next run", async () => {
  const { summaries, transform, agent } = createInterrupted([budget({ tokens: 10_000 })]);
  const controller = new AbortController();
  const compaction = assertRejects(
    () => compact(agent, transform, { signal: controller.signal }),
    AbortedError,
  );
  await waitUntil(() => summaries.calls.length === 2);
  controller.abort();
  await compaction;
  assertEquals((await agent.prompt("one")).usage.total, 100);
});

/** Returns the tokens of the compactions of a session. */
async function countLogged(session: Session): Promise<number> {
  const tokens: number[] = [];
  for await (const entry of session.entries()) {
    if (entry.type === "compaction") tokens.push(entry.usage?.total ?? 0);
  }
  return tokens.reduce((sum, count) => sum + count, 0);
}

Deno.test("summarize(): a session has what an aborted summary has spent, also that of compact()", async () => {
  const { summaries, transform } = createTransform([
    ...[fail("network_error", "Connection reset", { usage }), hang()],
    ...[fail("network_error", "Connection reset", { usage }), hang()],
  ]);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([]),
    transformContext: transform,
    messages: createHistory(),
  });
  await using recording = await recordSession(agent, new InMemorySessionStore());
  const running = agent.prompt("one");
  await waitUntil(() => summaries.calls.length === 2);
  agent.abort("enough");
  await running;
  assertEquals(await countLogged(recording.session), 100);
  const controller = new AbortController();
  const compaction = assertRejects(
    () => compact(agent, transform, { signal: controller.signal }),
    AbortedError,
  );
  await waitUntil(() => summaries.calls.length === 4);
  controller.abort();
  await compaction;
  assertEquals(await countLogged(recording.session), 200);
});

Deno.test("compact(): a session has what a summary has spent whose report a later transform has delayed", async () => {
  const { transform } = createTransform([reply("s", { usage }), fail("auth_error", "no key")]);
  const failing = [true, false];
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok")]),
    transformContext: composeTransforms(transform, (messages) => {
      if (failing.shift()) throw new Error("broken");
      return messages;
    }),
    messages: createHistory(),
  });
  await using recording = await recordSession(agent, new InMemorySessionStore());
  await agent.prompt("one");
  await compact(agent, transform, { tokens: 0 });
  const { usage: { total } } = await agent.prompt("two");
  assertEquals([total, await countLogged(recording.session)], [100, 100]);
});

Deno.test("composeTransforms(): a summary before a transform that hangs is counted after an abort", async () => {
  const { summaries, transform } = createTransform([reply("s", { usage })]);
  const hanging = [true, false];
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok")]),
    transformContext: composeTransforms(
      transform,
      (messages) => hanging.shift() ? new Promise<never>(() => {}) : messages,
    ),
    messages: createHistory(),
  });
  const running = agent.prompt("one");
  await waitUntil(() => hanging.length === 1);
  agent.abort("enough");
  const aborted = await running;
  assertEquals([aborted.stopReason, aborted.usage.total], ["aborted", 100]);
  const result = await agent.prompt("two");
  assertEquals([result.text, result.usage.total, summaries.calls.length], ["ok", 0, 1]);
});

interface SlowOptions {
  readonly timeoutMs?: number;
  readonly policies?: readonly Policy[];
}

/** Creates an agent whose first summary is not written until it is aborted, and reports its usage then, as adapters do. */
function createSlow({ timeoutMs, policies = [] }: SlowOptions = {}) {
  const written = scriptedStream([reply("s", { usage })]);
  let requests = 0;
  const slow: StreamFn = async function* ({ signal }) {
    yield { type: "start" };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    const error = new AbortedError("The request was aborted");
    yield { type: "error", stopReason: "aborted", error, usage };
  };
  const transform = summarize({
    streamFn: (request) => ++requests === 1 ? slow(request) : written(request),
    contextWindow: 10_000,
    keepSteps: 1,
    timeoutMs,
  });
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok")]),
    transformContext: transform,
    messages: createHistory(),
    policies,
  });
  const abortWhenRequested = async (abort: () => void): Promise<void> => {
    await waitUntil(() => requests === 1);
    abort();
  };
  return { transform, agent, abortWhenRequested };
}

Deno.test("summarize(): usage that the provider reports after an abort is counted in the aborted run", async () => {
  const { agent, abortWhenRequested } = createSlow();
  const running = agent.prompt("one");
  await abortWhenRequested(() => agent.abort("enough"));
  const { stopReason, usage: { total } } = await running;
  assertEquals([stopReason, total], ["aborted", 100]);
  assertEquals((await agent.prompt("two")).usage.total, 100);
});

Deno.test("compact(): usage that the provider reports after an abort counts in budgets", async () => {
  const shared = sharedBudget({ tokens: 10_000 });
  const { agent, transform, abortWhenRequested } = createSlow({ policies: [shared] });
  const controller = new AbortController();
  const compaction = assertRejects(
    () => compact(agent, transform, { signal: controller.signal }),
    AbortedError,
  );
  await abortWhenRequested(() => controller.abort());
  await compaction;
  assertEquals(shared.spent.usage.total, 100);
  assertEquals((await agent.prompt("one")).usage.total, 100);
});

Deno.test("summarize(): usage that the provider reports after the time limit counts", async () => {
  const { agent } = createSlow({ timeoutMs: 1 });
  const { error, usage } = await agent.prompt("one");
  assertEquals([error, usage.total], [undefined, 100]);
});
