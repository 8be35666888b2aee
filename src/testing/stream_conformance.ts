/**
 * Tests of the contract of stream functions.
 *
 * @module
 */

import type { StreamFn } from "../core/stream.ts";
import { createDeferred } from "../core/deferred.ts";
import { corruptBytes, createFaultyBody, type FaultyBody } from "./faulty_body.ts";
import type { CollectedReply } from "./read_reply.ts";
import { isJsonEqual } from "../core/json_equal.ts";
import { seededRandom } from "./seeded_random.ts";
import type {
  ErrorFixture,
  ExpectedReply,
  RegisterTest,
  ReplyFixture,
  StreamFnFactory,
  StreamFnFixtures,
} from "./stream_fixture.ts";
import { API_KEY, createResponse, StreamSubject, toBytes } from "./stream_subject.ts";

/** Maximum time from an abort to the end of the stream, in milliseconds. */
const MAX_ABORT_MS = 100;

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
      expectReply(reply, expect);
    }
  });

  test(`ends ${name} with a network error when the body is cut off`, async () => {
    const { reply: complete } = await subject.readFixture(fixture, {});
    for (const byteLimit of sampleOffsets(bytes.length)) {
      const { reply } = await subject.readFixture(fixture, { byteLimit });
      // The bytes after the stop reason may be missing, and with them the usage.
      if (hasSameContent(reply, complete) && hasSameUsage(reply, complete)) continue;
      expectEqual(reply.stopReason, "error", `stop reason when cut after ${byteLimit} bytes`);
      expectEqual(reply.error?.code, "network_error", `error when cut after ${byteLimit} bytes`);
      expectEqual(reply.error?.retryable, true, `retryable when cut after ${byteLimit} bytes`);
    }
  });

  test(`ends ${name} with a network error when the connection breaks`, async () => {
    for (const byteLimit of sampleOffsets(Math.floor(bytes.length / 2), 10)) {
      const { reply } = await subject.readFixture(fixture, { byteLimit, ending: "break" });
      if (expect.errorCode !== undefined && reply.error?.code === expect.errorCode) continue;
      expectEqual(reply.error?.code, "network_error", `error when broken after ${byteLimit} bytes`);
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
    expectEqual(error?.code, expect.code, "code");
    expectEqual(error?.retryable, expect.retryable, "retryable");
    expectEqual(error?.retryAfterMs, expect.retryAfterMs, "retryAfterMs");
    expectEqual(error?.status, status, "status");
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
    expectEqual(reply.stopReason, "aborted", "stop reason");
    expectEqual(reply.events.length, 2, "events");
    expectEqual(requests, 0, "requests");
  });

  test("ends on abort while fetch is pending", async () => {
    let signal: AbortSignal | null | undefined;
    const streamFn = subject.createStreamFn((_url, init) => {
      signal = init?.signal;
      return new Promise(() => {});
    });
    await expectAborted(subject, streamFn);
    expectEqual(signal?.aborted, true, "the connection's signal");
  });

  test("ends and closes the connection on abort at any byte", async () => {
    const { length } = toBytes(fixture.body);
    for (const byteLimit of sampleOffsets(Math.floor(length / 2), 20)) {
      const body = createFaultyBody(toBytes(fixture.body), { byteLimit, ending: "hang" });
      await expectAborted(subject, subject.createStreamFn(() => createResponse(fixture, body)));
      expectEqual(body.stats.cancelled, true, `connection closed after ${byteLimit} bytes`);
    }
  });

  test("leaves no listener on the caller's signal", async () => {
    const { signal, listeners } = createCountingSignal();
    const body = createFaultyBody(toBytes(fixture.body));
    await subject.call(subject.createStreamFn(() => createResponse(fixture, body)), { signal });
    expectEqual(listeners.size, 0, "listeners");
  });

  test("closes the connection when the reader stops", async () => {
    const body = createFaultyBody(toBytes(fixture.body), { chunkSizes: 16, ending: "hang" });
    const streamFn = subject.createStreamFn(() => createResponse(fixture, body));
    for await (const event of streamFn(subject.createRequest({}))) {
      if (event.type.endsWith("_delta")) break;
    }
    expectEqual(body.stats.cancelled, true, "connection closed");
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
    expectEqual(error?.code, "network_error", "code");
    expectEqual(error?.retryable, true, "retryable");
  });

  test("reports a network error and closes the connection when the body stalls for idleTimeoutMs", async () => {
    const body = createFaultyBody(toBytes(fixture.body), { byteLimit: 0, ending: "hang" });
    const streamFn = subject.createStreamFn(() => createResponse(fixture, body), {
      idleTimeoutMs: 5,
    });
    const { error } = await subject.call(streamFn);
    expectEqual(error?.code, "network_error", "code");
    expectEqual(body.stats.cancelled, true, "connection closed");
  });

  test("reports a network error for an empty body", async () => {
    const { reply } = await subject.readFixture(fixture, { byteLimit: 0 });
    expectEqual(reply.error?.code, "network_error", "code");
  });

  test("reports a retryable network error when the connection is refused", async () => {
    const refused = new TypeError(`connection refused, sent ${API_KEY}`);
    const { error } = await subject.call(subject.createStreamFn(() => Promise.reject(refused)));
    expectEqual(error?.code, "network_error", "code");
    expectEqual(error?.retryable, true, "retryable");
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
    expectEqual(error?.code, "auth_error", "code");
    expectNoSecret(JSON.stringify(error));
  });

  test("reads no further ahead than a slow reader", async () => {
    const body = createFaultyBody(toBytes(fixture.body), { chunkSizes: 8 });
    const streamFn = subject.createStreamFn(() => createResponse(fixture, body));
    const iterator = streamFn(subject.createRequest({}))[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.next();
    const { taken } = body.stats;
    await new Promise((resolve) => setTimeout(resolve, 2));
    expectEqual(body.stats.taken, taken, "chunks read without a reader");
    await iterator.return?.();
  });
}

/** Aborts a reply that hangs and checks how it ends. */
async function expectAborted(subject: StreamSubject, streamFn: StreamFn): Promise<void> {
  const controller = new AbortController();
  const pending = subject.call(streamFn, { signal: controller.signal });
  await new Promise((resolve) => setTimeout(resolve, 1));
  controller.abort("enough");
  const reply = await settleInTime(pending);
  expectEqual(reply.stopReason, "aborted", "stop reason");
  expectEqual(reply.error?.code, "aborted", "code");
}

/** Rejects when a reply has not ended in time after an abort. A pause of the whole program delays the timer too. */
async function settleInTime(pending: Promise<CollectedReply>): Promise<CollectedReply> {
  const { promise: late, reject } = createDeferred<never>();
  const error = new Error(`The reply did not end within ${MAX_ABORT_MS} ms of the abort`);
  const timer = setTimeout(() => reject(error), MAX_ABORT_MS);
  try {
    return await Promise.race([pending, late]);
  } finally {
    clearTimeout(timer);
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

function expectReply(reply: CollectedReply, expect: ExpectedReply): void {
  const { text, thinking, calls, stopReason, usage, errorCode } = expect;
  expectEqual(reply.error?.code, errorCode, `error (${reply.error?.message})`);
  if (text !== undefined) expectEqual(reply.text, text, "text");
  if (thinking !== undefined) expectEqual(reply.thinking, thinking, "thinking");
  if (stopReason !== undefined) expectEqual(reply.stopReason, stopReason, "stop reason");
  if (calls !== undefined) {
    const actualCalls = reply.calls.map(({ name, arguments: args }) => ({ name, arguments: args }));
    expectEqual(actualCalls, calls, "tool calls");
  }
  for (const [key, count] of Object.entries(usage ?? {})) {
    expectEqual(Reflect.get(reply.usage ?? {}, key), count, `usage.${key}`);
  }
}

function expectNoSecret(text: string | undefined): void {
  if (text?.includes(API_KEY)) throw new Error(`The error contains the API key: ${text}`);
}

function expectEqual(actual: unknown, expected: unknown, name: string): void {
  if (isJsonEqual(actual, expected)) return;
  throw new Error(`${name}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}
