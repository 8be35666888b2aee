import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import type { TransformContext } from "../../src/core/context/context.ts";
import {
  AbortedError,
  BadRequestError,
  ContextWindowOverflowError,
} from "../../src/core/errors/errors.ts";
import { unknownCost } from "../../src/core/models/usage.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fail, hang, reply } from "../../src/testing/script.ts";
import { outlineEvents, outlineMessages } from "./outline.ts";
import { atFirst, testAgent } from "./test_agent.ts";

const usage = { input: 5, output: 0, cacheRead: 0, cacheWrite: 0, total: 5 };
const tooLong = fail("context_window_overflow", "prompt is too long", { usage });
const long = "Please ".repeat(100);

/** Creates a transform that keeps only the latest message on overflow, and records each `overflow` flag. */
function createShrinking(flags: boolean[]): TransformContext {
  return (messages, { overflow }) => {
    flags.push(overflow);
    if (!overflow) return messages;
    const report = { droppedCount: messages.length - 1, tokensBefore: 2, tokensAfter: 1 };
    return { messages: messages.slice(-1), report };
  };
}

Deno.test("overflow: the request is repeated once per turn, inside the same message [3.15, A21, A33, B35]", async () => {
  const flags: boolean[] = [];
  const { agent, streamFn } = testAgent([
    tooLong,
    reply("Hello", { usage }),
  ], { transformContext: createShrinking(flags) });
  agent.appendMessages([{ role: "user", content: [{ type: "text", text: long }], timestamp: 0 }]);
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(flags, [false, true]);
  assertEquals(outlineEvents(events), [
    "agent_start",
    "turn_start 1",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "context_compacted",
    "message_update text_delta",
    "message_end assistant",
    "turn_end complete",
    "agent_end",
  ]);
  assertEquals(outlineMessages(streamFn.calls[1]?.context.messages ?? []), ["user: Hi"]);
  assertEquals(agent.state.messages.length, 3, "the history keeps everything");
  const end = events.at(-1);
  const last = agent.state.messages.at(-1);
  assertEquals(
    [end?.type === "agent_end" && end.usage.total, last?.role === "assistant" && last.usage.total],
    [10, 10],
    "the usage of the rejected request counts, in the run and in the reply",
  );
});

Deno.test("overflow: the error of the run has the model, and what the adapter reported", async () => {
  const cause = new Error("413");
  const reported = { status: 413, requestId: "req_1", cause };
  const { agent } = testAgent([], {
    streamFn: async function* () {
      yield { type: "start" } as const;
      const error = new ContextWindowOverflowError("Too long", reported);
      yield { type: "error", stopReason: "error", error } as const;
    },
  });
  const { error } = await agent.prompt("Hi");
  const { status, requestId, provider, model, retryable } = error ?? {};
  assertEquals([status, requestId, error?.cause], [413, "req_1", cause]);
  assertEquals([provider, model, retryable], ["test", "model", false]);
});

Deno.test("overflow: a second one in a turn is the error of the run, and the next run starts with overflow: true [A34, B36]", async () => {
  const flags: boolean[] = [];
  const { agent, streamFn } = testAgent([tooLong, tooLong, tooLong, reply("Hello")], {
    transformContext: createShrinking(flags),
    messages: [{ role: "user", content: [{ type: "text", text: long }], timestamp: 0 }],
  });
  const first = await agent.prompt(long);
  assertInstanceOf(first.error, ContextWindowOverflowError);
  assertEquals(flags, [false, true]);
  assertEquals(agent.state.messages.length, 2, "the history is not reduced");
  const second = await agent.prompt("Hi");
  assertEquals(flags, [false, true, true, true]);
  assertEquals(
    second.error?.code,
    "context_window_overflow",
    "the context cannot be reduced further",
  );
  assertEquals(streamFn.calls.length, 3);
});

Deno.test("overflow: is the error of the run without a transform, or when the transform removes nothing [A35]", async () => {
  const plain = testAgent([tooLong]);
  assertEquals((await plain.agent.prompt("Hi")).error?.code, "context_window_overflow");
  plain.streamFn.assertDone();
  const flags: boolean[] = [];
  const unchanging = testAgent([tooLong], {
    transformContext: (messages, { overflow }) => (flags.push(overflow), messages),
  });
  assertEquals((await unchanging.agent.prompt("Hi")).error?.code, "context_window_overflow");
  assertEquals(flags, [false, true]);
  unchanging.streamFn.assertDone();
});

Deno.test("overflow: continue() after an overflow error starts with overflow: true", async () => {
  const flags: boolean[] = [];
  const { agent, streamFn } = testAgent([tooLong, tooLong, reply("Hello"), reply("Again")], {
    transformContext: createShrinking(flags),
    messages: [{ role: "user", content: [{ type: "text", text: long }], timestamp: 0 }],
  });
  await agent.prompt("Hi");
  await agent.continue();
  assertEquals(flags, [false, true, true]);
  await agent.prompt("More");
  assertEquals(flags, [false, true, true, false], "the flag is cleared by the next reply");
  streamFn.assertDone();
});

Deno.test("overflow: the second request has the same system prompt and tools [A36]", async () => {
  const { agent, streamFn } = testAgent([
    () => {
      agent.setSystemPrompt("Be verbose");
      return tooLong;
    },
    reply("Hello"),
  ], {
    systemPrompt: "Be brief",
    transformContext: createShrinking([]),
    messages: [{ role: "user", content: [{ type: "text", text: long }], timestamp: 0 }],
  });
  await agent.prompt("Hi");
  assertEquals(streamFn.calls.map(({ context }) => context.systemPrompt), ["Be brief", "Be brief"]);
});

Deno.test("overflow: postTurn policies are called when the overflow is the error of the run [A37]", async () => {
  const seen: string[] = [];
  const { agent } = testAgent([tooLong], {
    policies: [{ name: "watch", postTurn: ({ message }) => void seen.push(message.stopReason) }],
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(seen, ["error"]);
  assertEquals(outlineEvents(events).slice(-2), ["turn_end error", "agent_end"]);
});

Deno.test("overflow: abort() during the recovery ends the run as aborted [A38]", async () => {
  const { agent, streamFn } = testAgent([tooLong], {
    transformContext: (messages, { overflow }) => {
      if (overflow) agent.abort();
      return messages;
    },
    messages: [{ role: "user", content: [{ type: "text", text: long }], timestamp: 0 }],
  });
  const { stopReason, error } = await agent.prompt("Hi");
  assertEquals([stopReason, error], ["aborted", undefined]);
  streamFn.assertDone();
});

Deno.test("overflow: abort() when the reply is discarded leaves none of it in the history", async () => {
  const partial = fail("context_window_overflow", "Too long", { after: "A part" });
  const { agent, streamFn } = testAgent([partial], {
    transformContext: (messages, { overflow }) => overflow ? messages.slice(-1) : messages,
    messages: [{ role: "user", content: [{ type: "text", text: long }], timestamp: 0 }],
  });
  agent.subscribe(({ type }) => type === "retry" ? agent.abort() : undefined);
  const stream = agent.promptStream("Hi");
  await checkEvents(stream);
  const { stopReason, text } = await stream.result();
  assertEquals([stopReason, text, agent.state.messages.at(-1)?.role], ["aborted", "", "user"]);
  streamFn.assertDone();
});

Deno.test("overflow: steering during the recovery stays queued until the reply has ended", async () => {
  const { agent, streamFn } = testAgent([tooLong, reply("Hello"), reply("Yes?")], {
    transformContext: (messages, { overflow }) => {
      if (!overflow) return messages;
      agent.steer("Wait");
      return messages.slice(-1);
    },
    messages: [{ role: "user", content: [{ type: "text", text: long }], timestamp: 0 }],
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events).filter((line) => line.startsWith("turn")), [
    "turn_start 1",
    "turn_end complete",
    "turn_start 2",
    "turn_end complete",
  ]);
  assertEquals(outlineMessages(agent.state.messages).slice(1), [
    "user: Hi",
    "assistant: Hello",
    "user: Wait",
    "assistant: Yes?",
  ]);
  streamFn.assertDone();
});

Deno.test("overflow: a retry event discards the text before the overflow", async () => {
  const { agent } = testAgent([
    fail("context_window_overflow", "Too long after all", { after: "Half" }),
    reply("Whole"),
  ], {
    transformContext: createShrinking([]),
    messages: [{ role: "user", content: [{ type: "text", text: long }], timestamp: 0 }],
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events).slice(4, -3), [
    "message_start assistant",
    "message_update text_delta",
    "retry 1 discard",
    "context_compacted",
    "message_update text_delta",
  ]);
  assertEquals(outlineMessages(agent.state.messages).at(-1), "assistant: Whole");
});

Deno.test("overflow: a transform that throws during the recovery ends the turn in an error", async () => {
  const { agent } = testAgent([
    fail("context_window_overflow", "Too long", { after: "Half", usage }),
  ], {
    transformContext: (messages, { overflow }) => {
      if (overflow) throw new Error("cannot summarize");
      return messages;
    },
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Half"]);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && end.usage, usage);
  assertEquals(outlineEvents(events).slice(-3), [
    "message_end assistant",
    "turn_end error",
    "agent_end",
  ]);
  assertEquals(agent.state.error?.message, "transformContext failed: cannot summarize");
});

for (const moment of ["before the request", "during the reply"] as const) {
  Deno.test(`overflow: abort() ${moment} of the next run keeps overflow: true for the one after it`, async () => {
    const flags: boolean[] = [];
    const aborted = moment === "during the reply" ? [hang({ after: "Half" })] : [];
    const { agent, streamFn } = testAgent([tooLong, ...aborted, reply("Hello"), reply("Again")], {
      transformContext: createShrinking(flags),
    });
    await agent.prompt("Hi");
    assertEquals(flags.splice(0), [false, true]);
    if (moment === "during the reply") atFirst(agent, "message_update", () => agent.abort());
    const signal = moment === "before the request" ? AbortSignal.abort() : undefined;
    const second = await agent.prompt("More", signal && { signal });
    assertEquals(second.stopReason, "aborted");
    flags.length = 0;
    await agent.prompt("Once more");
    await agent.prompt("And again");
    assertEquals(flags, [true, false]);
    streamFn.assertDone();
  });
}

Deno.test("overflow: a transform that throws in the next run keeps overflow: true for the one after it", async () => {
  const flags: boolean[] = [];
  const shrink = createShrinking(flags);
  const transformContext: TransformContext = (messages, input) => {
    const output = shrink(messages, input);
    if (flags.length === 3) throw new Error("no summary");
    return output;
  };
  const { agent } = testAgent([tooLong, tooLong, reply("Hello")], {
    transformContext,
    messages: [{ role: "user", content: [{ type: "text", text: long }], timestamp: 0 }],
  });
  await agent.prompt(long);
  assertEquals((await agent.continue()).error?.message, "transformContext failed: no summary");
  await agent.continue();
  assertEquals(flags, [false, true, true, true]);
});

Deno.test("overflow: reset() forgets it", async () => {
  const flags: boolean[] = [];
  const { agent } = testAgent([tooLong, reply("Hello")], {
    transformContext: createShrinking(flags),
  });
  await agent.prompt("Hi");
  agent.reset();
  await agent.prompt("Hi");
  assertEquals(flags, [false, true, false]);
});

Deno.test("overflow: reset() during a run forgets it, also when that run ends later", async () => {
  const flags: boolean[] = [];
  const { agent } = testAgent([tooLong, hang({ after: "Half" }), reply("Hello")], {
    transformContext: createShrinking(flags),
  });
  await agent.prompt("Hi");
  atFirst(agent, "message_update", () => agent.reset());
  await agent.prompt("More");
  await agent.prompt("Once more");
  assertEquals(flags, [false, true, true, false]);
});

Deno.test("overflow: the reports of both transforms count towards the usage of the run", async () => {
  const { agent } = testAgent([tooLong, reply("Hello", { usage })], {
    transformContext: (messages, { overflow }) => ({
      messages: overflow ? messages.slice(-1) : messages,
      report: { droppedCount: 1, tokensBefore: 2, tokensAfter: 1, usage },
    }),
    messages: [{ role: "user", content: [{ type: "text", text: long }], timestamp: 0 }],
  });
  assertEquals((await agent.prompt("Hi")).usage.total, 20, "two reports and two requests");
});

Deno.test("overflow: a run that does not start keeps overflow: true for the next one", async () => {
  const flags: boolean[] = [];
  const { agent } = testAgent([tooLong, reply("Hello")], {
    transformContext: createShrinking(flags),
    validator: () => {
      throw new Error("no validator");
    },
  });
  await agent.prompt("Hi");
  await assertRejects(() => agent.structuredOutput("?", { type: "object" }), BadRequestError);
  await agent.prompt("More");
  assertEquals(flags, [false, true, true]);
});

Deno.test("overflow: an AbortedError that the transform throws during the recovery ends the turn in an error", async () => {
  const { agent } = testAgent([fail("context_window_overflow", "too long")], {
    transformContext: (messages, { overflow }) => {
      if (overflow) throw new AbortedError("The summary was aborted");
      return messages;
    },
  });
  const { stopReason, error } = await agent.prompt("Hi");
  assertEquals([stopReason, error?.code], ["error", "aborted"]);
});

Deno.test("overflow: the output of the first request is discarded although a policy refuses the second one", async () => {
  for (const failure of ["throw", "stop"]) {
    let requests = 0;
    const partial = fail("context_window_overflow", "too long", { after: "Well", usage });
    const { agent } = testAgent([partial], {
      transformContext: createShrinking([]),
      policies: [{
        name: "once",
        preRequest: () => {
          if (++requests === 1) return;
          if (failure === "stop") return { type: "stop", reason: "enough" };
          throw new Error("no second request");
        },
      }],
    });
    agent.appendMessages([{ role: "user", content: [{ type: "text", text: long }], timestamp: 0 }]);
    await checkEvents(agent.promptStream("Hi"));
    const { messages } = agent.state;
    assertEquals(outlineMessages(messages).at(-1), "user: Hi", failure);
  }
});

Deno.test("overflow: the tokens of a summary count although a policy refuses the request", async () => {
  const { agent } = testAgent([], {
    transformContext: (messages) => ({
      messages,
      report: { droppedCount: 1, tokensBefore: 2, tokensAfter: 1, usage },
    }),
    policies: [{
      name: "broken",
      preRequest: () => {
        throw new Error("no request");
      },
    }],
  });
  const result = await agent.prompt("Hi");
  assertEquals([result.usage, result.cost], [usage, unknownCost()]);
  assertEquals(result.error?.message, 'The policy "broken" (preRequest) failed: no request');
});

Deno.test("overflow: setMessages() replaces the rejected request", async () => {
  const flags: boolean[] = [];
  const { agent } = testAgent([tooLong, reply("Hello", { usage })], {
    transformContext: createShrinking(flags),
  });
  await agent.prompt("Hi");
  agent.setMessages([]);
  await agent.prompt("Hello");
  assertEquals(flags, [false, true, false]);
});
