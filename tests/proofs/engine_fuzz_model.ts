/**
 * Models that say anything at all, and break their contract now and then.
 *
 * @module
 */

import type { AgentErrorCode } from "../../src/core/errors.ts";
import { NetworkError } from "../../src/core/errors.ts";
import type { AssistantMessageEvent, StreamFn } from "../../src/core/stream.ts";
import { zeroUsage } from "../../src/core/usage.ts";
import { text, thinking, toolCall } from "../../src/testing/messages.ts";
import {
  endWithoutTerminal,
  fail,
  hang,
  reply,
  type ReplyBlock,
  type ScriptedStep,
} from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import type { RandomSource } from "./engine_fuzz_random.ts";

const WORDS = ["", " ", "Well", "the answer is", "\n\n", "é🎉", "a b c d e f g h"];
const CODES: AgentErrorCode[] = [
  "model_throttled",
  "network_error",
  "network_error",
  "stream_error",
  "auth_error",
  "content_filtered",
  "context_window_overflow",
  "aborted",
];

/** Answers of a model, enough for any run. */
export function randomScript(dice: RandomSource, tools: readonly string[]): ScriptedStep[] {
  const oddness = dice.oneOf([0.1, 0.3, 0.8]);
  return dice.array(
    40,
    40,
    () => dice.chance(oddness) ? randomFaultyStep(dice, tools) : reply(randomBlocks(dice, tools)),
  );
}

function randomFaultyStep(dice: RandomSource, tools: readonly string[]): ScriptedStep {
  const said = (): ReplyBlock[] => randomBlocks(dice, tools);
  return dice.create<ScriptedStep>([
    () => reply(said(), { stopReason: "stop" }),
    () => reply(said(), { stopReason: "length" }),
    () => fail(dice.oneOf(CODES), "It failed"),
    () => fail("network_error", "Reset", { after: said() }),
    () => fail(dice.oneOf(CODES), "It failed", { after: dice.chance(0.5) ? said() : "" }),
    () => hang({ after: dice.chance(0.5) ? said() : "", ignoresSignal: dice.chance(0.3) }),
    () => endWithoutTerminal(said()),
    () => randomEvents(dice, tools),
    () => () => {
      throw new Error("The step is broken");
    },
  ]);
}

function randomBlocks(dice: RandomSource, tools: readonly string[]): ReplyBlock[] {
  const calls = dice.chance(0.7) ? dice.array(1, 4, () => randomToolCall(dice, tools)) : [];
  return [...randomContent(dice, tools), ...calls];
}

function randomContent(dice: RandomSource, tools: readonly string[]): ReplyBlock[] {
  return dice.array<ReplyBlock>(0, 3, () =>
    dice.create<ReplyBlock>([
      () => text(dice.oneOf(WORDS)),
      () => thinking(dice.oneOf(WORDS), dice.chance(0.3) ? { signature: "s" } : {}),
      () => randomToolCall(dice, tools),
      () => ({ type: "extension", typeName: "test.item", data: { n: dice.integer(9) } }),
    ]));
}

function randomToolCall(dice: RandomSource, tools: readonly string[]): ReplyBlock {
  const name = dice.chance(0.1) ? "no_such_tool" : dice.oneOf(tools);
  const id = dice.chance(0.3) ? dice.oneOf(["a", "b", "a_1", "call_1"]) : "";
  const args = dice.create<Record<string, unknown> | string>([
    () => ({}),
    () => ({ n: dice.integer(100), key: dice.oneOf(["x", "y"]) }),
    () => ({ n: "not a number" }),
    () => '{"n": 1, "key": "x',
    () => "[1, 2]",
    () => "",
    () => '{"__proto__": {"n": 1}, "deep": {"list": [1, {"a": null}]}}',
  ]);
  return toolCall(name, args, { id });
}

/** Events in any order: a stream that breaks its contract somewhere, or by luck does not. */
function randomEvents(dice: RandomSource, tools: readonly string[]): AssistantMessageEvent[] {
  const contentIndex = (): number => dice.integer(3);
  const any = (): AssistantMessageEvent =>
    dice.create<AssistantMessageEvent>([
      () => ({ type: "start" }),
      () => ({ type: dice.oneOf(["text_start", "thinking_start"]), contentIndex: contentIndex() }),
      () => ({
        type: dice.oneOf(["text_delta", "thinking_delta", "tool_call_delta"]),
        contentIndex: contentIndex(),
        delta: dice.oneOf(WORDS),
      }),
      () => ({
        type: dice.oneOf(["text_end", "thinking_end", "tool_call_end"]),
        contentIndex: contentIndex(),
      }),
      () => ({
        type: "tool_call_start",
        contentIndex: contentIndex(),
        id: dice.oneOf(["", "a"]),
        name: dice.oneOf(tools),
      }),
      () => ({ type: "extension", contentIndex: contentIndex(), typeName: "x", data: null }),
      () => ({ type: "warning", code: "odd", message: "Something is odd" }),
    ]);
  const last = dice.create<AssistantMessageEvent[]>([
    () => [],
    () => [{
      type: "done",
      stopReason: dice.oneOf(["stop", "tool_use", "length", "error", "aborted"]),
      usage: zeroUsage(),
    }],
    () => [{
      type: "error",
      stopReason: dice.oneOf(["error", "aborted"]),
      error: new NetworkError("Reset"),
    }],
  ]);
  return [...dice.array(0, 8, any), ...last, ...dice.array(0, 2, any)];
}

/** A {@linkcode StreamFn} that can be given another script, and knows which of its streams nobody has closed. */
export class TrackedModel {
  /** How many streams are open. */
  openStreams = 0;
  #script: StreamFn;

  constructor(steps: readonly ScriptedStep[]) {
    this.#script = scriptedStream(steps);
  }

  /** Begins another script. */
  setScript(steps: readonly ScriptedStep[]): void {
    this.#script = scriptedStream(steps);
  }

  readonly streamFn: StreamFn = (request) => {
    const iterator = this.#script(request)[Symbol.asyncIterator]();
    let isOpen = true;
    const close = (): void => {
      if (isOpen) this.openStreams--;
      isOpen = false;
    };
    this.openStreams++;
    return new ReadableStream<AssistantMessageEvent>({
      async pull(controller): Promise<void> {
        const { done, value } = await iterator.next();
        if (!done) return controller.enqueue(value);
        close();
        controller.close();
      },
      cancel(): void {
        close();
        void iterator.return?.();
      },
    }, { highWaterMark: 0 });
  };
}
