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

Deno.test("an error as bare JSON ends a reply that seemed complete", async () => {
  const { text, error } = await readFixture("bare_error");
  assertEquals([text, error?.code, error?.retryable], ["Half a", "network_error", true]);
  assertEquals(error?.status, 499);
});

Deno.test("the signature after a text is the text's, and the text stays one", async () => {
  for (const name of ["thinking", "signed_first"]) {
    const { content } = await readFixture(name);
    assertEquals(content.at(-1), { type: "text", text: "It is so.", signature: "U0lHTkVE" });
  }
});

Deno.test("the signature of a call is the call's, and the next call has none", async () => {
  const { content } = await readFixture("tool_calls");
  const marks = content.map((block) => "signature" in block ? block.signature : undefined);
  assertEquals(marks, [undefined, "U0lHTkVE", undefined, undefined]);
});

Deno.test("what Google's own tools did is kept as it came", async () => {
  const { content } = await readFixture("own_tools");
  assertEquals(content.map(({ type }) => type), ["text", "extension", "extension", "text"]);
  const part = {
    codeExecutionResult: { outcome: "OUTCOME_OK", output: "28\n" },
    thoughtSignature: "U0lHTkVE",
  };
  assertEquals(content[2], { type: "extension", typeName: "google.part", data: part });
});

Deno.test("a call that the token limit cut is told from one that is whole", async () => {
  const { calls } = await readFixture("length_in_call");
  assertEquals(calls.map(({ state }) => state), ["complete", "truncated"]);
});

Deno.test("a call that the model got wrong may come right in another try", async () => {
  const { error } = await readFixture("malformed_call");
  assertEquals(error?.retryable, true);
  assert(error?.message.includes("print(default_api.x())"));
  assertEquals((await readFixture("other")).error?.retryable, false);
});

Deno.test("A 135: there is one terminal event, and nothing after it", async () => {
  for (const name of ["safety", "recitation", "blocked", "malformed_call", "bare_error"]) {
    const { events } = await readFixture(name);
    const ends = events.filter(({ type }) => type === "done" || type === "error");
    assertEquals([ends.length, events.at(-1) === ends[0]], [1, true], name);
  }
});

Deno.test("an unknown reason to stop is told", async () => {
  const { warnings } = await readFixture("unknown_reason");
  assertEquals(warnings.map(({ code }) => code), ["unknown_stop_reason"]);
});
