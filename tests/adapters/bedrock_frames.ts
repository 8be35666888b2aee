/**
 * Encodes Bedrock's event streams from readable fixtures.
 *
 * @module
 */

import { EventStreamCodec } from "@smithy/eventstream-codec";
import type { ExpectedReply, ReplyFixture } from "../../src/testing/stream_fixture.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** The codec of Amazon's event stream. */
export const codec: EventStreamCodec = new EventStreamCodec(
  (bytes) => typeof bytes === "string" ? bytes : decoder.decode(bytes),
  (text) => encoder.encode(text),
);

/** Content type of Bedrock's streams. */
export const EVENT_STREAM_TYPE = "application/vnd.amazon.eventstream";

/** Encodes events, each an object with the event's name and payload; a name that starts with `!` is an exception. */
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

/** Reads the events of a fixture of the project. */
export function readFixtureEvents(name: string): object[] {
  const file = new URL(`../fixtures/bedrock/${name}.jsonl`, import.meta.url);
  return Deno.readTextFileSync(file).trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Creates fixtures from files of the project, by name, with the reply expected for each. */
export function createBedrockFixtures(
  expected: Readonly<Record<string, ExpectedReply>>,
): ReplyFixture[] {
  return Object.entries(expected).map(([name, expect]) => {
    const body = encodeEventStream(readFixtureEvents(name));
    return { name, body, contentType: EVENT_STREAM_TYPE, expect };
  });
}
