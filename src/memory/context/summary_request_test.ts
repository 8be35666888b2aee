import { assert } from "@std/assert";
import { extractText } from "../../core/content.ts";
import { userMessage } from "../../core/message.ts";
import { estimateTextTokens } from "../../core/tokens.ts";
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
