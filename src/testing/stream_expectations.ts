/**
 * Expectations about replies, whose errors name the expected value, the actual value and the reason.
 *
 * @module
 */

import { isJsonEqual } from "../core/json/json_equal.ts";
import type { ChunkSizes } from "./faulty_body.ts";
import type { CollectedReply } from "./read_reply.ts";
import type { ExpectedReply } from "./stream_fixture.ts";
import { API_KEY } from "./stream_subject.ts";

/** Expects a reply that an abort has ended. */
export function expectAbortedReply({ stopReason, error }: CollectedReply): void {
  const why = "an abort is neither a failure of the provider nor a success";
  expectEqual(stopReason, "aborted", "the stop reason after an abort", why);
  expectEqual(error?.code, "aborted", "the error code after an abort", why);
}

/** Expects the reply of a fixture; `how` is how its body arrived. */
export function expectReply(reply: CollectedReply, expect: ExpectedReply, how: string): void {
  const { text, thinking, calls, stopReason, usage, errorCode } = expect;
  const check = (actual: unknown, expected: unknown, name: string): void =>
    expectEqual(
      actual,
      expected,
      `${name} of the reply`,
      `the fixture says so; it was read ${how}`,
    );
  const message = reply.error ? ` (${reply.error.message})` : "";
  check(reply.error?.code, errorCode, `the error code${message}`);
  if (text !== undefined) check(reply.text, text, "the text");
  if (thinking !== undefined) check(reply.thinking, thinking, "the thinking");
  if (stopReason !== undefined) check(reply.stopReason, stopReason, "the stop reason");
  if (calls !== undefined) {
    const actualCalls = reply.calls.map(({ name, arguments: args }) => ({ name, arguments: args }));
    check(actualCalls, calls, "the tool calls");
  }
  const { extra, ...counts } = usage ?? {};
  for (const [key, count] of Object.entries(counts)) {
    check(Reflect.get(reply.usage ?? {}, key), count, `usage.${key}`);
  }
  for (const [key, count] of Object.entries(extra ?? {})) {
    check(reply.usage?.extra?.[key], count, `usage.extra.${key}`);
  }
}

/** Describes chunks, for the parameter `how`. */
export function describeChunks(sizes: ChunkSizes): string {
  if (sizes === Infinity) return "in one chunk";
  return typeof sizes === "number"
    ? `in chunks of ${sizes} byte`
    : `in chunks of 1 to ${sizes.max} bytes`;
}

/** Expects a text without the API key. */
export function expectNoSecret(text: string | undefined): void {
  if (!text?.includes(API_KEY)) return;
  throw new Error(`Expected an error without the API key, got ${text}: errors end up in logs`);
}

/** Expects equal JSON values; `name` and `why` are parts of a sentence. */
export function expectEqual(actual: unknown, expected: unknown, name: string, why: string): void {
  if (isJsonEqual(actual, expected)) return;
  throw new Error(`Expected ${name} to be ${format(expected)}, got ${format(actual)}: ${why}`);
}

function format(value: unknown): string {
  return value === undefined ? "none" : JSON.stringify(value);
}
