/**
 * Scripted models with random replies that sometimes violate the stream contract.
 *
 * @module
 */

import type { AgentErrorCode } from "../../src/core/errors/errors.ts";
import { NetworkError } from "../../src/core/errors/errors.ts";
import type {
  AssistantMessageEvent,
  StreamFn,
  StreamRequest,
} from "../../src/core/streams/stream.ts";
import { text, thinking, toolCall } from "../../src/testing/messages.ts";
import {
  endWithoutTerminal,
  fail,
  hang,
  reply,
  type ReplyBlock,
  type ReplyOptions,
  type ScriptedStep,
} from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import type { FuzzEnvironment } from "./engine_fuzz_environment.ts";
import { collectObjects, toText } from "./engine_fuzz_objects.ts";
import type { RandomSource } from "./engine_fuzz_random.ts";
import {
  randomCost,
  randomNonsense,
  randomReturnValue,
  randomThrown,
  randomUsage,
} from "./engine_fuzz_values.ts";

const WORDS = ["", " ", "Well", "the answer is", "\n\n", "é🎉", "a b c d e f g h"];
const CITATIONS = [{ type: "url", url: "https://example.com" }] as const;
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

/** Creates 40 replies, enough for any run. */
function randomScript(random: RandomSource, tools: readonly string[]): ScriptedStep[] {
  const faultRate = random.oneOf([0.05, 0.3, 0.8]);
  return random.array(
    40,
    40,
    () =>
      random.chance(faultRate)
        ? randomFaultyStep(random, tools)
        : reply(randomBlocks(random, tools), randomReplyOptions(random)),
  );
}

function randomReplyOptions(random: RandomSource): ReplyOptions {
  return {
    ...(random.chance(0.5) && { usage: randomUsage(random) }),
    ...(random.chance(0.3) && { cost: randomCost(random) }),
    ...(random.chance(0.2) && { responseId: "response_1" }),
  };
}

function randomFaultyStep(random: RandomSource, tools: readonly string[]): ScriptedStep {
  const blocks = (): ReplyBlock[] => randomBlocks(random, tools);
  return random.create<ScriptedStep>([
    () => reply(blocks(), { ...randomReplyOptions(random), stopReason: "stop" }),
    () => reply(blocks(), { ...randomReplyOptions(random), stopReason: "length" }),
    () => fail(random.oneOf(CODES), "It failed", { usage: randomUsage(random) }),
    () => fail("network_error", "Reset", { after: blocks() }),
    () => fail("context_window_overflow", "Too long", { after: blocks() }),
    () => fail(random.oneOf(CODES), "It failed", { after: random.chance(0.5) ? blocks() : "" }),
    () => hang({ after: random.chance(0.5) ? blocks() : "", ignoresSignal: random.chance(0.3) }),
    () => endWithoutTerminal(blocks()),
    () => randomEvents(random, tools),
    () => () => {
      throw new Error("The step is broken");
    },
  ]);
}

function randomBlocks(random: RandomSource, tools: readonly string[]): ReplyBlock[] {
  const calls = random.chance(0.7) ? random.array(1, 4, () => randomToolCall(random, tools)) : [];
  return [...randomContent(random, tools), ...calls];
}

function randomContent(random: RandomSource, tools: readonly string[]): ReplyBlock[] {
  return random.array<ReplyBlock>(0, 3, () =>
    random.create<ReplyBlock>([
      () => text(random.oneOf(WORDS), random.chance(0.2) ? { citations: CITATIONS } : {}),
      () => thinking(random.oneOf(WORDS), random.chance(0.3) ? { signature: "s" } : {}),
      () => randomToolCall(random, tools),
      () => ({ type: "extension", typeName: "test.item", data: { n: random.integer(9) } }),
    ]));
}

function randomToolCall(random: RandomSource, tools: readonly string[]): ReplyBlock {
  const name = random.chance(0.1) ? "no_such_tool" : random.oneOf(tools);
  const id = random.chance(0.3) ? random.oneOf(["a", "b", "a_1", "call_1"]) : "";
  if (name === "assistant") return toolCall(name, { prompt: "Help" }, { id });
  const args = random.create<Record<string, unknown> | string>([
    () => ({}),
    () => ({}),
    () => ({ n: random.integer(100) }),
    () => ({ n: random.integer(100), key: random.oneOf(["x", "y"]) }),
    () => ({ n: 1, prompt: "Help" }),
    () => ({ n: "not a number" }),
    () => '{"n": 1, "key": "x',
    () => "[1, 2]",
    () => "",
    () => '{"__proto__": {"n": 1}, "deep": {"list": [1, {"a": null}]}}',
  ]);
  return toolCall(name, args, { id });
}

/** Creates stream events in random order, which mostly violate the contract. */
function randomEvents(random: RandomSource, tools: readonly string[]): AssistantMessageEvent[] {
  const contentIndex = (): number => random.integer(3);
  const createEvent = (): AssistantMessageEvent =>
    random.create<AssistantMessageEvent>([
      () => ({ type: "start" }),
      () => ({
        type: random.oneOf(["text_start", "thinking_start"]),
        contentIndex: contentIndex(),
      }),
      () => ({
        type: random.oneOf(["text_delta", "thinking_delta", "tool_call_delta"]),
        contentIndex: contentIndex(),
        delta: random.oneOf(WORDS),
      }),
      () => ({
        type: random.oneOf(["text_end", "thinking_end", "tool_call_end"]),
        contentIndex: contentIndex(),
      }),
      () => ({
        type: "tool_call_start",
        contentIndex: contentIndex(),
        id: random.oneOf(["", "a"]),
        name: random.oneOf(tools),
      }),
      () => ({ type: "extension", contentIndex: contentIndex(), typeName: "x", data: null }),
      () => ({ type: "warning", code: "random", message: "A random warning" }),
      () => randomNonsense(random) as AssistantMessageEvent,
    ]);
  const terminal = random.create<AssistantMessageEvent[]>([
    () => [],
    () => [{
      type: "done",
      stopReason: random.oneOf(["stop", "tool_use", "length", "error", "aborted"]),
      usage: randomUsage(random),
      cost: randomCost(random),
    }],
    () => [{
      type: "error",
      stopReason: random.oneOf(["error", "aborted"]),
      error: random.chance(0.8) ? new NetworkError("Reset") : randomThrown(random) as NetworkError,
      usage: randomUsage(random),
    }],
  ]);
  return [...random.array(0, 8, createEvent), ...terminal, ...random.array(0, 2, createEvent)];
}

/** A {@linkcode StreamFn} whose script can be replaced, and which records its requests and its open streams. */
export class TrackedModel {
  /** Number of open streams. */
  openStreams = 0;
  /** The requests so far, as JSON without their signals. */
  readonly requests: string[] = [];
  readonly #environment: FuzzEnvironment;
  readonly #sources: readonly StreamFn[];
  #script: StreamFn;

  constructor(environment: FuzzEnvironment, tools: readonly string[]) {
    const { random } = environment;
    this.#environment = environment;
    this.#script = scriptedStream(randomScript(random, tools));
    this.#sources = [
      () => {
        throw randomThrown(random);
      },
      () => Promise.reject(randomThrown(random)) as never,
      (request) => Promise.resolve(this.#stream(request)) as never,
      () => randomReturnValue(random) as never,
      () => new Promise(() => {}) as never,
    ];
  }

  /** Replaces the script. */
  setScript(steps: readonly ScriptedStep[]): void {
    this.#script = scriptedStream(steps);
  }

  /** Calls the model. */
  readonly streamFn: StreamFn = (request) => {
    const { signal: _signal, ...recorded } = request;
    collectObjects(recorded, this.#environment.foreignObjects);
    this.requests.push(toText(recorded));
    const stream = (): AsyncIterable<AssistantMessageEvent> => this.#stream(request);
    const { random } = this.#environment;
    return this.#environment.rarely(
      () => random.oneOf(this.#sources)(request),
      stream,
    );
  };

  #stream(request: StreamRequest): ReadableStream<AssistantMessageEvent> {
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
  }
}
