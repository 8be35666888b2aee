import { assert, assertEquals, assertThrows } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { StreamError } from "../errors/errors.ts";
import type { ContentBlock } from "../messages/content.ts";
import { zeroUsage } from "../models/usage.ts";
import { ReplyAccumulator } from "./accumulate.ts";
import type { AssistantMessageEvent } from "./stream.ts";

const ROUNDS = 500;
const PIECES = ["", "a", "bc ", "é", "日本", "\n", '"', "\\", "😀", "\ud83d"];

interface PlannedBlock {
  readonly block: ContentBlock;
  /** The events of the block, in order; they interleave with those of other blocks. */
  readonly events: AssistantMessageEvent[];
}

type Random = () => number;

function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)];
  assert(value !== undefined);
  return value;
}

function randomText(random: Random): string {
  return Array.from({ length: Math.floor(random() * 6) }, () => pick(random, PIECES)).join("");
}

function splitText(random: Random, text: string): string[] {
  const pieces: string[] = [];
  for (let offset = 0; offset < text.length;) {
    const length = Math.floor(random() * 4);
    pieces.push(text.slice(offset, offset + length));
    offset += length;
  }
  return pieces;
}

function planTextBlock(
  random: Random,
  type: "text" | "thinking",
  contentIndex: number,
): PlannedBlock {
  const text = randomText(random);
  const attributes = random() < 0.3 ? { signature: "s" } : {};
  const block: ContentBlock = type === "text"
    ? { type, text, ...attributes }
    : { type, thinking: text, ...attributes };
  const deltas = splitText(random, text).map((delta): AssistantMessageEvent => ({
    type: `${type}_delta`,
    contentIndex,
    delta,
  }));
  const start: AssistantMessageEvent = { type: `${type}_start`, contentIndex };
  return {
    block,
    events: [start, ...deltas, { type: `${type}_end`, contentIndex, ...attributes }],
  };
}

function planCall(random: Random, contentIndex: number): PlannedBlock {
  const args = {
    [randomText(random)]: randomText(random),
    list: [1, null, { deep: randomText(random) }],
  };
  const id = `call_${contentIndex}`;
  const deltas = splitText(random, JSON.stringify(args)).map((delta): AssistantMessageEvent => ({
    type: "tool_call_delta",
    contentIndex,
    delta,
  }));
  return {
    block: { type: "tool_call", id, name: "tool", arguments: args },
    events: [
      { type: "tool_call_start", contentIndex, id, name: "tool" },
      ...deltas,
      { type: "tool_call_end", contentIndex },
    ],
  };
}

function planBlock(random: Random, contentIndex: number): PlannedBlock {
  const dice = random();
  if (dice < 0.3) return planTextBlock(random, "text", contentIndex);
  if (dice < 0.6) return planTextBlock(random, "thinking", contentIndex);
  if (dice < 0.9) return planCall(random, contentIndex);
  const block = { type: "extension", typeName: "x", data: randomText(random) } as const;
  return { block, events: [{ ...block, contentIndex }] };
}

/**
 * Interleaves the events of all blocks; events of a block keep their order, and blocks start in the order of their
 * index.
 */
function interleave(random: Random, plans: readonly PlannedBlock[]): AssistantMessageEvent[] {
  const remaining = plans.map(({ events }) => [...events]);
  const mixed: AssistantMessageEvent[] = [];
  let started = 0;
  while (remaining.some((events) => events.length > 0)) {
    const open = remaining.slice(0, started).filter((events) => events.length > 0);
    const canStart = started < remaining.length;
    const events = canStart && (open.length === 0 || random() < 0.3)
      ? remaining[started++]
      : pick(random, open);
    const event = events?.shift();
    if (event) mixed.push(event);
  }
  return mixed;
}

function planReply(random: Random): { content: ContentBlock[]; events: AssistantMessageEvent[] } {
  const count = Math.floor(random() * 6);
  const plans = Array.from({ length: count }, (_, index) => planBlock(random, index));
  const done: AssistantMessageEvent = { type: "done", stopReason: "stop", usage: zeroUsage() };
  return {
    content: plans.map(({ block }) => block).filter(isNonEmpty),
    events: [{ type: "start" }, ...interleave(random, plans), done],
  };
}

function isNonEmpty(block: ContentBlock): boolean {
  if (block.type === "text") return block.text !== "" || block.signature !== undefined;
  if (block.type === "thinking") return block.thinking !== "" || block.signature !== undefined;
  return true;
}

function accumulate(events: readonly AssistantMessageEvent[]): readonly ContentBlock[] {
  const reply = new ReplyAccumulator();
  for (const event of events) reply.apply(event);
  return reply.finish().content;
}

Deno.test("ReplyAccumulator: builds the planned blocks from any valid sequence of events [A126a]", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const { content, events } = planReply(seededRandom(seed));
    assertEquals(accumulate(events), content, `seed ${seed}`);
  }
});

Deno.test("ReplyAccumulator: throws when a start or end event is missing, repeated or moved to the end", () => {
  let checked = 0;
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const random = seededRandom(seed);
    const { events } = planReply(random);
    const index = 1 + Math.floor(random() * Math.max(1, events.length - 2));
    const event = events[index];
    if (!event || !/_(start|end)$/.test(event.type)) continue;
    const without = events.toSpliced(index, 1);
    const invalid = [without, events.toSpliced(index, 0, event), [...without, event]];
    for (const sequence of invalid) {
      assertThrows(() => accumulate(sequence), StreamError, undefined, `seed ${seed}`);
    }
    checked++;
  }
  assert(checked > ROUNDS / 10, `only ${checked} replies were checked`);
});

Deno.test("ReplyAccumulator: throws nothing but StreamError for random events", () => {
  const types = [
    "start",
    "text_start",
    "text_delta",
    "text_end",
    "thinking_start",
    "thinking_delta",
    "tool_call_start",
    "tool_call_delta",
    "tool_call_end",
    "extension",
    "warning",
    "done",
    "error",
  ] as const;
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const random = seededRandom(seed);
    const reply = new ReplyAccumulator();
    for (let step = 0; step < 12; step++) {
      const contentIndex = pick(random, [0, 1, 2, -1, 0.5, NaN, Infinity]);
      const event = { type: pick(random, types), contentIndex, delta: "{", id: "", name: "n" };
      try {
        reply.apply(event as unknown as AssistantMessageEvent);
      } catch (thrown) {
        assert(thrown instanceof StreamError, `seed ${seed}: ${thrown}`);
        break;
      }
    }
    reply.finish();
  }
});

Deno.test("ReplyAccumulator: applies 1,000,000 deltas in linear time", () => {
  const delta: AssistantMessageEvent = { type: "text_delta", contentIndex: 0, delta: "8 chars " };
  const reply = new ReplyAccumulator();
  reply.apply({ type: "text_start", contentIndex: 0 });
  const getThreadTime = startThreadTimer();
  for (let index = 0; index < 1_000_000; index++) reply.apply(delta);
  assertEquals(reply.characters, 8_000_000);
  // Quadratic work takes minutes; the bound allows for a busy machine.
  assert(getThreadTime() < 10_000);
});

Deno.test("ReplyAccumulator: parses streamed arguments of 400 KB once, when the call has ended [B68]", () => {
  const reply = new ReplyAccumulator();
  const { parse } = JSON;
  let parsed = 0;
  JSON.parse = (text: string): unknown => {
    parsed++;
    return parse(text);
  };
  try {
    reply.apply({ type: "start" });
    reply.apply({ type: "tool_call_start", contentIndex: 0, id: "call_1", name: "write" });
    for (const delta of ['{"text":"', ...Array(100_000).fill("word"), '"}']) {
      reply.apply({ type: "tool_call_delta", contentIndex: 0, delta });
    }
    assertEquals(parsed, 0);
    reply.apply({ type: "tool_call_end", contentIndex: 0 });
    reply.apply({ type: "done", stopReason: "tool_use", usage: zeroUsage() });
    const [call] = reply.finish().content;
    assertEquals(call?.type === "tool_call" && `${call.arguments["text"]}`.length, 400_000);
    assertEquals(parsed, 1);
  } finally {
    JSON.parse = parse;
  }
});
