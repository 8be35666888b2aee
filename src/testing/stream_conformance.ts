/**
 * Tests of the contract of stream functions.
 *
 * @module
 */

import { checkObject } from "../core/checks/check_object.ts";
import { isJsonEqual } from "../core/json/json_equal.ts";
import { createDeferred } from "../core/ports/deferred.ts";
import type { AssistantMessageEvent, StreamFn } from "../core/streams/stream.ts";
import { corruptBytes, createFaultyBody, type FaultyBody } from "./faulty_body.ts";
import type { CollectedReply } from "./read_reply.ts";
import { seededRandom } from "./seeded_random.ts";
import {
  describeChunks,
  expectAbortedReply,
  expectEqual,
  expectNoSecret,
  expectReply,
} from "./stream_expectations.ts";
import {
  checkRegisterTest,
  type ErrorFixture,
  type RegisterTest,
  type ReplyFixture,
  type StreamFnFactory,
  type StreamFnFixtures,
} from "./stream_fixture.ts";
import { API_KEY, createResponse, StreamSubject, toBytes } from "./stream_subject.ts";
import { settleInTurns, settleWithin, waitForTurn } from "./time_limits.ts";

/** Maximum number of turns of the event loop, of a millisecond each, from an abort to the end of the stream. */
const MAX_ABORT_TURNS = 100;

/** Longest wait for events of a connection that stays open, in milliseconds. */
const MAX_EVENT_MS = 10_000;

const CUT_OFF =
  "a reply without the provider's last event may be incomplete, however complete it looks";
const RETRYABLE = "the request may succeed when it is sent again";
const CLOSED = "a connection that is left open costs tokens, and a place in the pool of the client";

/**
 * Registers the tests that every stream function must pass.
 *
 * They check that the reply does not depend on how its bytes are split, that truncated replies end with an error, that
 * aborts take effect within 100 ms, that errors have the right code, and that no error contains the API key.
 *
 * @example
 * ```ts ignore
 * import { testStreamFn } from "@swink/agent/testing";
 *
 * testStreamFn(Deno.test, "anthropic", (fetch, limits) => createAnthropic({ fetch, ...limits }), fixtures);
 * ```
 *
 * @throws {Error} If no reply among the fixtures succeeds.
 */
export function testStreamFn(
  test: RegisterTest,
  name: string,
  createStreamFn: StreamFnFactory,
  fixtures: StreamFnFixtures,
): void {
  checkRegisterTest(test);
  checkObject(fixtures, "Pass fixtures with a model and replies");
  const subject = new StreamSubject(createStreamFn, fixtures.model);
  const register: RegisterTest = (title, run) => test(`${name}: ${title}`, run);
  for (const reply of fixtures.replies) {
    testReply(register, subject, reply);
    testCorruption(register, subject, reply);
  }
  for (const error of fixtures.errors ?? []) testErrorResponse(register, subject, error);
  const successful = fixtures.replies.find(({ expect }) => expect.errorCode === undefined);
  if (!successful) throw new Error("Invalid fixtures: add a reply without an error code");
  testAborts(register, subject, successful);
  testNetworkFailures(register, subject, successful);
}

function testReply(test: RegisterTest, subject: StreamSubject, fixture: ReplyFixture): void {
  const { name, expect } = fixture;
  const bytes = toBytes(fixture.body);

  test(`reads ${name} in one chunk, in single bytes and in random chunks`, async () => {
    for (const chunkSizes of [Infinity, 1, { seed: 1, max: 7 }, { seed: 2, max: 200 }]) {
      const { reply } = await subject.readFixture(fixture, { chunkSizes });
      expectReply(reply, expect, describeChunks(chunkSizes));
    }
  });

  test(`ends ${name} with a network error when the body is cut off`, async () => {
    const { reply: complete } = await subject.readFixture(fixture, {});
    for (const byteLimit of sampleOffsets(bytes.length)) {
      const { reply } = await subject.readFixture(fixture, { byteLimit });
      // The bytes after the stop reason may be missing, and with them the usage.
      if (hasSameContent(reply, complete) && hasSameUsage(reply, complete)) continue;
      const when = `when the body ends after ${byteLimit} of ${bytes.length} bytes`;
      expectEqual(reply.error?.code, "network_error", `the error code ${when}`, CUT_OFF);
      expectEqual(reply.error?.retryable, true, `retryable ${when}`, RETRYABLE);
    }
  });

  test(`ends ${name} with a network error when the connection breaks`, async () => {
    for (const byteLimit of sampleOffsets(Math.floor(bytes.length / 2), 10)) {
      const { reply } = await subject.readFixture(fixture, { byteLimit, ending: "break" });
      if (expect.errorCode !== undefined && reply.error?.code === expect.errorCode) continue;
      const name = `the error code when the connection breaks after ${byteLimit} bytes`;
      expectEqual(reply.error?.code, "network_error", name, CUT_OFF);
    }
  });
}

function testCorruption(test: RegisterTest, subject: StreamSubject, fixture: ReplyFixture): void {
  test(`keeps the contract when ${fixture.name} is corrupted`, async () => {
    const random = seededRandom(fixture.name.length);
    for (let round = 0; round < 60; round++) {
      const body = corruptBytes(toBytes(fixture.body), random);
      await subject.readFixture({ ...fixture, body }, { chunkSizes: { seed: round, max: 500 } });
    }
  });
}

function testErrorResponse(
  test: RegisterTest,
  subject: StreamSubject,
  fixture: ErrorFixture,
): void {
  const { name, status, headers = {}, body, expect } = fixture;
  test(`reports ${name} (${status}) as ${expect.code}`, async () => {
    const streamFn = subject.createStreamFn(() =>
      Promise.resolve(new Response(body, { status, headers }))
    );
    const { error } = await subject.call(streamFn);
    const why = `the fixture says so of ${name}; the error is: ${error?.message}`;
    expectEqual(error?.code, expect.code, "the error code", why);
    expectEqual(error?.retryable, expect.retryable, "retryable", why);
    expectEqual(error?.retryAfterMs, expect.retryAfterMs, "retryAfterMs", why);
    expectEqual(error?.status, status, "the status of the error", why);
    expectNoSecret(error?.message);
  });
}

function testAborts(test: RegisterTest, subject: StreamSubject, fixture: ReplyFixture): void {
  test("sends no request when it is already aborted", async () => {
    let requests = 0;
    const streamFn = subject.createStreamFn(() =>
      Promise.resolve(new Response(String(requests++)))
    );
    const reply = await subject.call(streamFn, { signal: AbortSignal.abort("enough") });
    expectAbortedReply(reply);
    const types = reply.events.map(({ type }) => type);
    expectEqual(types, ["start", "error"], "the events", "there is no response to read");
    expectEqual(requests, 0, "the number of requests", "the caller no longer wants a reply");
  });

  test("ends on abort while fetch is pending", async () => {
    let connection: AbortSignal | null | undefined;
    await expectAborted(subject, (abort) =>
      subject.createStreamFn((_url, init) => {
        connection = init?.signal;
        abort();
        return new Promise(() => {});
      }));
    expectEqual(connection?.aborted, true, "aborted of the signal passed to fetch", CLOSED);
  });

  test("ends and closes the connection on abort at any byte", async () => {
    const { length } = toBytes(fixture.body);
    for (const byteLimit of sampleOffsets(Math.floor(length / 2), 20)) {
      const { stats } = await abortAtByte(subject, fixture, byteLimit);
      const name = `whether the body was cancelled by an abort after ${byteLimit} bytes`;
      expectEqual(stats.cancelled, true, name, CLOSED);
    }
  });

  test("leaves no listener on the caller's signal", async () => {
    const { signal, listeners } = createCountingSignal();
    const body = createFaultyBody(toBytes(fixture.body));
    await subject.call(subject.createStreamFn(() => createResponse(fixture, body)), { signal });
    const why = "a signal that outlives the call would keep the whole reply in memory";
    expectEqual(listeners.size, 0, "the number of listeners on the caller's signal", why);
  });

  test("closes the connection when the reader stops", async () => {
    const bytes = toBytes(fixture.body);
    const byteLimit = bytes.length - 1;
    const body = createFaultyBody(bytes, { chunkSizes: 16, byteLimit, ending: "hang" });
    const streamFn = subject.createStreamFn(() => createResponse(fixture, body));
    await settleWithin(
      readUntilDelta(subject.stream(streamFn)),
      MAX_EVENT_MS,
      `Expected a delta, got none within ${MAX_EVENT_MS} ms: events are sent as soon as their bytes have arrived`,
    );
    expectEqual(body.stats.cancelled, true, "whether the body was cancelled", CLOSED);
  });
}

function testNetworkFailures(
  test: RegisterTest,
  subject: StreamSubject,
  fixture: ReplyFixture,
): void {
  test("reports a network error when no response arrives within connectTimeoutMs", async () => {
    const neverAnswers: typeof globalThis.fetch = () => new Promise(() => {});
    const { error } = await subject.call(
      subject.createStreamFn(neverAnswers, { connectTimeoutMs: 5 }),
    );
    const why = "the server did not answer";
    expectEqual(error?.code, "network_error", "the error code", why);
    expectEqual(error?.retryable, true, "retryable", RETRYABLE);
  });

  test("reports a network error and closes the connection when the body stalls for idleTimeoutMs", async () => {
    const body = createFaultyBody(toBytes(fixture.body), { byteLimit: 0, ending: "hang" });
    const streamFn = subject.createStreamFn(() => createResponse(fixture, body), {
      idleTimeoutMs: 5,
    });
    const { error } = await subject.call(streamFn);
    expectEqual(error?.code, "network_error", "the error code", "the server stopped sending");
    expectEqual(body.stats.cancelled, true, "whether the body was cancelled", CLOSED);
  });

  test("reports a network error for an empty body", async () => {
    const { reply } = await subject.readFixture(fixture, { byteLimit: 0 });
    expectEqual(reply.error?.code, "network_error", "the error code", CUT_OFF);
  });

  test("reports a retryable network error when the connection is refused", async () => {
    const refused = new TypeError(`connection refused, sent ${API_KEY}`);
    const { error } = await subject.call(subject.createStreamFn(() => Promise.reject(refused)));
    expectEqual(error?.code, "network_error", "the error code", "no connection was made");
    expectEqual(error?.retryable, true, "retryable", RETRYABLE);
    expectNoSecret(JSON.stringify(error));
  });

  test("reads at most 4 MB of an error body, and redacts the API key", async () => {
    const page = new TextEncoder().encode(
      `{"error":{"message":"bad key ${API_KEY}"}}`.padEnd(4096),
    );
    const body = createFaultyBody(page, { chunkSizes: 4096, byteLimit: Infinity });
    const streamFn = subject.createStreamFn(() =>
      Promise.resolve(new Response(createEndlessBody(body, page), { status: 401 }))
    );
    const { error } = await subject.call(streamFn);
    expectEqual(error?.code, "auth_error", "the error code", "the status is 401");
    expectNoSecret(JSON.stringify(error));
  });

  test("reads no further ahead than a slow reader", async () => {
    const body = createFaultyBody(toBytes(fixture.body), { chunkSizes: 8 });
    const streamFn = subject.createStreamFn(() => createResponse(fixture, body));
    const events = subject.stream(streamFn);
    const readNext = () =>
      settleWithin(
        events.next(),
        MAX_EVENT_MS,
        `Expected an event, got none within ${MAX_EVENT_MS} ms of the response`,
      );
    await readNext();
    await readNext();
    const { taken } = body.stats;
    for (let turn = 0; turn < 5; turn++) await waitForTurn();
    const why = "a slow reader would otherwise collect the whole reply in memory";
    expectEqual(body.stats.taken, taken, "the number of chunks read before the next event", why);
    await events.return(undefined);
  });
}

/** Creates a stream function that must call `abort` when it waits for the server. */
type CreateHanging = (abort: () => void) => StreamFn;

/** Aborts a reply when it waits for the server, and checks how it ends. */
async function expectAborted(subject: StreamSubject, createHanging: CreateHanging): Promise<void> {
  const controller = new AbortController();
  const { promise: waiting, resolve: setWaiting } = createDeferred();
  const streamFn = createHanging(setWaiting);
  const pending = subject.call(streamFn, { signal: controller.signal });
  await Promise.race([waiting, pending]);
  controller.abort("enough");
  const reply = await settleInTurns(
    pending,
    MAX_ABORT_TURNS,
    `Expected the stream to end on the abort, got no end within ${MAX_ABORT_TURNS} ms: ` +
      "an abort ends the stream at once, even if the server never answers",
  );
  expectAbortedReply(reply);
}

/** Aborts a reply after a number of bytes; returns the body. */
async function abortAtByte(
  subject: StreamSubject,
  fixture: ReplyFixture,
  byteLimit: number,
): Promise<FaultyBody> {
  const bytes = toBytes(fixture.body);
  const bodies: FaultyBody[] = [];
  await expectAborted(subject, (abort) =>
    subject.createStreamFn(() => {
      const body = createFaultyBody(bytes, { byteLimit, ending: "hang", onHang: abort });
      bodies.push(body);
      return createResponse(fixture, body);
    }));
  const [body] = bodies;
  if (body) return body;
  throw new Error(
    "Expected a request, got none: the stream function must send it with the given fetch",
  );
}

async function readUntilDelta(events: AsyncIterable<AssistantMessageEvent>): Promise<void> {
  for await (const { type } of events) {
    if (type.endsWith("_delta")) return;
  }
}

function createEndlessBody(body: FaultyBody, page: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: (controller) => {
      body.stats.taken++;
      if (body.stats.taken > 1000) throw new Error("Read more than 4 MB of an error body");
      controller.enqueue(page.slice());
    },
  }, { highWaterMark: 0 });
}

/** Returns every offset of a short body, and a seeded sample of a long one. */
function sampleOffsets(length: number, limit = 120): number[] {
  if (length <= limit) return Array.from({ length }, (_, index) => index);
  const random = seededRandom(length);
  return Array.from({ length: limit }, () => Math.floor(random() * length));
}

/** Creates a signal that tracks its listeners. */
function createCountingSignal(): { signal: AbortSignal; listeners: Set<unknown> } {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  Object.assign(signal, {
    addEventListener(...[type, listener, options]: Parameters<typeof add>): void {
      listeners.add(listener);
      add(type, listener, options);
    },
    removeEventListener(...[type, listener, options]: Parameters<typeof remove>): void {
      listeners.delete(listener);
      remove(type, listener, options);
    },
  });
  return { signal, listeners };
}

function hasSameContent(reply: CollectedReply, complete: CollectedReply): boolean {
  return isJsonEqual(summarizeReply(reply), summarizeReply(complete));
}

/** Whether the usage is that of the complete reply, or was not received. */
function hasSameUsage({ usage }: CollectedReply, complete: CollectedReply): boolean {
  return !usage?.total || isJsonEqual(usage, complete.usage);
}

function summarizeReply({ content, stopReason, error }: CollectedReply): unknown {
  return { content, stopReason, code: error?.code };
}
