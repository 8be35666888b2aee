import { assertEquals, assertInstanceOf, assertStringIncludes } from "@std/assert";
import { omitCustomMessages } from "../../src/core/context/context.ts";
import { defineCustomMessage } from "../../src/core/context/custom_message.ts";
import { AbortedError, AuthError, StreamError } from "../../src/core/errors/errors.ts";
import { type AgentMessage, userMessage } from "../../src/core/messages/message.ts";
import { zeroCost, zeroUsage } from "../../src/core/models/usage.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

Deno.test("transformContext runs once per turn, and convertToLlm gets its result [3.4, A5, B4]", async () => {
  const seen: string[] = [];
  let turns = 0;
  const { agent, streamFn } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [fakeTool({ name: "look" })],
    transformContext: (messages) => [...messages, userMessage(`turn ${++turns}`, 0)],
    convertToLlm: (message) => {
      if (message.role === "custom") return null;
      if (message.role === "user") seen.push(...outlineMessages([message]));
      return message;
    },
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(seen, ["user: Look", "user: turn 1", "user: turn 2"]);
  assertEquals(streamFn.calls.map(({ context }) => outlineMessages(context.messages).at(-1)), [
    "user: turn 1",
    "user: turn 2",
  ]);
});

Deno.test("a turn runs preTurn, transformContext, convertToLlm and getApiKey in this order", async () => {
  const order: string[] = [];
  const { agent } = testAgent([
    () => {
      order.push("model");
      return reply("Hello");
    },
  ], {
    policies: [{
      name: "watch",
      preTurn: () => void order.push("policy"),
      postTurn: () => void order.push("after"),
    }],
    transformContext: (messages) => {
      order.push("transform");
      return messages;
    },
    convertToLlm: (message) => {
      order.push("convert");
      return message.role === "custom" ? null : message;
    },
    getApiKey: () => void order.push("key"),
  });
  agent.subscribe(({ type }) => void (type.startsWith("turn") && order.push(type)));
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(order, [
    "policy",
    "turn_start",
    "transform",
    "convert",
    "key",
    "model",
    "after",
    "turn_end",
  ]);
});

Deno.test("transformContext changes the request only, not the history [B5]", async () => {
  const { agent, streamFn } = testAgent([reply("One"), reply("Two")], {
    transformContext: (messages) => ({
      messages: messages.slice(-1),
      report: { droppedCount: messages.length - 1, tokensBefore: 2, tokensAfter: 1 },
    }),
  });
  await checkEvents(agent.promptStream("First"));
  const events = await checkEvents(agent.promptStream("Second"));
  assertEquals(outlineMessages(streamFn.calls[1]?.context.messages ?? []), ["user: Second"]);
  assertEquals(agent.state.messages.length, 4);
  assertEquals(eventsOfType(events, "context_compacted").map(({ report }) => report.droppedCount), [
    2,
  ]);
  assertEquals(outlineEvents(events).slice(3, 6), [
    "message_end user",
    "context_compacted",
    "message_start assistant",
  ]);
});

Deno.test("transformContext: changes of the list that it gets do not change the history", async () => {
  const { agent, streamFn } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [fakeTool({ name: "look" })],
    transformContext: (messages) => {
      const list = messages as AgentMessage[];
      list.unshift(userMessage("Be brief", 0));
      return list;
    },
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(outlineMessages(agent.state.messages), [
    "user: Look",
    "assistant: look({})",
    "tool_result: ok",
    "assistant: Seen",
  ]);
  assertEquals(outlineMessages(streamFn.calls[1]?.context.messages ?? []), [
    "user: Be brief",
    "user: Look",
    "assistant: look({})",
    "tool_result: ok",
  ]);
});

Deno.test("transformContext: its signal is aborted with the run", async () => {
  const entered = Promise.withResolvers<AbortSignal>();
  const { agent } = testAgent([], {
    transformContext: async (messages, { signal }) => {
      entered.resolve(signal);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return messages;
    },
  });
  const running = agent.prompt("Hi");
  const signal = await entered.promise;
  agent.abort("enough");
  assertEquals([(await running).stopReason, signal.reason], ["aborted", "enough"]);
});

Deno.test("transformContext: a report that is no object ends the turn with an error", async () => {
  const { agent } = testAgent([], {
    transformContext: (messages) => ({ messages, report: "shorter" as never }),
  });
  const { error } = await agent.prompt("Hi");
  assertEquals(error?.message, "transformContext failed: its report must be an object");
});

Deno.test("transformContext: the usage and cost of its report count towards the run", async () => {
  const amounts = { input: 3, output: 2, cacheRead: 0, cacheWrite: 0, total: 5 };
  const { agent } = testAgent([reply("One", { usage: amounts, cost: amounts })], {
    transformContext: (messages) => ({
      messages,
      report: { droppedCount: 0, tokensBefore: 1, tokensAfter: 1, usage: amounts, cost: amounts },
    }),
  });
  const { usage, cost } = await agent.prompt("Hi");
  assertEquals([usage.total, cost.total], [10, 10]);
});

Deno.test("transformContext: wrong amounts in its report count as unknown and do not end the run", async () => {
  for (const usage of [1n, () => 1, "many"]) {
    const { agent } = testAgent([reply("One", { usage: zeroUsage(), cost: zeroCost() })], {
      transformContext: (messages) => ({
        messages,
        report: {
          droppedCount: 0,
          tokensBefore: 1,
          tokensAfter: 1,
          usage: usage as never,
          cost: usage as never,
        },
      }),
    });
    const { stopReason, usage: total, cost } = await agent.prompt("Hi");
    assertEquals([stopReason, total.total, cost.total], ["stop", 0, null], String(usage));
  }
});

Deno.test("getApiKey is called in every turn with the provider's name [3.5, A7, B7]", async () => {
  const providers: string[] = [];
  const { agent, streamFn } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [fakeTool({ name: "look" })],
    getApiKey: (provider) => {
      providers.push(provider);
      return Promise.resolve(`key ${providers.length}`);
    },
    streamOptions: { sessionId: "s", temperature: 0.5 },
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(providers, ["test", "test"]);
  assertEquals(streamFn.calls.map(({ options }) => options), [
    { sessionId: "s", temperature: 0.5, apiKey: "key 1" },
    { sessionId: "s", temperature: 0.5, apiKey: "key 2" },
  ]);
});

Deno.test("convertToLlm that returns null omits the message from the request and keeps it in the history [3.14, A6, B6]", async () => {
  const note = { role: "custom", type: "note", data: { a: 1 }, timestamp: 0 } as const;
  const { agent, streamFn } = testAgent([reply("Hello")]);
  await checkEvents(agent.promptStream([note, userMessage("Hi", 0)]));
  assertEquals(outlineMessages(streamFn.calls[0]?.context.messages ?? []), ["user: Hi"]);
  assertEquals(outlineMessages(agent.state.messages), [
    "custom: note",
    "user: Hi",
    "assistant: Hello",
  ]);
});

Deno.test("custom message: toLlm() is called once and its result is sent", async () => {
  let conversions = 0;
  const note = defineCustomMessage({
    type: "note",
    decode: (data) => String(data),
    toLlm: (data, { timestamp }) => {
      conversions++;
      return userMessage(`Note: ${data}`, timestamp);
    },
  });
  const { agent, streamFn } = testAgent([reply("One"), reply([toolCall("look")]), reply("Two")], {
    convertToLlm: note.convert(omitCustomMessages),
    tools: [fakeTool({ name: "look" })],
  });
  await checkEvents(agent.promptStream([note.create("buy milk", 0)]));
  assertEquals(conversions, 1);
  await checkEvents(agent.promptStream("And?"));
  assertEquals(conversions, 2, "once per run");
  assertEquals(
    outlineMessages(streamFn.calls[2]?.context.messages ?? [])[0],
    "user: Note: buy milk",
  );
  assertEquals(outlineMessages(agent.state.messages)[0], "custom: note");
});

const noDisk = new Error("no disk");
const broken = (): never => {
  throw noDisk;
};
for (const hook of ["transformContext", "convertToLlm", "getApiKey"] as const) {
  Deno.test(`${hook} that throws ends the run with an error that names the hook [B32]`, async () => {
    const { agent, streamFn } = testAgent([], { [hook]: broken });
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(outlineEvents(events).slice(4), [
      "message_start assistant",
      "message_end assistant",
      "turn_end error",
      "agent_end",
    ]);
    const end = events.at(-1);
    assertInstanceOf(end?.type === "agent_end" && end.error, StreamError);
    assertEquals(agent.state.error?.message, `${hook} failed: no disk`);
    assertEquals(agent.state.error?.cause, noDisk);
    assertEquals(outlineMessages(agent.state.messages), ["user: Hi"]);
    streamFn.assertDone();
  });

  Deno.test(`${hook} that throws an AgentError keeps its class and code [B32]`, async () => {
    const error = new AuthError("Log in first");
    const { agent } = testAgent([], {
      [hook]: () => {
        throw error;
      },
    });
    assertEquals((await agent.prompt("Hi")).error, error);
  });
}

for (const hook of ["transformContext", "convertToLlm", "getApiKey"] as const) {
  Deno.test(`${hook} that throws because of the abort ends the run as aborted`, async () => {
    const { agent, streamFn } = testAgent([], {
      [hook]: () => {
        agent.abort("enough");
        broken();
      },
    });
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(outlineEvents(events).slice(4), [
      "message_start assistant",
      "message_end assistant",
      "turn_end aborted",
      "agent_end",
    ]);
    const [end] = eventsOfType(events, "agent_end");
    assertEquals([end?.stopReason, end?.abortReason, end?.error], ["aborted", "enough", undefined]);
    streamFn.assertDone();
  });
}

for (const hook of ["transformContext", "getApiKey"] as const) {
  Deno.test(`${hook} that hangs is abandoned 100 ms after the abort`, async () => {
    const { agent, clock, streamFn } = testAgent([], { [hook]: () => new Promise(() => {}) });
    const running = agent.prompt("Hi");
    await settle();
    agent.abort("enough");
    await settle();
    assertEquals(agent.state.isRunning, true);
    assertEquals(clock.waits, [100]);
    clock.advance(100);
    const result = await running;
    assertEquals([result.stopReason, result.abortReason], ["aborted", "enough"]);
    streamFn.assertDone();
    assertEquals(clock.sleepers, 0);
  });
}

Deno.test("transformContext that returns undefined ends the turn with an error", async () => {
  const { agent } = testAgent([], { transformContext: () => undefined as never });
  const { error } = await agent.prompt("Hi");
  assertStringIncludes(error?.message ?? "", "transformContext failed");
});

Deno.test("readFile: reads image files, and without the port an image file is a bad_request", async () => {
  const image = { type: "image", source: { type: "file", path: "cat.jpg" } } as const;
  const read: string[] = [];
  const { agent, streamFn } = testAgent([reply("A cat")], {
    readFile: (path) => {
      read.push(path);
      return Promise.resolve(new Uint8Array([1, 2, 3]));
    },
  });
  await checkEvents(agent.promptStream({ text: "What is it?", images: [image] }));
  assertEquals(read, ["cat.jpg"]);
  assertEquals(streamFn.calls[0]?.context.messages[0]?.content[1], {
    type: "image",
    source: { type: "base64", mediaType: "image/jpeg", data: "AQID" },
  });
  assertEquals(agent.state.messages[0], {
    id: "message_1",
    role: "user",
    content: [{ type: "text", text: "What is it?" }, image],
    timestamp: 0,
  });
  const withoutPort = testAgent([]);
  const { error } = await withoutPort.agent.prompt({ text: "What is it?", images: [image] });
  assertEquals(error?.code, "bad_request");
});

Deno.test("abort() ends a run whose readFile hangs", async () => {
  const image = { type: "image", source: { type: "file", path: "cat.jpg" } } as const;
  const { agent, clock } = testAgent([], { readFile: () => new Promise(() => {}) });
  const running = agent.prompt({ text: "What is it?", images: [image] });
  await settle();
  agent.abort();
  await settle();
  clock.advance(100);
  assertEquals((await running).stopReason, "aborted");
});

for (const hook of ["transformContext", "convertToLlm", "getApiKey"] as const) {
  Deno.test(`${hook} that throws an AbortedError of its own ends the run in an error turn [B32]`, async () => {
    const error = new AbortedError("The summary was aborted");
    const { agent } = testAgent([], {
      [hook]: () => {
        throw error;
      },
    });
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(outlineEvents(events).at(-2), "turn_end error");
    const [end] = eventsOfType(events, "agent_end");
    assertEquals([end?.stopReason, end?.error], ["error", error]);
  });
}
