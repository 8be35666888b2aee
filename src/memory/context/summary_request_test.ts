import { assert, assertEquals } from "@std/assert";
import { extractText } from "../../core/messages/content.ts";
import { userMessage } from "../../core/messages/message.ts";
import { estimateTextTokens } from "../../core/streams/tokens.ts";
import { createSummaryRequest } from "./summary_request.ts";

function countTokens(maxTokens: number, previous: string | undefined): number {
  const messages = Array.from(
    { length: 50 },
    (_, index) => userMessage("word ".repeat(500), index),
  );
  const input = { messages, previous, instructions: "the tests", maxTokens };
  const { systemPrompt, messages: [message] } = createSummaryRequest(input);
  assert(message);
  return estimateTextTokens(systemPrompt) + estimateTextTokens(extractText(message.content));
}

Deno.test("createSummaryRequest(): the request has at most the given tokens, with its fixed texts and the previous summary", () => {
  for (const maxTokens of [1_000, 3_000, 10_000]) {
    for (const previous of [undefined, "Before. ".repeat(100)]) {
      const tokens = countTokens(maxTokens, previous);
      assert(tokens <= maxTokens + 20, `${tokens} of ${maxTokens}`);
      assert(tokens > maxTokens / 4, `${tokens} of ${maxTokens}`);
    }
  }
});

Deno.test("createSummaryRequest(): shortens long texts more and more before it omits short ones", () => {
  const short = Array.from({ length: 40 }, (_, index) => userMessage(`short ${index}.`, index));
  const long = (letter: string) => userMessage(letter.repeat(15_000), 50);
  const messages = [long("a"), ...short, long("b")];
  const getConversation = (maxTokens: number) => {
    const { messages: [message] } = createSummaryRequest({ messages, maxTokens });
    return message && "content" in message ? extractText(message.content) : "";
  };
  for (const maxTokens of [20_000, 4_000, 2_000, 1_500]) {
    const conversation = getConversation(maxTokens);
    const missing = short.filter(({ content }) => !conversation.includes(extractText(content)));
    assertEquals(missing.length, 0, `${maxTokens} tokens`);
  }
  assert(getConversation(1_500).length < getConversation(4_000).length);
  // Even the shortest texts do not fit.
  assert(getConversation(600).length < 4_000);
});
