import {
  assertBreaks,
  assertLegal,
  createCallDelta,
  createDelta,
  findEventIndex,
  plainRun,
  replaceEvents,
  toolRun,
} from "../../tests/testing/event_sequences.ts";
import { NetworkError } from "../core/errors.ts";
import type { AgentEventBody } from "../core/event.ts";

Deno.test("ReplyGrammar: accepts alternating blocks, and rejects deltas outside of a reply or of another type", () => {
  const index = findEventIndex(plainRun, "message_update");
  const deltas = [
    createDelta(1, "th"),
    createDelta(0, "No"),
    createDelta(1, "ing"),
  ];
  assertLegal(replaceEvents(plainRun, index, { remove: 2, insert: deltas }));
  assertBreaks(
    "reply",
    replaceEvents(plainRun, 2, { insert: [createDelta(0, "early")] }),
    2,
  );
  assertBreaks(
    "reply",
    replaceEvents(plainRun, index + 1, { insert: [createDelta(0, "x", "thinking")] }),
    index + 1,
  );
  assertBreaks(
    "reply",
    replaceEvents(plainRun, index, { insert: [createDelta(0, "{", "tool_call")] }),
    index,
  );
  assertBreaks(
    "reply",
    replaceEvents(plainRun, index + 1, { insert: [createCallDelta(0)] }),
    index + 1,
  );
});

Deno.test("ReplyGrammar: requires deltas to add up to the final message", () => {
  const index = findEventIndex(plainRun, "message_update");
  const end = findEventIndex(plainRun, "message_end", 1);
  assertBreaks(
    "reply",
    replaceEvents(plainRun, index, { insert: [createDelta(0, "!")] }),
    end + 1,
  );
  const call = findEventIndex(toolRun, "message_update", 3);
  assertBreaks("reply", replaceEvents(toolRun, call, { remove: 2 }));
});

Deno.test("ReplyGrammar: requires discard for a retry after deltas", () => {
  const error = new NetworkError("reset");
  const retry = (discard: boolean): AgentEventBody => ({
    type: "retry",
    attempt: 1,
    delayMs: 1000,
    error,
    discard,
  });
  const index = findEventIndex(plainRun, "message_update");
  assertLegal(replaceEvents(plainRun, index, { insert: [retry(false)] }));
  assertLegal(
    replaceEvents(plainRun, index, {
      insert: [createDelta(0, "Well"), createCallDelta(1), retry(true)],
    }),
  );
  assertLegal(replaceEvents(plainRun, index - 1, { insert: [retry(false)] }));
  assertBreaks(
    "reply",
    replaceEvents(plainRun, index, { insert: [createDelta(0, "Well"), retry(false)] }),
    index + 1,
  );
  assertBreaks(
    "reply",
    replaceEvents(plainRun, findEventIndex(plainRun, "turn_end"), { insert: [retry(true)] }),
  );
});

Deno.test("ReplyGrammar: starts again after a fallback or a compaction", () => {
  const model = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;
  const report = { droppedCount: 1, tokensBefore: 9, tokensAfter: 3 };
  const index = findEventIndex(plainRun, "message_update");
  for (
    const event of [
      { type: "model_fallback", from: model, to: model },
      { type: "context_compacted", report },
    ] satisfies AgentEventBody[]
  ) {
    assertLegal(replaceEvents(plainRun, 2, { insert: [event] }));
    assertLegal(replaceEvents(plainRun, index, { insert: [createDelta(0, "Well"), event] }));
  }
});
