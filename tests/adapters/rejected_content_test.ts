import { assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../mod.ts";
import type { StreamRequest } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import {
  createRequest,
  createServer,
  listRejections,
  SIGNED,
  SUBJECTS,
} from "./rejecting_server.ts";
import { prompt } from "./rich_conversation.ts";

for (const subject of SUBJECTS) {
  const { model, createStreamFn } = subject;

  Deno.test(`${model.provider}: a request whose reasoning is rejected is sent again without it`, async () => {
    const { bodies, fetch } = createServer(subject);
    const streamFn = createStreamFn(fetch);
    const request = createRequest(subject);
    const { stopReason, content, warnings } = await readReply(streamFn(request));
    assertEquals([stopReason, content], ["stop", [{ type: "text", text: "Hi" }]]);
    assertEquals(warnings.map(({ code }) => code), ["thinking_left_out"]);
    assertEquals(bodies.length, 2);
    assertStringIncludes(bodies[1] ?? "", "One.");
    // Later requests have it no longer, but that of the new reply.
    await readReply(streamFn(request));
    assertEquals(bodies.length, 3);
  });

  for (
    const message of [
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
    ]
  ) {
    Deno.test(`${model.provider}: a request is sent again without reasoning after "${message}"`, async () => {
      const { bodies, fetch } = createServer({ ...subject, error: { error: { message } } });
      const reply = await readReply(createStreamFn(fetch)(createRequest(subject)));
      assertEquals(reply.stopReason, "stop");
      assertEquals(listRejections(reply.warnings), ["thinking_left_out"]);
      assertEquals(bodies.length, 2);
    });
  }

  Deno.test(`${model.provider}: other errors about a request with reasoning are reported`, async () => {
    const error = { error: { type: "invalid_request_error", message: "Unknown field: x" } };
    const { bodies, fetch } = createServer({ ...subject, error });
    const reply = await readReply(createStreamFn(fetch)(createRequest(subject)));
    assertEquals([reply.error?.code, bodies.length], ["bad_request", 1]);
  });

  Deno.test(`${model.provider}: the rejection of a request without reasoning is reported`, async () => {
    const request = createRequest(subject);
    const { fetch, bodies } = createServer(subject);
    const messages = [prompt(`Read ${SIGNED}`)];
    const reply = await readReply(
      createStreamFn(fetch)({ ...request, context: { ...request.context, messages } }),
    );
    assertEquals([reply.error?.code, bodies.length], ["bad_request", 1]);
  });
}

Deno.test("Agent: a session that continues with another account fails no request after the first", async () => {
  const [subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const { bodies, fetch } = createServer(subject);
  const agent = new Agent({
    model: subject.model,
    streamFn: subject.createStreamFn(fetch),
    messages: createRequest(subject).context.messages.slice(0, 2),
  });
  for (const text of ["Go on.", "And on."]) {
    assertEquals((await agent.prompt(text)).text, "Hi");
  }
  assertEquals(bodies.map((body) => body.includes(SIGNED)), [true, false, false]);
});

Deno.test("openai: an account that is not verified gets replies without summaries of thinking", async () => {
  const [subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const error = {
    message:
      "Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.",
    type: "invalid_request_error",
    param: "reasoning.summary",
    code: "unsupported_value",
  };
  const server = createServer({ error: {}, events: subject.events });
  const reasoning: unknown[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    const body = JSON.parse(`${init?.body}`);
    reasoning.push(body.reasoning);
    if (body.reasoning?.summary) return Promise.resolve(Response.json({ error }, { status: 400 }));
    return server.fetch(url, init);
  };
  const streamFn = subject.createStreamFn(fetch);
  const data = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "b3du" };
  const ownReasoning = { type: "extension", typeName: "openai.reasoning", data } as const;
  const request: StreamRequest = {
    ...createRequest({ ...subject, reasoning: ownReasoning }),
    options: { reasoningSummary: "detailed" },
  };
  const { stopReason, warnings } = await readReply(streamFn(request));
  assertEquals([stopReason, listRejections(warnings)], ["stop", ["reasoning_summary_left_out"]]);
  assertStringIncludes(server.bodies[0] ?? "", "b3du");
  // Later requests have no summary, and without thinking there is nothing to leave out.
  assertEquals((await readReply(streamFn(request))).warnings, []);
  const model = { ...request.model, thinkingLevel: "off" } as const;
  assertEquals((await readReply(streamFn({ ...request, model, options: {} }))).warnings, []);
  assertEquals(reasoning, [
    { effort: "low", summary: "detailed" },
    { effort: "low" },
    { effort: "low" },
    { effort: "none" },
  ]);
});
