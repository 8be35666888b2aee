import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createHistory, createSummarizer } from "../../../tests/memory/long_history.ts";
import { Agent } from "../../agent/agent.ts";
import type { TransformInput, TransformRequest } from "../../core/context/context.ts";
import {
  AbortedError,
  AlreadyRunningError,
  ContextWindowOverflowError,
} from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import { extractText } from "../../core/messages/content.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { unknownCost } from "../../core/models/usage.ts";
import type { StreamFn } from "../../core/streams/stream.ts";
import { estimateTextTokens } from "../../core/streams/tokens.ts";
import { ManualClock } from "../../testing/manual_clock.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../../testing/messages.ts";
import { endWithoutTerminal, fail, hang, reply } from "../../testing/script.ts";
import { type ScriptedStream, scriptedStream } from "../../testing/scripted_stream.ts";
import { compact } from "./compact.ts";
import { summarize, type SummarizeOptions } from "./summarize.ts";

const usage = { input: 70, output: 30, cacheRead: 0, cacheWrite: 0, total: 100 };

function getText(message: AgentMessage): string {
  return message.role === "custom" ? message.type : extractText(message.content);
}

function createInput(): TransformInput {
  const model = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;
  const { signal } = new AbortController();
  return { overflow: false, model, systemPrompt: "", tools: [], signal };
}

function waitForAbort(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
}

interface Fixture {
  readonly agent: Agent;
  readonly requests: ScriptedStream;
  readonly summaries: ScriptedStream;
  readonly transform: ReturnType<typeof summarize>;
  readonly events: AgentEvent[];
}

/** Creates an agent with a long history, its model, and the model that writes summaries. */
function createFixture(
  summaries: ScriptedStream,
  { exchanges = 9, ...options }: Partial<SummarizeOptions> & { exchanges?: number } = {},
): Fixture {
  const transform = createSummarizer({ streamFn: summaries, ...options });
  const requests = scriptedStream([reply("one"), reply("two"), reply("three")]);
  const events: AgentEvent[] = [];
  const agent = new Agent({
    model: "p/m:high",
    streamFn: requests,
    transformContext: transform,
    messages: createHistory(exchanges),
  });
  agent.subscribe((event) => void events.push(event));
  return { agent, requests, summaries, transform, events };
}

function getRequestTexts({ requests }: Fixture, call: number): string[] {
  return requests.calls[call]?.context.messages.map((message) => getText(message).slice(0, 40)) ??
    [];
}

Deno.test("summarize() replaces the middle with a summary after the anchor [A123]", async () => {
  const fixture = createFixture(
    scriptedStream([reply("They asked and were answered.", { usage })]),
  );
  const result = await fixture.agent.prompt("go on");
  assertEquals(
    getRequestTexts(fixture, 0),
    [
      `question 0 ${"q".repeat(29)}`,
      "Summary of the conversation so far:\n\nThey",
      "Go on from there.",
      `answer 5 ${"a".repeat(31)}`,
      `question 6 ${"q".repeat(29)}`,
      `answer 6 ${"a".repeat(31)}`,
      `question 7 ${"q".repeat(29)}`,
      `answer 7 ${"a".repeat(31)}`,
      `question 8 ${"q".repeat(29)}`,
      `answer 8 ${"a".repeat(31)}`,
      "go on",
    ].map((text) => text.slice(0, 40)),
  );
  const compacted = fixture.events.find((event) => event.type === "context_compacted");
  assert(compacted?.type === "context_compacted");
  const { droppedMessages, ...report } = compacted.report;
  assertEquals(droppedMessages?.length, 10);
  assertEquals(report, {
    droppedCount: 10,
    tokensBefore: 9132,
    tokensAfter: 4092,
    summary: "They asked and were answered.",
    usage,
    cost: unknownCost(),
  });
  // The usage of the summary counts towards the run.
  assertEquals(result.usage.total, 100);
  // The history is complete.
  assertEquals(fixture.agent.state.messages.length, 20);
});

Deno.test("summarize() summarizes what an earlier cut has kept or omitted without a summary", async () => {
  const earlier = { from: 4, to: 8 };
  for (const cut of [{ ...earlier, summary: "the earlier one" }, earlier]) {
    const summaries = scriptedStream([reply("a summary")]);
    const fixture = createFixture(summaries, { exchanges: 14 });
    fixture.transform.restore(cut);
    await fixture.agent.prompt("go on");
    const request = summaries.calls[0]?.context.messages.map(getText).join() ?? "";
    const numbers = Array.from(request.matchAll(/question (\d+)/g), ([, number]) => Number(number));
    const isSummarized = "summary" in cut;
    assertEquals(numbers.slice(0, 4), isSummarized ? [1, 4, 5, 6] : [1, 2, 3, 4]);
    assertEquals(request.includes("the earlier one"), isSummarized);
  }
});

Deno.test("summarize() summarizes a message that is no longer pinned", async () => {
  const summaries = scriptedStream([reply("first summary"), reply("second summary")]);
  let pinned = "question 3";
  const pin = (message: AgentMessage) => getText(message).startsWith(pinned);
  const fixture = createFixture(summaries, { pin });
  await fixture.agent.prompt("go on");
  pinned = "none";
  fixture.agent.appendMessages(createHistory(6, 20));
  await fixture.agent.prompt("still on");
  const [first = "", second = ""] = summaries.calls.map(({ context }) =>
    context.messages.map(getText).join()
  );
  assertEquals([first.includes("question 3"), second.includes("question 3")], [false, true]);
});

Deno.test("summarize() reuses a summary, and includes it in the next one", async () => {
  const summaries = scriptedStream([reply("first summary"), reply("second summary")]);
  const fixture = createFixture(summaries);
  await fixture.agent.prompt("go on");
  await fixture.agent.prompt("and on");
  assertEquals(summaries.calls.length, 1);
  assertEquals(
    fixture.requests.calls[1]?.context.messages[1],
    fixture.requests.calls[0]?.context.messages[1],
  );
  fixture.agent.appendMessages(createHistory(6, 20));
  await fixture.agent.prompt("still on");
  assertEquals(summaries.calls.length, 2);
  const [second] = summaries.calls[1]?.context.messages ?? [];
  const text = second ? getText(second) : "";
  assert(text.startsWith("Summary of what was before:\n\nfirst summary\n\n<conversation>"));
  assert(!text.includes("question 1 ") && !text.includes("answer 4 "));
  assert(text.includes("question 6 ") && text.includes("question 20 "));
  assert(getRequestTexts(fixture, 2)[1]?.endsWith("sec"));
});

Deno.test("summarize() requests a summary with four headings, without thinking, tools or cache", async () => {
  const fixture = createFixture(scriptedStream([reply("s")]), {
    getApiKey: (provider) => `key of ${provider}`,
  });
  await fixture.agent.prompt("go on");
  const [call] = fixture.summaries.calls;
  assertEquals(call?.model, { provider: "p", modelId: "m", thinkingLevel: "off" });
  assertEquals(call?.options, { maxTokens: 500, cache: "off", apiKey: "key of p" });
  assertEquals(call?.context.tools, []);
  const [message] = call?.context.messages ?? [];
  const text = message ? getText(message) : "";
  for (const heading of ["## Goal", "## Decisions", "## Files touched", "## Open steps"]) {
    assert(text.includes(heading));
  }
});

Deno.test("summarize() calls the configured model and counts its cost", async () => {
  const prices = { "cheap/one": { input: 1_000_000, output: 2_000_000 } };
  const fixture = createFixture(scriptedStream([reply("s", { usage })]), {
    model: "cheap/one",
    prices,
  });
  const result = await fixture.agent.prompt("go on");
  assertEquals(fixture.summaries.calls[0]?.model.modelId, "one");
  assertEquals(result.cost.total, 130);
});

Deno.test("summarize() truncates the request for a summary to fit", async () => {
  const call = toolCall("bash", { command: "cat huge" }, { id: "c" });
  const huge = [
    assistantMessage([call]),
    toolResultMessage(call, `BEGIN ${"x ".repeat(40_000)} END`),
  ];
  for (const summaryWindow of [200_000, 9_000, 4_000, 1_500]) {
    const summaries = scriptedStream([reply("s")]);
    const fixture = createFixture(summaries, { summaryWindow, contextWindow: 30_000 });
    fixture.agent.setMessages([...createHistory(1), ...huge, ...createHistory(9)]);
    await fixture.agent.prompt("go on");
    const [message] = summaries.calls[0]?.context.messages ?? [];
    const text = message ? getText(message) : "";
    assert(text.length / 4 <= summaryWindow * 0.75, `${text.length} characters`);
    assert(text.includes("characters left out"));
    assert(text.includes("## Open steps"));
    if (summaryWindow > 4_000) assert(text.includes("BEGIN") && text.includes("END"));
  }
});

Deno.test("summarize() summarizes the conversation also in a small context window", async () => {
  const history = Array.from({ length: 40 }, (_, number) => [
    userMessage(`question ${number} ${"q".repeat(200)}`, number),
    assistantMessage(`answer ${number} ${"a".repeat(200)}`),
  ]).flat();
  for (const contextWindow of [1_000, 2_000, 4_000]) {
    const streamFn = scriptedStream([reply("s")]);
    const transform = summarize({ streamFn, contextWindow });
    await transform(history, createInput());
    const [call] = streamFn.calls;
    const [message] = call?.context.messages ?? [];
    const text = message ? getText(message) : "";
    const count = text.match(/(question|answer) \d/g)?.length ?? 0;
    assert(count >= 4, `${contextWindow}: ${count} messages`);
    assert(text.length / 4 <= contextWindow * 0.75);
    assertEquals(call?.options.maxTokens, contextWindow / 4);
  }
});

Deno.test("summarize() reports that the conversation to summarize does not fit, and asks for no summary of nothing", async () => {
  const streamFn = scriptedStream([]);
  const fixture = createFixture(streamFn, { summaryWindow: 500, contextWindow: 10_000 });
  fixture.agent.setMessages(createHistory(9));
  const { error } = await fixture.agent.prompt("go on");
  assertEquals(error, undefined);
  assertEquals(streamFn.calls, []);
  assertMatch(getReports(fixture)[0]?.problem ?? "", /no space for the conversation/);
});

function getReports({ events }: Fixture): CompactionReport[] {
  return events.flatMap((event) => event.type === "context_compacted" ? [event.report] : []);
}

Deno.test("summarize() keeps the messages while they fit and reports the problem when no summary can be written [A123]", async () => {
  const broken = () => {
    throw new Error("no network");
  };
  const cases = [
    [scriptedStream([fail("model_throttled", "slow down")]), "slow down"],
    [scriptedStream([reply("  ")]), "the reply has no text"],
    [
      scriptedStream([endWithoutTerminal("half a summary")]),
      "the model stream ended before the reply was complete",
    ],
    [Object.assign(broken, { calls: [], assertDone() {} }) as ScriptedStream, "no network"],
  ] as const;
  for (const [summaries, problem] of cases) {
    const fixture = createFixture(summaries);
    const result = await fixture.agent.prompt("go on");
    assertEquals(result.stopReason, "stop");
    const [report] = getReports(fixture);
    assertEquals(report?.problem, `No summary was written: ${problem}`);
    assertEquals([report?.summary, report?.droppedCount], [undefined, 0]);
    assertEquals(getRequestTexts(fixture, 0).length, 19);
  }
});

Deno.test("summarize() omits the middle without a summary when it does not fit, and summarizes it later", async () => {
  let time = 0;
  const summaries = scriptedStream([fail("model_throttled", "slow down"), reply("late summary")]);
  const fixture = createFixture(summaries, { exchanges: 12, now: () => time });
  await fixture.agent.prompt("go on");
  assertEquals(getRequestTexts(fixture, 0).length, 9);
  assertEquals(fixture.transform.cut?.isIncomplete, true);
  time = 29_999;
  await fixture.agent.prompt("wait");
  assertEquals(summaries.calls.length, 1);
  time = 30_000;
  await fixture.agent.prompt("and on");
  assertEquals(summaries.calls.length, 2);
  const text = JSON.stringify(summaries.calls[1]?.context.messages);
  assert(text.includes("question 1 ") && text.includes("answer 7 "));
  assertEquals(getRequestTexts(fixture, 2)[1], "Summary of the conversation so far:\n\nlat");
  assertEquals(fixture.transform.cut?.isIncomplete, undefined);
  assertEquals(getReports(fixture).map(({ summary }) => summary), [undefined, "late summary"]);
});

Deno.test("summarize() waits 30 s after a failure and twice as long after the next", async () => {
  let time = 0;
  const summaries = scriptedStream(Array(3).fill(fail("auth_error", "no key")));
  const fixture = createFixture(summaries, { now: () => time });
  const attempts: number[] = [];
  for (time = 0; time <= 90_000; time += 30_000) {
    await fixture.transform(createHistory(9).slice(0, -1), createInput());
    attempts.push(summaries.calls.length);
  }
  assertEquals(attempts, [1, 2, 2, 3]);
});

Deno.test("summarize() retries a call that failed in a retryable way, and counts all attempts", async () => {
  const waits: number[] = [];
  const summaries = scriptedStream([
    fail("model_throttled", "overloaded", { usage }),
    reply("second try", { usage }),
  ]);
  const fixture = createFixture(summaries, {
    retry: ({ attempt }) => attempt * 1000,
    sleep: (milliseconds, signal) => {
      waits.push(milliseconds);
      return milliseconds === 120_000 ? waitForAbort(signal) : Promise.resolve();
    },
  });
  const result = await fixture.agent.prompt("go on");
  assertEquals(waits, [120_000, 1000, 120_000]);
  assertEquals(fixture.transform.cut?.summary, "second try");
  assertEquals(result.usage.total, 200);
});

Deno.test("summarize() calls the policies before a retry with an unknown cost if the first call has no price", async () => {
  const summaries = scriptedStream([
    fail("model_throttled", "overloaded", { usage }),
    reply("second try", { usage }),
  ]);
  const spent: unknown[] = [];
  const transform = createSummarizer({ streamFn: summaries, retry: () => 0 });
  const checkRequest = ({ usage, cost }: TransformRequest) => {
    spent.push([usage?.total, cost && cost.total]);
    return Promise.resolve(undefined);
  };
  await transform(createHistory(9).slice(0, -1), { ...createInput(), checkRequest });
  assertEquals(spent, [[undefined, undefined], [100, null]]);
});

Deno.test("summarize(): retry decides about any error but an overflow, and stops with an invalid delay", async () => {
  const retryAll = () => 0;
  const invalid = (delay: unknown) => () => delay as number;
  const failing = () => {
    throw new Error("a defect of the application");
  };
  const cases = [
    ["bad_request", retryAll, 2],
    ["bad_request", undefined, 1],
    ["context_window_overflow", retryAll, 1],
    ["model_throttled", invalid(undefined), 1],
    ["model_throttled", invalid(Infinity), 1],
    ["model_throttled", invalid(NaN), 1],
    ["model_throttled", invalid(Promise.resolve(0)), 1],
    ["model_throttled", failing, 1],
  ] as const;
  for (const [code, retry, calls] of cases) {
    const summaries = scriptedStream([fail(code, "refused"), reply("second try")]);
    const fixture = createFixture(summaries, { retry });
    await fixture.agent.prompt("go on");
    assertEquals(summaries.calls.length, calls, `${code}, ${retry}`);
    const problem = getReports(fixture)[0]?.problem;
    assertEquals(problem, calls === 2 ? undefined : "No summary was written: refused");
  }
});

Deno.test("summarize() waits with the timers of the runtime when the sleep of the application fails", async () => {
  const summaries = scriptedStream([fail("model_throttled", "overloaded"), reply("second try")]);
  const fixture = createFixture(summaries, {
    retry: () => 1,
    sleep: () => Promise.reject(new Error("no timers")),
  });
  await fixture.agent.prompt("go on");
  assertEquals(fixture.transform.cut?.summary, "second try");
});

Deno.test("summarize() gives up a summary that takes too long", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  const summaries = scriptedStream([hang({ ignoresSignal: true })]);
  const fixture = createFixture(summaries, { now, sleep, timeoutMs: 5_000 });
  const running = fixture.agent.prompt("go on");
  while (clock.sleepers === 0) await new Promise((resolve) => setTimeout(resolve));
  clock.advance(5_000);
  await running;
  assertEquals(
    getReports(fixture)[0]?.problem,
    "No summary was written: it took more than 5000 ms",
  );
});

Deno.test("summarize() gives up a summary whose stream never waits", async () => {
  const streamFn: StreamFn = async function* () {
    yield { type: "start" };
    yield { type: "text_start", contentIndex: 0 };
    // A promise that is resolved already keeps timers from running.
    for (;;) {
      yield await Promise.resolve({ type: "text_delta", contentIndex: 0, delta: "x" } as const);
    }
  };
  const options = { streamFn, contextWindow: 10_000, timeoutMs: 20, retry: () => null };
  const transform = summarize({ ...options, maxSummaryTokens: 5, keepSteps: 1 });
  const agent = new Agent({ model: "p/m", streamFn: scriptedStream([]) });
  agent.setMessages(createHistory(7));
  const report = await compact(agent, transform);
  assertEquals(report?.problem, "No summary was written: it took more than 20 ms");
});

Deno.test("summarize() requests no summary when the kept messages do not fit", async () => {
  const summaries = scriptedStream([]);
  const fixture = createFixture(summaries);
  const result = await fixture.agent.prompt("x".repeat(40_000));
  assertEquals(result.stopReason, "error");
  assertEquals(result.error?.code, "context_window_overflow");
  assert(result.error?.message.includes("Cannot fit the conversation"));
  assertEquals(summaries.calls.length, 0);
  assertEquals(fixture.requests.calls.length, 0);
});

Deno.test("summarize() truncates a summary that is too long", async () => {
  const fixture = createFixture(scriptedStream([reply("s".repeat(40_000))]));
  const result = await fixture.agent.prompt("go on");
  assertEquals(result.stopReason, "stop");
  const summary = fixture.transform.cut?.summary ?? "";
  assert(estimateTextTokens(summary) <= 500, `${summary.length} characters`);
  assert(summary.endsWith("[The rest of the summary is omitted]"));
});

Deno.test("summarize(): no cut is made when the run is aborted", async () => {
  const fixture = createFixture(scriptedStream([reply("s", { usage })]));
  fixture.agent.subscribe((event) => {
    if (event.type === "message_end") fixture.agent.abort("enough");
  });
  const result = await fixture.agent.prompt("go on");
  assertEquals(result.stopReason, "aborted");
  assertEquals(fixture.transform.cut, undefined);
});

Deno.test("compact() makes the next request smaller, which reports it [A122]", async () => {
  const fixture = createFixture(scriptedStream([reply("by hand")]), { exchanges: 7 });
  const report = await compact(fixture.agent, fixture.transform, { instructions: "the tests" });
  assert(report);
  assertEquals(report.summary, "by hand");
  assertEquals(fixture.events, []);
  const [message] = fixture.summaries.calls[0]?.context.messages ?? [];
  assert(message && getText(message).endsWith("Emphasize this: the tests"));
  await fixture.agent.prompt("go on");
  assertEquals(getRequestTexts(fixture, 0).length, 11);
  const reports = fixture.events.flatMap((event) =>
    event.type === "context_compacted" ? [event.report] : []
  );
  const { usage: _usage, ...unspent } = report;
  assertEquals(reports, [unspent]);
});

Deno.test("compact() keeps the requested number of tokens, also below the target of the transform", async () => {
  const options = { exchanges: 7, contextWindow: 1_000_000 };
  const fixture = createFixture(scriptedStream([reply("by hand")]), options);
  assertEquals(await compact(fixture.agent, fixture.transform), null);
  const report = await compact(fixture.agent, fixture.transform, { tokens: 1 });
  assertEquals(report?.summary, "by hand");
});

Deno.test("compact() requests a summary again at once after a failure", async () => {
  const fixture = createFixture(scriptedStream([fail("model_throttled", "slow"), reply("s")]));
  const reports = [
    await compact(fixture.agent, fixture.transform),
    await compact(fixture.agent, fixture.transform),
  ];
  assertEquals(reports.map((report) => report?.summary), [undefined, "s"]);
});

Deno.test("compact() returns null below the target, and rejects during a run [A122]", async () => {
  const fixture = createFixture(scriptedStream([]), { exchanges: 3 });
  assertEquals(await compact(fixture.agent, fixture.transform), null);
  const running = fixture.agent.prompt("go on");
  await assertRejects(() => compact(fixture.agent, fixture.transform), AlreadyRunningError);
  await running;
});

Deno.test("compact() can be aborted, and rejects when the kept messages do not fit", async () => {
  const fixture = createFixture(scriptedStream([reply("s")]));
  const signal = AbortSignal.abort("enough");
  await assertRejects(() => compact(fixture.agent, fixture.transform, { signal }), AbortedError);
  const tight = createFixture(scriptedStream([]), { contextWindow: 1000 });
  await assertRejects(
    () => compact(tight.agent, tight.transform),
    ContextWindowOverflowError,
    "Cannot fit the conversation",
  );
});
