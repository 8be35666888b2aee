/**
 * Bedrock's event streams, written from lines that people can read.
 *
 * @module
 */

import { EventStreamCodec } from "@smithy/eventstream-codec";
import type { ExpectedReply, ReplyFixture } from "../../src/testing/stream_fixture.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** The codec itself. */
export const codec: EventStreamCodec = new EventStreamCodec(
  (bytes) => typeof bytes === "string" ? bytes : decoder.decode(bytes),
  (text) => encoder.encode(text),
);

/** What Bedrock's streams are called. */
export const EVENT_STREAM_TYPE = "application/vnd.amazon.eventstream";

/** Encodes events, one object with the event's name and its payload each; a name that begins with `!` throws. */
export function encodeEventStream(events: readonly object[]): Uint8Array<ArrayBuffer> {
  const messages = events.flatMap((event) => Object.entries(event).map(encodeMessage));
  const stream = new Uint8Array(messages.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const message of messages) {
    stream.set(message, offset);
    offset += message.length;
  }
  return stream;
}

function encodeMessage([name, payload]: [string, unknown]): Uint8Array {
  const isException = name.startsWith("!");
  const text = (value: string) => ({ type: "string", value }) as const;
  const kind = isException
    ? { ":exception-type": text(name.slice(1)), ":message-type": text("exception") }
    : { ":event-type": text(name), ":message-type": text("event") };
  return codec.encode({
    headers: { ...kind, ":content-type": text("application/json") },
    body: encoder.encode(JSON.stringify(payload)),
  });
}

/** The events of one of the project's own fixtures. */
export function readFixtureEvents(name: string): object[] {
  const file = new URL(`../fixtures/bedrock/${name}.jsonl`, import.meta.url);
  return Deno.readTextFileSync(file).trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** The project's own fixtures of Bedrock: the files that are named, and what each must come to. */
export function createBedrockFixtures(
  expected: Readonly<Record<string, ExpectedReply>>,
): ReplyFixture[] {
  return Object.entries(expected).map(([name, expect]) => {
    const body = encodeEventStream(readFixtureEvents(name));
    return { name, body, contentType: EVENT_STREAM_TYPE, expect };
  });
}
