import { assertEquals, assertStringIncludes } from "@std/assert";
import { createOllama } from "../../adapters/ollama/mod.ts";
import { Agent } from "../../mod.ts";
import { exponentialBackoff } from "../../src/core/hooks/retry.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { createMinimalRequest } from "./wire_tests.ts";

const MESSAGES = [
  "error parsing tool call: raw='{\"path\":\"a\"]', err=invalid character ']' after object key:value pair",
  "failed to parse JSON: unexpected end of JSON input",
  "invalid character ']' after object key:value pair",
  "XML syntax error on line 6: element <function> closed by </parameter>",
];

for (const message of MESSAGES) {
  Deno.test(`createOllama(): a call that the model wrote wrongly may be tried again: "${message.slice(0, 30)}…"`, async () => {
    const request = createMinimalRequest("ollama", "gpt-oss:20b");
    const inStream = `${JSON.stringify({ message: { content: "Let me" } })}\n` +
      `${JSON.stringify({ error: message })}\n`;
    const responses = [
      () => Response.json({ error: message }, { status: 500 }),
      () => new Response(inStream, { headers: { "content-type": "application/x-ndjson" } }),
    ];
    for (const createResponse of responses) {
      const fetch = () => Promise.resolve(createResponse());
      const { error } = await readReply(createOllama({ fetch })(request));
      assertEquals([error?.code, error?.retryable], ["network_error", true]);
    }
  });
}

Deno.test("Agent: a call that Ollama cannot read is written again", async () => {
  const replies = [{ error: MESSAGES[0] }, { message: { content: "Done." }, done: true }];
  const fetch = () => {
    const headers = { "content-type": "application/x-ndjson" };
    return Promise.resolve(new Response(`${JSON.stringify(replies.shift())}\n`, { headers }));
  };
  const agent = new Agent({
    model: "ollama/gpt-oss:20b",
    streamFn: createOllama({ fetch }),
    retry: exponentialBackoff({ baseDelayMs: 0 }),
  });
  assertEquals((await agent.prompt("Go.")).text, "Done.");
});

Deno.test("createOllama(): a prompt that is longer than the context window says how to enlarge it", async () => {
  const message =
    "the prompt is longer than the context length currently available to the model; shorten the prompt";
  const fetch = () => Promise.resolve(Response.json({ error: message }, { status: 400 }));
  const { error } = await readReply(
    createOllama({ fetch })(createMinimalRequest("ollama", "qwen3:8b")),
  );
  assertEquals(error?.code, "context_window_overflow");
  assertStringIncludes(error?.message ?? "", "OLLAMA_CONTEXT_LENGTH");
});
