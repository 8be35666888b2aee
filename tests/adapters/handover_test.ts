/**
 * One conversation, begun with one provider and handed to another: each of them with each.
 *
 * @module
 */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { NINE_PROVIDERS, type ProviderSubject } from "./nine_providers.ts";
import { richRequest } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

/** Marks in the conversation that mean something to the model that made them and to no other. */
const OPAQUE_MARKS = /c2lnbmF0dXJl|ZW5j|rs_1|own_1|I need the files/;

for (const from of NINE_PROVIDERS) {
  for (const to of NINE_PROVIDERS) {
    Deno.test(`a conversation with ${from.name} goes on with ${to.name}`, () =>
      checkHandover(from, to));
  }
}

async function checkHandover(from: ProviderSubject, to: ProviderSubject): Promise<void> {
  const request = richRequest(to.model, { from: from.model });
  const { body, warnings } = await captureRequest((fetch) => to.createStreamFn({ fetch }), request);
  assertEquals(to.findProblems(body), []);
  const sent = JSON.stringify(body);
  assert(sent.includes("Let me look."), "the reply is missing");
  assert(sent.includes("No such file"), "the result is missing");
  // The proxy passes everything on; leaving out is up to the adapter behind it.
  if (from !== to && to.name !== "proxy") {
    assert(!OPAQUE_MARKS.test(sent), "a foreign mark is sent");
  }
  const told = warnings.filter(({ code }) => code !== "unknown_model");
  for (const { code } of told) assert(/left_out$/.test(code), code);
}

/** Neither Ollama nor the proxy minds. */
const LENIENT_PROVIDERS = ["ollama", "proxy"];

for (const to of NINE_PROVIDERS.filter(({ name }) => !LENIENT_PROVIDERS.includes(name))) {
  Deno.test(`the rules of ${to.name} notice that a result is missing`, async () => {
    const { context, ...request } = richRequest(to.model);
    const messages = context.messages.filter((message) =>
      message.role !== "tool_result" || message.toolName !== "read_file"
    );
    const broken = { ...request, context: { ...context, messages } };
    const { body } = await captureRequest((fetch) => to.createStreamFn({ fetch }), broken);
    assertNotEquals(to.findProblems(body), []);
  });
}
