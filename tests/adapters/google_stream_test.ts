import { assert, assertEquals } from "@std/assert";
import { createGoogle } from "../../adapters/google/mod.ts";
import { type CollectedReply, readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { createMinimalRequest } from "./wire_tests.ts";

function readFixture(name: string): Promise<CollectedReply> {
  const body = Deno.readFileSync(new URL(`../fixtures/google/${name}.sse`, import.meta.url));
  const streamFn = createGoogle({ fetch: replayFetch(body) });
  return readReply(streamFn(createMinimalRequest("google", "gemini-3.8-flash")));
}

Deno.test("createGoogle(): fails the reply when an error follows as plain JSON after the finish reason", async () => {
  const { text, error } = await readFixture("bare_error");
  assertEquals([text, error?.code, error?.retryable], ["Half a", "network_error", true]);
  assertEquals(error?.status, 499);
});

Deno.test("createGoogle(): keeps one text block when its signature follows in a later part", async () => {
  for (const name of ["thinking", "signed_first"]) {
    const { content } = await readFixture(name);
    assertEquals(content.at(-1), { type: "text", text: "It is so.", signature: "U0lHTkVE" });
  }
});

Deno.test("createGoogle(): assigns a signature to its own call only", async () => {
  const { content } = await readFixture("tool_calls");
  const signatures = content.map((block) => "signature" in block ? block.signature : undefined);
  assertEquals(signatures, [undefined, "U0lHTkVE", undefined, undefined]);
});

Deno.test("createGoogle(): stores the parts of Google's own tools unchanged", async () => {
  const { content } = await readFixture("own_tools");
  assertEquals(content.map(({ type }) => type), ["text", "extension", "extension", "text"]);
  const part = {
    codeExecutionResult: { outcome: "OUTCOME_OK", output: "28\n" },
    thoughtSignature: "U0lHTkVE",
  };
  assertEquals(content[2], { type: "extension", typeName: "google.part", data: part });
});

Deno.test("createGoogle(): marks a call as cut when the token limit ended it", async () => {
  const { calls } = await readFixture("length_in_call");
  assertEquals(calls.map(({ state }) => state), ["complete", "truncated"]);
});

Deno.test("createGoogle(): marks the error of a malformed call as retryable", async () => {
  const { error } = await readFixture("malformed_call");
  assertEquals(error?.retryable, true);
  assert(error?.message.includes("print(default_api.x())"));
  assertEquals((await readFixture("other")).error?.retryable, false);
});

Deno.test("createGoogle(): ends a failed reply with exactly one terminal event [A135]", async () => {
  for (const name of ["safety", "recitation", "blocked", "malformed_call", "bare_error"]) {
    const { events } = await readFixture(name);
    const ends = events.filter(({ type }) => type === "done" || type === "error");
    assertEquals([ends.length, events.at(-1) === ends[0]], [1, true], name);
  }
});

Deno.test("createGoogle(): warns about an unknown finish reason", async () => {
  const { warnings } = await readFixture("unknown_reason");
  assertEquals(warnings.map(({ code }) => code), ["unknown_stop_reason"]);
});

Deno.test("createGoogle(): a call that is streamed in parts keeps the signature of any of them", async () => {
  const read = async (...signatures: readonly (string | undefined)[]) => {
    const call = (index: number) => ({
      ...(index === 0 && { name: "look" }),
      partialArgs: [{ jsonPath: "$.path", stringValue: String(index) }],
      willContinue: index < signatures.length - 1,
    });
    const parts = signatures.map((thoughtSignature, index) => ({
      functionCall: call(index),
      thoughtSignature,
    }));
    const body = `data: ${
      JSON.stringify({ candidates: [{ content: { parts }, finishReason: "STOP" }] })
    }\n\n`;
    const streamFn = createGoogle({ fetch: replayFetch(body) });
    const { content } = await readReply(
      streamFn(createMinimalRequest("google", "gemini-3.8-flash")),
    );
    return content;
  };
  const call = { type: "tool_call", id: "", name: "look", arguments: { path: "012" } } as const;
  assertEquals(await read("c2ln", undefined, undefined), [{ ...call, signature: "c2ln" }]);
  assertEquals(await read(undefined, undefined, "c2ln"), [{ ...call, signature: "c2ln" }]);
  assertEquals(await read(undefined, undefined, undefined), [call]);
});

Deno.test("createGoogle(): the text of a part is text, also next to members that the reader does not know", async () => {
  const parts = [{ text: "It is ", speechMetadata: { speaker: "A" } }, { text: "so." }];
  const chunk = { candidates: [{ content: { parts }, finishReason: "STOP" }] };
  const streamFn = createGoogle({ fetch: replayFetch(`data: ${JSON.stringify(chunk)}\n\n`) });
  const { content } = await readReply(
    streamFn(createMinimalRequest("google", "gemini-3.8-flash")),
  );
  assertEquals(content, [{ type: "text", text: "It is so." }]);
});

Deno.test("createGoogle(): a call in a chunk that is sent twice runs once, and a second equal call is another one", async () => {
  const createChunk = (candidatesTokenCount: number | undefined, call: object) => ({
    candidates: [{ index: 0, content: { role: "model", parts: [{ functionCall: call }] } }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount },
    responseId: "r1",
  });
  const countCalls = async (...chunks: readonly object[]) => {
    const end = { candidates: [{ finishReason: "STOP" }], responseId: "r1" };
    const body = [...chunks, end].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
    const streamFn = createGoogle({ fetch: replayFetch(body) });
    const { calls } = await readReply(streamFn(createMinimalRequest("google", "gemini-2.5-flash")));
    return calls.map(({ arguments: args }) => args);
  };
  const call = { name: "pay", args: { euros: 5 } };
  const euros = { euros: 5 };
  const chunk = createChunk(7, call);
  assertEquals(await countCalls(chunk, chunk, chunk), [euros]);
  assertEquals(await countCalls(chunk, createChunk(14, call)), [euros, euros]);
  const other = createChunk(20, { name: "pay", args: { euros: 6 } });
  assertEquals(await countCalls(chunk, other, other), [euros, { euros: 6 }]);
  // Without a count, nothing distinguishes a second call from a repetition.
  const uncounted = createChunk(undefined, call);
  assertEquals(await countCalls(uncounted, uncounted), [euros, euros]);
  // Equal pieces of the arguments of one call are both part of them.
  const start = createChunk(7, { name: "pay", willContinue: true });
  const pieces = [
    start,
    start,
    ...[7, 7].map((count) =>
      createChunk(count, {
        partialArgs: [{ jsonPath: "$.note", stringValue: "ha", willContinue: true }],
        willContinue: true,
      })
    ),
    createChunk(9, {}),
  ];
  assertEquals(await countCalls(...pieces), [{ note: "haha" }]);
});

Deno.test("createGoogle(): a reply that stops without text and calls fails with a retryable error", async () => {
  const read = (parts: readonly object[] | undefined, finishReason: string) => {
    const chunk = {
      candidates: [{ content: { role: "model", ...(parts && { parts }) }, finishReason }],
      usageMetadata: { promptTokenCount: 9, thoughtsTokenCount: 20, totalTokenCount: 29 },
    };
    const streamFn = createGoogle({ fetch: replayFetch(`data: ${JSON.stringify(chunk)}\n\n`) });
    return readReply(streamFn(createMinimalRequest("google", "gemini-3.8-flash")));
  };
  const thought = { text: "I looked.", thought: true };
  const empty = [undefined, [], [{ text: "", thoughtSignature: "U0lHTkVE" }], [thought]];
  for (const parts of empty) {
    const { error, usage } = await read(parts, "STOP");
    assertEquals([error?.code, error?.retryable], ["stream_error", true]);
    assertEquals(error?.message, "google: the reply is empty: continue, or prompt in other words");
    assertEquals(usage?.output, 20);
  }
  const call = { functionCall: { name: "look", args: {} } };
  const image = { inlineData: { mimeType: "image/png", data: "" } };
  for (const part of [{ text: "Yes." }, call, image]) {
    assertEquals((await read([thought, part], "STOP")).error, undefined);
  }
  assertEquals((await read([thought], "MAX_TOKENS")).stopReason, "length");
});
