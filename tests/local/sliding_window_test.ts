/**
 * Models whose layers see only the last tokens, so that the state before a reply cannot be restored from their cache.
 */

import { assert, assertEquals } from "@std/assert";
import { type LlmMessage, userMessage } from "../../mod.ts";
import { createFixture, toReply } from "./local_fixture.ts";
import { llama, SCRIPTS } from "./tiny_models.ts";

const ignore = llama === undefined;
const SYSTEM_PROMPT = "Answer the questions of the user. ".repeat(10);

/** Creates a model, and lets it write a reply that fills its cache. */
async function createConversation() {
  const fixture = await createFixture({
    contextSize: 2_048,
    tiny: { slidingWindow: 16, scripts: SCRIPTS },
  });
  const first = await fixture.ask("!loop", { systemPrompt: SYSTEM_PROMPT, maxTokens: 900 });
  assertEquals(first.usage?.output, 900);
  fixture.counts.take();
  const other = { ...toReply(first), content: [{ type: "text", text: "Another reply" }] };
  return { fixture, other: other as LlmMessage };
}

Deno.test({
  name: "createLocal(): evaluates only the new tokens after a reply that is not part of the prompt",
  ignore,
}, async () => {
  const { fixture, other } = await createConversation();
  await using _ = fixture;
  const messages = [userMessage("!loop", 0), other, userMessage("!hello", 0)];
  const { text, usage } = await fixture.ask(messages, { systemPrompt: SYSTEM_PROMPT });
  assertEquals(text, "Hello world, dear user");
  assertEquals(fixture.counts.take().length, usage?.input);
  assert((usage?.input ?? 1_000) < 60, `${usage?.input} tokens were evaluated`);
});

Deno.test({
  name: "createLocal(): counts the tokens of earlier messages that are evaluated again",
  ignore,
}, async () => {
  const { fixture } = await createConversation();
  await using _ = fixture;
  const systemPrompt = `${SYSTEM_PROMPT}Be brief.`;
  const { text, usage } = await fixture.ask("!hello", { systemPrompt });
  assertEquals(text, "Hello world, dear user");
  assertEquals(fixture.counts.take().length, usage?.input);
  assert((usage?.input ?? 0) > 300, `${usage?.input} tokens were evaluated`);
});
