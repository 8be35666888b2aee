import { assertEquals } from "@std/assert";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../../testing/messages.ts";
import { chooseCut, type CutRequest } from "./choose_cut.ts";
import { groupMessages } from "./message_groups.ts";

const note: AgentMessage = { role: "custom", type: "note", data: "text", timestamp: 0 };
const question = userMessage("question", 0);
const answer = assistantMessage("answer");
const cutOff = assistantMessage("ans", { stopReason: "aborted" });

/** Chooses a cut of messages of 100 tokens each. */
function chooseRange(messages: readonly AgentMessage[], options: Partial<CutRequest>) {
  const chosen = chooseCut({
    messages,
    groups: groupMessages(messages, () => 100),
    anchor: 1,
    keepSteps: 1,
    targetTokens: 300,
    maxTokens: 300,
    limitTokens: 300,
    unansweredTokens: 300,
    openingTokens: 100,
    omitted: undefined,
    pin: () => false,
    ...options,
  });
  return chosen && [chosen.from, chosen.to];
}

Deno.test("chooseCut() does not take omitted messages into the anchor again", () => {
  const messages = [note, question, answer, question, answer, question];
  assertEquals(chooseRange(messages, {}), [2, 5]);
  const omitted = { from: 1, to: 3, pinnedAt: [] };
  assertEquals(chooseRange(messages, { omitted }), [1, 4]);
});

Deno.test("chooseCut() keeps the request of a reply that was cut off while it fits with the opening message", () => {
  const messages = [question, answer, cutOff];
  const options = { anchor: 0, targetTokens: 0, maxTokens: 0 };
  assertEquals(chooseRange(messages, { ...options, limitTokens: 300 }), [0, 1]);
  assertEquals(chooseRange(messages, { ...options, limitTokens: 250 }), [0, 2]);
});

Deno.test("chooseCut() without an anchor keeps the last steps while they fit with the opening message", () => {
  const messages = [question, answer, answer, answer, question];
  const options = { anchor: 0, targetTokens: 400, maxTokens: 400 };
  assertEquals(chooseRange(messages, { ...options, keepSteps: 3 }), [0, 2]);
  assertEquals(chooseRange(messages, options), [0, 4]);
});

Deno.test("chooseCut() counts custom messages in the anchor when that does not fit with the latest step", () => {
  assertEquals(chooseRange([note, note, question, answer, question], {}), [1, 3]);
});

Deno.test("chooseCut() without an anchor leaves space for the opening message before a pinned reply", () => {
  const pinned = assistantMessage("plan");
  const messages = [pinned, question, answer, question, question];
  const pin = (message: AgentMessage) => message === pinned;
  assertEquals(chooseRange(messages, { anchor: 0, pin }), [0, 4]);
});

Deno.test("chooseCut() keeps the tool results before a prompt while they fit with the opening message", () => {
  const call = toolCall("read", {}, { id: "c1" });
  const results = [assistantMessage([call]), toolResultMessage(call, "text")];
  const messages = [question, answer, ...results, question];
  const options = { anchor: 0, targetTokens: 0, maxTokens: 0, limitTokens: 1_000 };
  assertEquals(chooseRange(messages, { ...options, unansweredTokens: 400 }), [0, 2]);
  assertEquals(chooseRange(messages, { ...options, unansweredTokens: 399 }), [0, 4]);
});
