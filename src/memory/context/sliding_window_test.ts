import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import type { TransformInput, TransformOutput } from "../../core/context/context.ts";
import { ContextWindowOverflowError } from "../../core/errors/errors.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../../testing/messages.ts";
import type { CompactionOptions } from "./compaction.ts";
import { slidingWindow } from "./sliding_window.ts";

const MODEL = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;

function createInput(overrides: Partial<TransformInput> = {}): TransformInput {
  const { signal } = new AbortController();
  return { overflow: false, model: MODEL, systemPrompt: "", tools: [], signal, ...overrides };
}

/** Creates a window of 250 tokens without a reserve, in which each message has 100 tokens. */
function createWindow(options: Partial<CompactionOptions> = {}) {
  return slidingWindow({
    contextWindow: 250,
    threshold: 1,
    target: 1,
    keepSteps: 1,
    countTokens: () => 100,
    ...options,
  });
}

function getMessages(output: TransformOutput): readonly AgentMessage[] {
  return "messages" in output ? output.messages : output;
}

function getReport(output: TransformOutput) {
  return "messages" in output ? output.report : undefined;
}

const user = (text: string) => userMessage(text, 0);
const [u1, u2, u3, u4] = [user("1"), user("2"), user("3"), user("4")];
const [a1, a2] = [assistantMessage("a1"), assistantMessage("a2")];
const call = toolCall("bash", {}, { id: "c1" });
const otherCall = toolCall("bash", {}, { id: "c2" });
const callMessage = assistantMessage([call, otherCall]);
const results = [toolResultMessage(call, "r1"), toolResultMessage(otherCall, "r2")];

Deno.test("slidingWindow() keeps the first and the last of four messages [A117]", async () => {
  const output = await createWindow()([u1, a1, u2, a2], createInput());
  assertEquals(getMessages(output), [u1, a2]);
  assertEquals(getReport(output), {
    droppedCount: 2,
    droppedMessages: [a1, u2],
    tokensBefore: 400,
    tokensAfter: 200,
  });
});

Deno.test("slidingWindow(): options that are undefined have their defaults", async () => {
  const options = { contextWindow: 450, countTokens: () => 100 };
  const unset = {
    threshold: undefined,
    target: undefined,
    overflowTarget: undefined,
    anchor: undefined,
    keepSteps: undefined,
    pin: undefined,
  };
  const history = [u1, a1, u2, a2, u3];
  const output = await slidingWindow({ ...options, ...unset })(history, createInput());
  assertEquals(output, await slidingWindow(options)(history, createInput()));
  assert(getMessages(output).length < history.length);
});

Deno.test("slidingWindow() omits more after an overflow [A117]", async () => {
  const history = [u1, a1, u2, a2, u3, u4];
  const options = { contextWindow: 500, target: 0.8, overflowTarget: 0.5 };
  assertEquals(getMessages(await createWindow(options)(history, createInput())), [u1, a2, u3, u4]);
  assertEquals(getMessages(await createWindow(options)(history, createInput({ overflow: true }))), [
    u1,
    u4,
  ]);
});

Deno.test("slidingWindow() keeps tool results with their call, in anchor and tail [A118]", async () => {
  const history = [u1, a1, u2, callMessage, ...results];
  const narrow = createWindow({ contextWindow: 450 });
  assertEquals(getMessages(await narrow(history, createInput())), [u1, callMessage, ...results]);
  const anchored = [u1, callMessage, ...results, a1, u2, u3];
  const wide = createWindow({ anchor: 2, contextWindow: 550 });
  assertEquals(getMessages(await wide(anchored, createInput())), [u1, callMessage, ...results, u3]);
});

Deno.test("slidingWindow() keeps an empty history and a single message [A119]", async () => {
  for (const history of [[], [u1], [callMessage, ...results]]) {
    for (const overflow of [false, true]) {
      const output = await createWindow({ contextWindow: 10 })(history, createInput({ overflow }));
      assertEquals(getMessages(output), history);
      assertEquals(getReport(output), undefined);
    }
  }
});

Deno.test("slidingWindow() returns the same array below the threshold [A120]", async () => {
  const history = [u1, a1];
  assertStrictEquals(await createWindow()(history, createInput()), history);
});

Deno.test("slidingWindow(): the report counts custom messages without listing them [A120]", async () => {
  const note = { role: "custom", type: "note", data: 1, timestamp: 0 } as const;
  const report = getReport(await createWindow()([u1, note, a1, u2], createInput()));
  assertEquals([report?.droppedCount, report?.droppedMessages], [2, [a1]]);
});

Deno.test("slidingWindow() counts the system prompt, and omits nothing if the window is unknown [A121]", async () => {
  const history = [u1, a1];
  const systemPrompt = "x".repeat(800);
  const output = await createWindow({ contextWindow: 450 })(
    [...history, u2],
    createInput({ systemPrompt }),
  );
  assertEquals(getMessages(output), [u1, u2]);
  const unknown = createWindow({ contextWindow: () => undefined });
  assertStrictEquals(await unknown(history, createInput({ systemPrompt })), history);
});

Deno.test("slidingWindow() omits a part after an overflow without a known window", async () => {
  const unknown = createWindow({ contextWindow: () => undefined });
  const history = [u1, a1, u2, a2, u3, a1, u4, a2];
  assertEquals(getMessages(await unknown(history, createInput({ overflow: true }))), [u1, a2]);
});

Deno.test("slidingWindow() keeps the last steps only up to the overflowTarget after an overflow", async () => {
  for (const contextWindow of [() => undefined, 750]) {
    const transform = createWindow({ contextWindow, keepSteps: 4, overflowTarget: 0.4 });
    const output = await transform(
      [u1, a1, u2, a2, u3, a1, u4, a2],
      createInput({ overflow: true }),
    );
    assertEquals(getMessages(output), [u1, u4, a2]);
  }
});

Deno.test("slidingWindow(): contextWindow may depend on the model", async () => {
  const contextWindow = ({ modelId }: { modelId: string }) => modelId === "small" ? 250 : 1000;
  const transform = createWindow({ contextWindow });
  const history = [u1, a1, u2, a2];
  assertStrictEquals(await transform(history, createInput()), history);
  const small = { ...MODEL, modelId: "small" };
  assertEquals(getMessages(await transform(history, createInput({ model: small }))), [u1, a2]);
});

Deno.test("slidingWindow() keeps a cut until the threshold is exceeded again, and reports it once", async () => {
  const transform = createWindow({ contextWindow: 450, target: 0.5 });
  const history: AgentMessage[] = [u1, a1, u2, a2, u3];
  const first = await transform(history, createInput());
  assertEquals(getMessages(first), [u1, u3]);
  assert(getReport(first));
  const seen: number[] = [];
  for (const message of [a1, u2, a2, u3, a1]) {
    history.push(message);
    const output = await transform(history.slice(), createInput());
    seen.push(getReport(output) ? -getMessages(output).length : getMessages(output).length);
  }
  assertEquals(seen, [3, 4, -2, 3, 4]);
});

Deno.test("slidingWindow() ignores its cut for another history", async () => {
  const transform = createWindow();
  await transform([u1, a1, u2, a2], createInput());
  assert(transform.cut);
  const fresh = [user("x"), assistantMessage("y")];
  assertStrictEquals(await transform(fresh, createInput()), fresh);
});

Deno.test("slidingWindow() keeps plans and pinned messages with their groups", async () => {
  const plan = { role: "custom", type: "plan", data: "do it", timestamp: 0 } as const;
  const marked = {
    ...user("the plan"),
    content: [{ type: "extension", typeName: "plan", data: 1 }],
  } as const;
  const history = [u1, plan, a1, marked, callMessage, ...results, a2, u4];
  const wide = createWindow({ contextWindow: 450 });
  assertEquals(getMessages(await wide(history, createInput())), [u1, plan, marked, u4]);
  const pin = (message: AgentMessage) => message === results[0];
  const pinning = createWindow({ contextWindow: 550, pin });
  assertEquals(getMessages(await pinning(history, createInput())), [
    u1,
    callMessage,
    ...results,
    u4,
  ]);
});

Deno.test("slidingWindow() counts the tokens of a pinned message once when it is also among the latest", async () => {
  const pinning = createWindow({ contextWindow: 400, pin: (message) => message === a2 });
  assertEquals(getMessages(await pinning([u1, a1, u2, a2, u3], createInput())), [u1, u2, a2, u3]);
});

Deno.test("slidingWindow() keeps the latest step, and earlier steps while they fit", async () => {
  const history = [u1, a1, u2, a2, u3, a1, u4];
  for (
    const [keepSteps, kept] of [[1, [u1, u4]], [2, [u1, a1, u4]], [9, [u1, u3, a1, u4]]] as const
  ) {
    const transform = createWindow({ contextWindow: 550, target: 0.5, keepSteps });
    assertEquals(getMessages(await transform(history, createInput())), kept);
  }
});

Deno.test("slidingWindow() keeps all messages that the next reply answers while they fit, also without an anchor", async () => {
  const inputs = [[u3, u4], [callMessage, ...results, u4]];
  for (const input of inputs) {
    for (const anchor of [0, 1]) {
      const transform = createWindow({ contextWindow: 700, target: 0.1, keepSteps: 1, anchor });
      const kept = getMessages(await transform([u1, a1, u2, a2, ...input], createInput()));
      assertEquals(kept.slice(-input.length), input);
    }
  }
  const rejected = createWindow({ contextWindow: () => undefined, keepSteps: 1 });
  const history = [u1, a1, callMessage, ...results, u4];
  assertEquals(getMessages(await rejected(history, createInput({ overflow: true }))), [u1, u4]);
  const tight = createWindow({ contextWindow: 330, target: 0.1, keepSteps: 1 });
  assertEquals(getMessages(await tight([u1, a1, u2, u3, u4], createInput())), [u1, u4]);
});

Deno.test("slidingWindow() starts with a user message without an anchor", async () => {
  const transform = createWindow({ anchor: 0, contextWindow: 350 });
  assertEquals(getMessages(await transform([u1, a1, u2, a2, u3], createInput())), [u2, a2, u3]);
  const kept = getMessages(await transform([u1, a1, u2, a2, a1, a2], createInput()));
  assertEquals([kept[0]?.role, kept.slice(1)], ["user", [a1, a2]]);
});

Deno.test("slidingWindow() throws with the sizes when the kept messages do not fit", async () => {
  const countTokens = (message: AgentMessage) => message === u1 ? 300 : 100;
  const error = await assertRejects(
    async () => await createWindow({ countTokens })([u1, a1, u2, a2], createInput()),
    ContextWindowOverflowError,
    "take about 400 tokens, and 250 of the model's 250 may be used",
  );
  assertEquals(error.retryable, false);
});

Deno.test("slidingWindow() keeps messages whose rounded tokens exceed a limit that they do not reach", async () => {
  const options = { contextWindow: 251.4, threshold: 0.5, target: 0.5, countTokens: () => 62.8 };
  const output = await createWindow(options)([u1, a1, u2, a2], createInput());
  assertEquals(getMessages(output), [u1, a2]);
  assertEquals(getReport(output)?.tokensAfter, 125);
});

Deno.test("slidingWindow() scales its estimates to the provider's count", async () => {
  const usage = { input: 5000, output: 100, cacheRead: 2000, cacheWrite: 1000, total: 8100 };
  const counted = assistantMessage("a", { usage });
  const history = [u1, a1, u2, a2, u3, counted, u4];
  const transform = createWindow({ contextWindow: 10_000, threshold: 0.8, target: 0.5 });
  const output = await transform(history, createInput());
  // 8,200 tokens for seven messages: 100 estimated tokens are 1,171 of the provider's.
  assertEquals(getMessages(output), [u1, u3, counted, u4]);
  assertEquals([getReport(output)?.tokensBefore, getReport(output)?.tokensAfter], [8200, 4686]);
  // The count of the longer request does not describe the shorter one.
  assertEquals(getReport(await transform([...history, a1], createInput())), undefined);
});

Deno.test("slidingWindow(): restore() applies a cut from JSON, or removes the cut", async () => {
  const history = [u1, a1, u2, a2];
  const transform = createWindow();
  const output = await transform(history, createInput());
  const restored = createWindow();
  restored.restore(JSON.parse(JSON.stringify(transform.cut)));
  assertEquals(getMessages(await restored(history, createInput())), getMessages(output));
  assertEquals(restored.cut, { from: 1, to: 3, length: 4 });
  restored.restore(undefined);
  assertEquals(restored.view(history).messages, history);
  restored.restore({ from: 3, to: 99 });
  assertEquals(restored.view(history).messages, history);
});

Deno.test("slidingWindow(): a cut is found again in a history with repaired or copied messages", async () => {
  const history = [u1, a1, u2, a2];
  const transform = createWindow();
  await transform(history, createInput());
  const note: AgentMessage = { role: "custom", type: "note", data: null, timestamp: 0 };
  const changed = structuredClone([note, u1, note, a1, u2, note, a2]);
  assertEquals(transform.view(changed).messages, [note, u1, note, note, a2]);
  const restored = createWindow();
  restored.restore(transform.cut && { ...transform.cut, firstId: "x", lastId: "y" });
  assertEquals(restored.view(changed).messages, changed);
});

Deno.test("slidingWindow(): a restored cut is not applied to a history that ends with it", () => {
  const history = [u1, assistantMessage("a"), u2, assistantMessage("b"), u3];
  const restored = createWindow();
  restored.restore({ from: 1, to: 4 });
  // As after a rewind to the last omitted message.
  assertEquals(restored.view(history.slice(0, 4)).messages, history.slice(0, 4));
  assertEquals(restored.view(history).messages, [u1, u3]);
});

Deno.test("slidingWindow(): a restored cut keeps the results of a reply with the reply", () => {
  const calls = [toolCall("t", {}, { id: "a" }), toolCall("t", {}, { id: "b" })] as const;
  const step = [assistantMessage([...calls]), ...calls.map((call) => toolResultMessage(call, "r"))];
  const history = [u1, ...step, u2, ...step, u3];
  const restored = createWindow();
  // Both ends lie between a reply and its last result.
  restored.restore({ from: 3, to: 7 });
  assertEquals(restored.view(history).messages, [...history.slice(0, 4), u3]);
});

Deno.test("slidingWindow() keeps the latest message for the model if custom messages follow it", async () => {
  const note: AgentMessage = { role: "custom", type: "note", data: 1, timestamp: 0 };
  const countTokens = ({ role }: AgentMessage) => role === "custom" ? 0 : 100;
  for (const keepSteps of [0, 1]) {
    const transform = createWindow({ countTokens, keepSteps });
    assertEquals(getMessages(await transform([u1, a1, u2, note], createInput())), [u1, u2, note]);
  }
});

Deno.test("slidingWindow() lets the provider decide about PDFs and audio, and fails if the application counts too many tokens", async () => {
  const data = "A".repeat(1_000_000);
  for (
    const block of [
      { type: "document", mediaType: "application/pdf", source: { type: "base64", data } },
      { type: "audio", mediaType: "audio/wav", source: { type: "base64", data } },
    ] as const
  ) {
    const latest: AgentMessage = { role: "user", content: [block], timestamp: 0 };
    const history = [u1, a1, u2, a2, latest];
    const options = { contextWindow: 1_000 };
    assertEquals(getMessages(await slidingWindow(options)(history, createInput())), [u1, latest]);
    const counting = slidingWindow({ ...options, countTokens: estimateTokens });
    await assertRejects(
      async () => await counting(history, createInput()),
      ContextWindowOverflowError,
    );
  }
});

Deno.test("slidingWindow() without an anchor counts pinned messages before it keeps the latest prompt", async () => {
  const isPinned = (message: AgentMessage) => message === u1 || message === u2 || message === u3;
  const transform = createWindow({ contextWindow: 500, anchor: 0, pin: isPinned });
  const messages = [u1, u2, u3, u4, a1, a2];
  const kept = getMessages(await transform(messages, createInput()));
  assertEquals(kept, [u1, u2, u3, a1, a2]);
});

for (const stopReason of ["error", "aborted"] as const) {
  Deno.test(`slidingWindow() keeps the prompt of a reply that was cut off: ${stopReason}`, async () => {
    const cutOff = assistantMessage("Hel", { stopReason });
    const transform = createWindow({ contextWindow: 350, target: 0.3 });
    const kept = getMessages(await transform([u1, a1, u2, a2, u3, cutOff], createInput()));
    assertEquals(kept, [u1, u3, cutOff]);
  });
}

Deno.test("slidingWindow() omits the prompt of a reply that was cut off when both do not fit", async () => {
  const cutOff = assistantMessage("Hel", { stopReason: "aborted" });
  const kept = getMessages(await createWindow()([u1, a1, u2, a2, u3, cutOff], createInput()));
  assertEquals(kept, [u1, cutOff]);
});

Deno.test("slidingWindow() omits messages of a longer anchor after an overflow", async () => {
  const messages = [u1, a1, u2, a2, u3];
  const longer = createWindow({ contextWindow: 450, anchor: 3 });
  assertEquals(getMessages(await longer(messages, createInput())), [u1, a1, u2, u3]);
  const shorter = createWindow({ contextWindow: 450, anchor: 1 });
  shorter.restore(longer.cut);
  const output = await shorter(messages, createInput({ overflow: true }));
  assertEquals(getMessages(output), [u1, u3]);
});

Deno.test("slidingWindow(): an overflow before the cut of an aborted run omits nothing more", async () => {
  const transform = createWindow({ contextWindow: 350 });
  const messages = [u1, a1, u2, a2, u3];
  const first = new AbortController();
  const overflowing = createInput({ overflow: true, signal: first.signal });
  assertEquals(getMessages(await transform(messages, overflowing)), [u1, u3]);
  first.abort();
  const later = [...messages, u4];
  for (let run = 0; run < 2; run++) {
    const input = createInput({ overflow: true });
    assertEquals(getMessages(await transform(later, input)), [u1, u3, u4]);
  }
  const second = createInput({ overflow: false });
  await transform(later, second);
  const rejected = { ...second, overflow: true };
  assertEquals(getMessages(await transform(later, rejected)), [u1, u4]);
});

Deno.test("slidingWindow(): the error of a conversation that is too long names the messages that are kept", async () => {
  for (
    const [anchor, kept] of [
      [0, "the tools, plans and the latest step take about"],
      [1, "the tools, the first message, plans and the latest step take about"],
      [2, "the tools, the first 2 messages, plans and the latest step take about"],
    ] as const
  ) {
    const window = createWindow({ anchor, contextWindow: 90 });
    await assertRejects(
      () => window([u1, a1, u2, a2, u3], createInput()),
      ContextWindowOverflowError,
      kept,
    );
  }
});
