import {
  assertBreaks,
  assertLegal,
  callA,
  createAttempt,
  createCallDelta,
  createDelta,
  createReplyEvents,
  finalReply,
  findEventIndex,
  model,
  networkError as error,
  plainRun,
  replaceEvents,
  toolRun,
} from "../../tests/testing/event_sequences.ts";
import type { AgentEvent, AgentEventBody } from "../core/events/event.ts";

const report = { droppedCount: 1, tokensBefore: 9, tokensAfter: 3 };
const compacted: AgentEventBody = { type: "context_compacted", report };
/** Index of the reply's `message_start` in `plainRun`. */
const start = findEventIndex(plainRun, "message_start", 1);

function createRetry(discard: boolean): AgentEventBody {
  return { type: "retry", attempt: 1, delayMs: 1000, error, discard };
}

function createFallback(discard: boolean): AgentEventBody {
  return { type: "model_fallback", from: model, to: model, discard };
}

/** Replaces the model calls of `plainRun`. */
function replaceCalls(events: readonly AgentEventBody[]): AgentEvent[] {
  const insert = createReplyEvents(finalReply, events);
  return replaceEvents(plainRun, start, { remove: 6, insert });
}

/** Creates an attempt that fails after the given events. */
function createFailure(events: readonly AgentEventBody[], attempt = 1): AgentEventBody[] {
  return createAttempt(events, { attempt, error });
}

/** Creates an attempt that replies with the message of `plainRun`. */
function createSuccess(attempt = 1): AgentEventBody[] {
  return createAttempt([createDelta(0, "Nothing")], { attempt });
}

Deno.test("ReplyGrammar: accepts alternating blocks, and rejects deltas outside of a model call or of another type", () => {
  const index = findEventIndex(plainRun, "message_update");
  const deltas = [
    createDelta(1, "th"),
    createDelta(0, "No"),
    createDelta(1, "ing"),
  ];
  assertLegal(replaceEvents(plainRun, index, { remove: 2, insert: deltas }));
  const early = [createDelta(0, "early")];
  for (const position of [2, start + 1, start + 5]) {
    assertBreaks("reply", replaceEvents(plainRun, position, { insert: early }), position);
  }
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
  const otherId = [createCallDelta(2, { ...callA, id: "c" })];
  assertBreaks("reply", replaceEvents(toolRun, call, { remove: 1, insert: otherId }));
});

Deno.test("ReplyGrammar: requires model calls to lie within the reply, one at a time", () => {
  const callStart = findEventIndex(plainRun, "model_call_start");
  const callEnd = findEventIndex(plainRun, "model_call_end");
  const events = [plainRun[callStart], plainRun[callEnd]].filter((event) => event !== undefined);
  assertBreaks("reply", replaceEvents(plainRun, start, { insert: events }), start);
  assertBreaks("reply", replaceEvents(plainRun, callEnd + 2, { insert: events }), callEnd + 2);
  const [started, ended] = [events.slice(0, 1), events.slice(1)];
  assertBreaks("reply", replaceEvents(plainRun, callEnd, { insert: started }), callEnd);
  assertBreaks("reply", replaceEvents(plainRun, callStart, { insert: ended }), callStart);
  assertBreaks("reply", replaceEvents(plainRun, callEnd, { remove: 1 }), callEnd);
});

Deno.test("ReplyGrammar: requires model calls to be numbered from 1 in their turn, and all but the last to fail", () => {
  assertLegal(replaceCalls([...createFailure([]), createRetry(false), ...createSuccess(2)]));
  assertLegal(
    replaceCalls([
      ...createFailure([]),
      createRetry(false),
      ...createFailure([], 2),
      createFallback(false),
      ...createSuccess(3),
    ]),
  );
  assertLegal(replaceCalls([...createFailure([]), ...createSuccess(2)]));
  const illegal = [
    createSuccess(2),
    [...createFailure([]), createRetry(false), ...createSuccess(1)],
    [...createFailure([]), createRetry(false), ...createSuccess(3)],
    [...createAttempt([]), ...createSuccess(2)],
    [...createAttempt([]), createRetry(false), ...createSuccess(2)],
    createAttempt([createDelta(0, "Nothing")], { turn: 2 }),
    [...createSuccess().slice(0, -1), ...createSuccess(2).slice(-1)],
    [...createSuccess().slice(0, -1), ...createAttempt([], { turn: 2 }).slice(-1)],
  ];
  for (const events of illegal) assertBreaks("reply", replaceCalls(events));
});

Deno.test("ReplyGrammar: requires a reply to fail if and only if its last model call failed", () => {
  const failed = { ...finalReply, stopReason: "error" } as const;
  const fail = (events: readonly AgentEventBody[]): AgentEvent[] =>
    replaceEvents(plainRun, start, { remove: 6, insert: createReplyEvents(failed, events) });
  const end = start + 4;
  assertBreaks("reply", fail(createSuccess()), end);
  assertBreaks("summary", fail(createFailure([createDelta(0, "Nothing")])), end + 1);
  assertBreaks("reply", replaceCalls(createFailure([createDelta(0, "Nothing")])), end);
  assertBreaks("reply", replaceCalls([]), start + 1);
});

Deno.test("ReplyGrammar: requires discard of retries and fallbacks exactly when the failed attempt has deltas", () => {
  const shown = [createDelta(0, "Well"), createCallDelta(1)];
  for (const create of [createRetry, createFallback]) {
    assertLegal(replaceCalls([...createFailure([]), create(false), ...createSuccess(2)]));
    assertLegal(replaceCalls([...createFailure(shown), create(true), ...createSuccess(2)]));
    const discardNothing = [...createFailure([]), create(true), ...createSuccess(2)];
    assertBreaks("reply", replaceCalls(discardNothing), start + 3);
    assertBreaks("reply", replaceEvents(plainRun, start, { insert: [create(true)] }), start);
    const index = start + 5;
    const keep = [...createFailure(shown), create(false), ...createSuccess(2)];
    assertBreaks("reply", replaceCalls(keep), index);
    assertBreaks("reply", replaceCalls([create(false), ...createSuccess()]), start + 1);
    const inCall = createSuccess().toSpliced(1, 0, create(true));
    assertBreaks("reply", replaceCalls(inCall), start + 2);
    assertBreaks("reply", replaceCalls([...createSuccess(), create(true)]), start + 4);
    const turnEnd = findEventIndex(plainRun, "turn_end");
    assertBreaks("reply", replaceEvents(plainRun, turnEnd, { insert: [create(true)] }), turnEnd);
  }
  assertBreaks("reply", replaceCalls([...createFailure(shown), ...createSuccess(2)]), start + 5);
});

Deno.test("ReplyGrammar: accepts a compaction before the model is called, and after a failed attempt", () => {
  assertLegal(replaceEvents(plainRun, start, { insert: [compacted] }));
  assertLegal(replaceCalls([...createFailure([]), compacted, ...createSuccess(2)]));
  const shown = createFailure([createDelta(0, "Well")]);
  assertLegal(replaceCalls([...shown, createRetry(true), compacted, ...createSuccess(2)]));
  assertBreaks("reply", replaceCalls([...shown, compacted, ...createSuccess(2)]), start + 5);
  assertBreaks("reply", replaceCalls([compacted, ...createSuccess()]), start + 1);
  assertBreaks("reply", replaceCalls(createSuccess().toSpliced(1, 0, compacted)), start + 2);
});

Deno.test("ReplyGrammar: accepts failures of the request before the reply, but no input after them", () => {
  const index = findEventIndex(plainRun, "message_start");
  for (const event of [createRetry(false), createFallback(false), compacted]) {
    assertLegal(replaceEvents(plainRun, start, { insert: [event] }));
    assertBreaks("message", replaceEvents(plainRun, index, { insert: [event] }), index + 1);
  }
});
