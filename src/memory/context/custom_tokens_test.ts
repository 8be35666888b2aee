import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { omitCustomMessages } from "../../core/context/context.ts";
import { defineCustomMessage } from "../../core/context/custom_message.ts";
import { ContextWindowOverflowError } from "../../core/errors/errors.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import type { StreamFn } from "../../core/streams/stream.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { contextGauge } from "./context_gauge.ts";
import { slidingWindow } from "./sliding_window.ts";

const note = defineCustomMessage({
  type: "note",
  decode: String,
  toLlm: (text) => userMessage(text, 0),
});
const convertToLlm = note.convert(omitCustomMessages);
const notes = Array.from({ length: 20 }, (_, number) => note.create(`${number} `.repeat(700), 0));

/** Creates a model with a context window of 4,000 tokens, which reports no usage. */
function createModel(): { readonly streamFn: StreamFn; readonly sizes: number[] } {
  const sizes: number[] = [];
  const streamFn: StreamFn = async function* ({ context }) {
    const size = context.messages.reduce((sum, message) => sum + estimateTokens(message), 0);
    sizes.push(size);
    yield { type: "start" };
    if (size > 4_000) {
      const error = new ContextWindowOverflowError("Too long");
      return yield { type: "error", stopReason: "error", error };
    }
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
    yield { type: "done", stopReason: "stop", usage };
  };
  return { streamFn, sizes };
}

for (const position of ["at the beginning", "after a question"]) {
  Deno.test(`slidingWindow(): custom messages ${position} count as convertToLlm converts them`, async () => {
    const { streamFn, sizes } = createModel();
    const first: AgentMessage[] = [userMessage("A question", 0), assistantMessage("An answer")];
    const agent = new Agent({
      model: "p/m",
      streamFn,
      convertToLlm,
      transformContext: slidingWindow({ contextWindow: 4_000 }),
      messages: position === "at the beginning" ? notes : [...first, ...notes],
    });
    const { error } = await agent.prompt("Summarize the notes");
    assertEquals([error, sizes.length], [undefined, 1]);
    assert(sizes.every((size) => size > 1_000 && size <= 3_400), `${sizes} tokens`);
  });
}

Deno.test("slidingWindow(): a first message and short custom messages before it are kept", async () => {
  const { streamFn, sizes } = createModel();
  const transform = slidingWindow({ contextWindow: 4_000 });
  const agent = new Agent({
    model: "p/m",
    streamFn,
    convertToLlm,
    transformContext: transform,
    messages: [note.create("A note", 0), userMessage("A question", 0), ...notes],
  });
  await agent.prompt("Summarize the notes");
  assertEquals([transform.cut?.from, sizes.length], [2, 1]);
});

Deno.test("contextGauge() counts custom messages as convertToLlm converts them", () => {
  const options = { model: "p/m", streamFn: scriptedStream([reply("ok")]), messages: notes };
  const { used } = contextGauge(new Agent({ ...options, convertToLlm }));
  assertEquals(contextGauge(new Agent(options)).used, 0);
  assertEquals(
    used,
    notes.reduce((sum, { data }) => sum + estimateTokens(userMessage(String(data), 0)), 0),
  );
});

Deno.test("slidingWindow(): the error of convertToLlm is that of the conversion for the provider", async () => {
  for (
    const convert of [() => {
      throw new Error("no");
    }, () => Promise.reject(new Error("no"))]
  ) {
    const agent = new Agent({
      model: "p/m",
      streamFn: scriptedStream([]),
      convertToLlm: convert as never,
      transformContext: slidingWindow({ contextWindow: 4_000 }),
      messages: notes,
    });
    const { error } = await agent.prompt("Summarize the notes");
    assert(error?.message.startsWith("convertToLlm"), error?.message);
  }
});
