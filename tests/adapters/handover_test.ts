/**
 * Conversations that begin with one provider and continue with another, for each pair of providers.
 *
 * @module
 */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { NINE_PROVIDERS, type ProviderSubject } from "./nine_providers.ts";
import { createReply, prompt, richRequest } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

/** Matches data in the conversation that is valid only for the model that created it. */
const OPAQUE_DATA = /c2lnbmF0dXJl|ZW5j|rs_1|own_1|I need the files/;

for (const from of NINE_PROVIDERS) {
  for (const to of NINE_PROVIDERS) {
    Deno.test(`handover: ${to.name} accepts a conversation of ${from.name}`, () =>
      checkHandover(from, to));
  }
}

async function checkHandover(from: ProviderSubject, to: ProviderSubject): Promise<void> {
  const request = richRequest(to.model, { from: from.model });
  const { body, warnings } = await captureRequest((fetch) => to.createStreamFn({ fetch }), request);
  assertEquals(to.findProblems(body), []);
  const sent = JSON.stringify(body);
  assert(sent.includes("Let me look."), "the reply was not sent");
  assert(sent.includes("No such file"), "the result was not sent");
  // The proxy forwards everything; the adapter behind it omits the data.
  if (from !== to && to.name !== "proxy") {
    assert(!OPAQUE_DATA.test(sent), "data of another model was sent");
  }
  const omissions = warnings.filter(({ code }) => code !== "unknown_model");
  for (const { code } of omissions) assert(/left_out$/.test(code), code);
}

/** Providers that accept a call without a result. */
const LENIENT_PROVIDERS = ["ollama", "proxy"];

for (const to of NINE_PROVIDERS.filter(({ name }) => !LENIENT_PROVIDERS.includes(name))) {
  Deno.test(`handover: the rules of ${to.name} detect a missing result`, async () => {
    const { context, ...request } = richRequest(to.model);
    const messages = context.messages.filter((message) =>
      message.role !== "tool_result" || message.toolName !== "read_file"
    );
    const broken = { ...request, context: { ...context, messages } };
    const { body } = await captureRequest((fetch) => to.createStreamFn({ fetch }), broken);
    assertNotEquals(to.findProblems(body), []);
  });
}

/** Items with content that only their model gets, each as its adapter stores it. */
const SERVER_ITEMS: readonly (readonly [model: string, typeName: string, data: JsonObject])[] = [
  ["anthropic/claude-opus-4-8", "anthropic.web_search_tool_result", {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [],
  }],
  ["openai/gpt-5.4", "openai.web_search_call", { type: "web_search_call", id: "ws_1" }],
  ["openai/gpt-5.4", "openai.compaction", { type: "compaction", encrypted_content: "ZW5j" }],
  ["google/gemini-3.8-flash", "google.part", { inlineData: { mimeType: "image/png", data: "" } }],
  ["bedrock/amazon.nova-2-lite-v1:0", "bedrock.tool_result", {
    toolResult: { toolUseId: "t1", content: [{ text: "42" }] },
  }],
];

for (const to of NINE_PROVIDERS.filter(({ name }) => name !== "proxy")) {
  Deno.test(`handover: ${to.name} reports the items of other models that it does not get`, async () => {
    for (const [from, typeName, data] of SERVER_ITEMS) {
      const send = async (...items: readonly ContentBlock[]) => {
        const replies = [1, 2].map(() =>
          createReply(modelSpec(from), [...items, { type: "text", text: "Found." }])
        );
        const messages = [prompt("Hi"), ...replies, prompt("And?")];
        const { context, ...request } = richRequest(to.model);
        return await captureRequest((fetch) => to.createStreamFn({ fetch }), {
          ...request,
          context: { ...context, messages },
        });
      };
      const { body, warnings } = await send({ type: "extension", typeName, data });
      const omitted = warnings.filter(({ code }) => code === "content_left_out");
      assertEquals(
        omitted.map(({ message }) => message),
        [`Only the model that created items of type ${typeName} gets them: 2 omitted`],
      );
      assertEquals(body, (await send()).body);
      // The reasoning of another model is never sent, which needs no mention.
      const reasoning = { type: "extension", typeName: "openai.reasoning", data: {} } as const;
      const { warnings: others } = await send(reasoning);
      assertEquals(others.filter(({ code }) => code === "content_left_out"), []);
    }
  });
}

Deno.test("handover: chat completions report the server tools of the Responses API", async () => {
  const model = modelSpec("openai/gpt-4o");
  const { context, ...request } = richRequest(model);
  const data = { type: "web_search_call", id: "ws_1", status: "completed" };
  const item = { type: "extension", typeName: "openai.web_search_call", data } as const;
  const reply = createReply(model, [item, { type: "text", text: "Found." }]);
  const { warnings } = await captureRequest((fetch) => createOpenAI({ fetch, api: "chat" }), {
    ...request,
    context: { ...context, messages: [prompt("Hi"), reply, prompt("And?")] },
  });
  assertEquals(warnings.map(({ code }) => code), ["content_left_out"]);
});
