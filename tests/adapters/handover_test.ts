/**
 * Conversations that begin with one provider and continue with another, for each pair of providers.
 *
 * @module
 */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { NINE_PROVIDERS, type ProviderSubject } from "./nine_providers.ts";
import { richRequest } from "./rich_conversation.ts";
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
