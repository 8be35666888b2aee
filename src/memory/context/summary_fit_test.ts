import { assertEquals, assertStringIncludes } from "@std/assert";
import { createHistory, createSummarizer } from "../../../tests/memory/long_history.ts";
import { Agent } from "../../agent/agent.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import type { Usage } from "../../core/models/usage.ts";
import type { StreamRequest } from "../../core/streams/stream.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { fail, reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { compact } from "./compact.ts";
import { composeTransforms } from "./compose_transforms.ts";

function createUsage(input: number): Usage {
  return { input, output: 0, cacheRead: 0, cacheWrite: 0, total: input };
}

function createTransform(steps: readonly ScriptedStep[], now: () => number = Date.now) {
  const summaries = scriptedStream(steps);
  const transform = createSummarizer({ streamFn: summaries, now });
  return { summaries, transform };
}

const summary = reply("late summary", { usage: createUsage(100) });

for (const share of [0.5, 0.3]) {
  Deno.test(`summarize(): a later summary fails no request that fits by the count of the provider, ${share} of the estimate`, async () => {
    let time = 0;
    let counted = 3_000;
    const steps = [fail("auth_error", "no key"), summary];
    const { summaries, transform } = createTransform(steps, () => time);
    const agent = new Agent({
      model: "p/m",
      streamFn: scriptedStream(Array(5).fill(() => reply("ok", { usage: createUsage(counted) }))),
      transformContext: transform,
      messages: createHistory(12),
    });
    await agent.prompt("first");
    for (const text of ["y", "z"]) {
      counted += 3_000 * share;
      await agent.prompt(text.repeat(12_000));
    }
    assertEquals(transform.cut?.isIncomplete, true);
    time = 30_000;
    const { error, usage } = await agent.prompt("last");
    assertEquals([error, summaries.calls.length], [undefined, 2]);
    assertEquals(usage.total, counted + 100, "the summary counts");
    time = 700_000;
    await agent.prompt("again");
    assertEquals(summaries.calls.length, 2, "no further one is written before the next cut");
  });
}

Deno.test("compact() keeps messages that fit by the count of the provider, which is below the estimate", async () => {
  const { transform } = createTransform([summary]);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok", { usage: createUsage(7_000) })]),
    messages: [userMessage("y".repeat(36_000), 0), ...createHistory(5)],
  });
  await agent.prompt("first");
  const report = await compact(agent, transform);
  assertEquals([report?.summary, report?.tokensBefore], ["late summary", 7_005]);
});

Deno.test("summarize(): messages whose later summary does not fit are part of the next one", async () => {
  let time = 0;
  const { summaries, transform } = createTransform([
    reply("first summary"),
    fail("auth_error", "no key"),
    reply("z".repeat(2_000)),
    reply("last summary"),
  ], () => time);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream(Array(14).fill(reply("ok"))),
    transformContext: transform,
  });
  const ask = async (number: number, length: number): Promise<void> => {
    const { error } = await agent.prompt(`question ${number} ${"q".repeat(length)}`);
    assertEquals(error, undefined);
  };
  for (let number = 0; number < 9; number++) await ask(number, 4_000);
  await ask(9, 28_800); // more than the window: the middle is omitted without a summary
  assertEquals([transform.cut?.summary, transform.cut?.isIncomplete], ["first summary", true]);
  await ask(10, 300);
  time = 30_000;
  await ask(11, 10);
  await ask(12, 10);
  assertEquals([summaries.calls.length, transform.cut?.summary], [3, "first summary"]);
  await ask(13, 4_000);
  assertEquals(transform.cut?.summary, "last summary");
  assertStringIncludes(JSON.stringify(summaries.calls[3]?.context.messages), "question 8");
});

Deno.test("summarize(): a conversation continues that begins with a PDF of which the provider counts few tokens", async () => {
  const { summaries, transform } = createTransform([summary]);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream(
      Array(10).fill(({ context }: StreamRequest) =>
        reply("ok", { usage: createUsage(2_000 + 450 * context.messages.length) })
      ),
    ),
    transformContext: transform,
  });
  const data = "A".repeat(1_000_000);
  await agent.prompt({
    role: "user",
    content: [{ type: "document", mediaType: "application/pdf", source: { type: "base64", data } }],
    timestamp: 0,
  });
  for (let number = 0; number < 9; number++) {
    const { error } = await agent.prompt("x".repeat(3_600));
    assertEquals(error, undefined);
  }
  assertEquals(summaries.calls.length, 1);
});

Deno.test("summarize(): a large PDF of which the provider counts nothing causes no summaries", async () => {
  const { summaries, transform } = createTransform([summary]);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream(Array(10).fill(reply("ok"))),
    transformContext: transform,
  });
  const source = { type: "base64", data: "A".repeat(1_000_000) } as const;
  await agent.prompt({
    role: "user",
    content: [{ type: "document", mediaType: "application/pdf", source }],
    timestamp: 0,
  });
  for (let number = 0; number < 9; number++) {
    const { error } = await agent.prompt(`question ${number}`);
    assertEquals(error, undefined);
  }
  assertEquals([summaries.calls.length, transform.cut], [0, undefined]);
});

Deno.test("summarize(): a later summary that does not fit is written once, also if another transform moves the messages", async () => {
  let time = 0;
  const { summaries, transform } = createTransform([
    fail("auth_error", "no key"),
    ...Array(9).fill(reply("z".repeat(2_000))),
  ], () => time);
  let requests = 0;
  const note: AgentMessage = { role: "custom", type: "note", data: 1, timestamp: 0 };
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream(Array(16).fill(reply("ok"))),
    transformContext: composeTransforms(
      (messages) => requests++ % 2 === 0 ? messages : [note, ...messages],
      transform,
    ),
  });
  for (const length of [...Array(7).fill(4_000), 29_000]) await agent.prompt("q".repeat(length));
  assertEquals([summaries.calls.length, transform.cut?.isIncomplete], [1, true]);
  for (let number = 0; number < 8; number++) {
    time += 1_000_000;
    await agent.prompt("small");
  }
  assertEquals(summaries.calls.length, 2);
});

Deno.test("summarize(): messages and the earlier summary stay when the next summary does not fit", async () => {
  const { summaries, transform } = createTransform([
    reply("first summary"),
    ...Array(2).fill(reply("z".repeat(2_000))),
    reply("last summary"),
  ]);
  const streamFn = scriptedStream([reply("a".repeat(5_200)), reply("ok"), reply("ok")]);
  const agent = new Agent({
    model: "p/m",
    streamFn,
    transformContext: transform,
    messages: [
      userMessage("q".repeat(28_000), 0),
      assistantMessage("a".repeat(1_200)),
      userMessage("q".repeat(1_200), 1),
      assistantMessage("a".repeat(1_200)),
    ],
  });
  await compact(agent, transform, { tokens: 1 });
  await agent.prompt("small");
  const { cut } = transform;
  const report = await compact(agent, transform, { tokens: 1 });
  assertEquals([report?.droppedCount, transform.cut], [0, cut], "the messages still fit");
  assertStringIncludes(String(report?.problem), "does not fit");

  await agent.prompt("q".repeat(5_504)); // more than the window
  assertEquals([transform.cut?.summary, transform.cut?.isIncomplete], ["first summary", true]);
  await agent.prompt("again");
  assertEquals(summaries.calls.length, 3, "no further one is written before the next cut");
  await compact(agent, transform, { tokens: 1 });
  assertStringIncludes(JSON.stringify(summaries.calls[3]?.context.messages), "small");
  assertEquals([transform.cut?.summary, transform.cut?.isIncomplete], ["last summary", undefined]);
});

Deno.test("summarize(): a summary that does not fit is written again after 30 seconds", async () => {
  let time = 0;
  const { summaries, transform } = createTransform(
    Array(2).fill(reply("z".repeat(2_000))),
    () => time,
  );
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream(Array(3).fill(reply("ok"))),
    transformContext: transform,
    messages: [userMessage("q".repeat(28_000), 0), ...createHistory(1)],
  });
  await agent.prompt("q".repeat(4_000));
  await agent.prompt("again");
  assertEquals([summaries.calls.length, transform.cut], [1, undefined]);
  time = 30_000;
  await agent.prompt("and again");
  assertEquals([summaries.calls.length, transform.cut?.isIncomplete], [2, undefined]);
  assertEquals(transform.cut?.from, 1, "it fits with the shorter prompt");
});

Deno.test("summarize(): a cut whose first summary does not fit is complete, also when the session is opened again", async () => {
  const { summaries, transform } = createTransform([reply("z".repeat(2_000))]);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok")]),
    transformContext: transform,
    messages: [userMessage("q".repeat(28_000), 0), ...createHistory(3)],
  });
  const { error } = await agent.prompt("q".repeat(4_000));
  const { summary, isIncomplete } = transform.cut ?? {};
  assertEquals([error, summaries.calls.length, transform.cut?.from], [undefined, 1, 1]);
  assertEquals([summary, isIncomplete], [undefined, undefined]);
});

Deno.test("summarize(): a summary that is not shorter is written again after 30 seconds, then after twice as long each time", async () => {
  let time = 0;
  const { summaries, transform } = createTransform(
    Array(3).fill(reply("s".repeat(400))),
    () => time,
  );
  const data = "A".repeat(290_000);
  const pdf = { type: "document", mediaType: "application/pdf" } as const;
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream(Array(9).fill(reply("ok", { usage: createUsage(8_700) }))),
    transformContext: transform,
    messages: [
      { role: "user", content: [{ ...pdf, source: { type: "base64", data } }], timestamp: 0 },
    ],
  });
  await agent.continue();
  const written: number[] = [];
  for (time of [0, 29_000, 30_000, 89_000, 90_000]) {
    await agent.prompt("next");
    written.push(summaries.calls.length);
  }
  assertEquals(written, [1, 1, 2, 2, 3]);
});

Deno.test("summarize() keeps the prompt of a reply that was cut off though the longest summary would not fit with it", async () => {
  const { transform } = createTransform([reply("short")]);
  const prompt = userMessage("p".repeat(12_800), 0);
  const cutOff = assistantMessage("Hel", { stopReason: "aborted" });
  const streamFn = scriptedStream([reply("ok")]);
  const messages = [userMessage("q".repeat(19_200), 0), ...createHistory(1), prompt, cutOff];
  const agent = new Agent({ model: "p/m", streamFn, transformContext: transform, messages });
  await agent.continue();
  assertEquals(transform.cut?.summary, "short");
  assertEquals(streamFn.calls[0]?.context.messages.includes(prompt), true);
});
