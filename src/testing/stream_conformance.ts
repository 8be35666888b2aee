/**
 * The contract that every stream function keeps, as tests.
 *
 * @module
 */

import type { StreamFn } from "../core/stream.ts";
import { corruptBytes, createFaultyBody, type FaultyBody } from "./faulty_body.ts";
import type { CollectedReply } from "./read_reply.ts";
import { isJsonEqual } from "./json_equal.ts";
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

/** How long after an abort the stream may take to end, in milliseconds. */
const MAX_ABORT_MS = 100;

/**
 * Registers the tests that every stream function must pass: the same reply however the bytes arrive, honest ends,
 * prompt aborts, classified errors, kept secrets.
 *
 * @example
 * ```ts ignore
 * import { testStreamFn } from "@swink/agent/testing";
 *
 * testStreamFn(Deno.test, "anthropic", (fetch, limits) => createAnthropic({ fetch, ...limits }), fixtures);
 * ```
 */
export function testStreamFn(
  test: RegisterTest,
  name: string,
  make: StreamFnFactory,
  fixtures: StreamFnFixtures,
): void {
  const subject = new StreamSubject(make, fixtures.model);
  const register: RegisterTest = (what, run) => test(`${name}: ${what}`, run);
  for (const reply of fixtures.replies) {
    testReply(register, subject, reply);
    testCorruption(register, subject, reply);
  }
  for (const refusal of fixtures.errors ?? []) testErrorResponse(register, subject, refusal);
  const whole = fixtures.replies.find(({ expect }) => expect.errorCode === undefined);
  if (!whole) throw new Error("testStreamFn needs a reply that ends well");
  testAborts(register, subject, whole);
  testNetworkFailures(register, subject, whole);
}

function testReply(test: RegisterTest, subject: StreamSubject, fixture: ReplyFixture): void {
  const { name, expect } = fixture;
  const bytes = toBytes(fixture.body);

  test(`${name} reads the same whole, in single bytes and in random pieces`, async () => {
    for (const pieces of [Infinity, 1, { seed: 1, max: 7 }, { seed: 2, max: 200 }]) {
      const { reply } = await subject.readFixture(fixture, { chunkSizes: pieces });
      expectReply(reply, expect);
    }
  });

  test(`${name} never ends well when it is cut off`, async () => {
    const { reply: whole } = await subject.readFixture(fixture, {});
    for (const upTo of sampleOffsets(bytes.length)) {
      const { reply } = await subject.readFixture(fixture, { byteLimit: upTo });
      // What is cut off may be no more than what comes after the end.
      if (isJsonEqual(summarizeReply(reply), summarizeReply(whole))) continue;
      expectEqual(reply.stopReason, "error", `stop reason when cut after ${upTo} bytes`);
      expectEqual(reply.error?.code, "network_error", `error when cut after ${upTo} bytes`);
      expectEqual(reply.error?.retryable, true, `retryable when cut after ${upTo} bytes`);
    }
  });

  test(`${name} never ends well when the connection breaks`, async () => {
    for (const upTo of sampleOffsets(Math.floor(bytes.length / 2), 10)) {
      const { reply } = await subject.readFixture(fixture, { byteLimit: upTo, ending: "break" });
      if (expect.errorCode !== undefined && reply.error?.code === expect.errorCode) continue;
      expectEqual(reply.error?.code, "network_error", `error when broken after ${upTo} bytes`);
    }
  });
}

function testCorruption(test: RegisterTest, subject: StreamSubject, fixture: ReplyFixture): void {
  test(`${fixture.name} keeps the contract when it is damaged`, async () => {
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
  refusal: ErrorFixture,
): void {
  const { name, status, headers = {}, body, expect } = refusal;
  test(`${name} (${status}) becomes ${expect.code}`, async () => {
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
  test("an abort before the request sends nothing", async () => {
    let sent = 0;
    const streamFn = subject.createStreamFn(() => Promise.resolve(new Response(String(sent++))));
    const reply = await subject.call(streamFn, { signal: AbortSignal.abort("enough") });
    expectEqual(reply.stopReason, "aborted", "stop reason");
    expectEqual(reply.events.length, 2, "events");
    expectEqual(sent, 0, "requests");
  });

  test("an abort while waiting for the head ends the stream, whatever fetch does", async () => {
    let signal: AbortSignal | null | undefined;
    const streamFn = subject.createStreamFn((_url, init) => {
      signal = init?.signal;
      return new Promise(() => {});
    });
    await expectAborted(subject, streamFn);
    expectEqual(signal?.aborted, true, "the connection's signal");
  });

  test("an abort at any byte ends the stream and closes the connection", async () => {
    const { length } = toBytes(fixture.body);
    for (const upTo of sampleOffsets(Math.floor(length / 2), 20)) {
      const body = createFaultyBody(toBytes(fixture.body), { byteLimit: upTo, ending: "hang" });
      await expectAborted(subject, subject.createStreamFn(() => createResponse(fixture, body)));
      expectEqual(body.stats.cancelled, true, `connection closed after ${upTo} bytes`);
    }
  });

  test("nothing is left on the caller's signal", async () => {
    const { signal, listeners } = createCountingSignal();
    const body = createFaultyBody(toBytes(fixture.body));
    await subject.call(subject.createStreamFn(() => createResponse(fixture, body)), { signal });
    expectEqual(listeners.size, 0, "listeners");
  });

  test("a reader that leaves closes the connection", async () => {
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
  test("no head within the time limit is a network error", async () => {
    const never: typeof globalThis.fetch = () => new Promise(() => {});
    const { error } = await subject.call(subject.createStreamFn(never, { connectTimeoutMs: 5 }));
    expectEqual(error?.code, "network_error", "code");
    expectEqual(error?.retryable, true, "retryable");
  });

  test("a head and then silence is a network error, and closes the connection", async () => {
    const body = createFaultyBody(toBytes(fixture.body), { byteLimit: 0, ending: "hang" });
    const streamFn = subject.createStreamFn(() => createResponse(fixture, body), {
      idleTimeoutMs: 5,
    });
    const { error } = await subject.call(streamFn);
    expectEqual(error?.code, "network_error", "code");
    expectEqual(body.stats.cancelled, true, "connection closed");
  });

  test("an empty body is a network error", async () => {
    const { reply } = await subject.readFixture(fixture, { byteLimit: 0 });
    expectEqual(reply.error?.code, "network_error", "code");
  });

  test("a connection that cannot be made is a retryable network error", async () => {
    const refused = new TypeError(`connection refused, sent ${API_KEY}`);
    const { error } = await subject.call(subject.createStreamFn(() => Promise.reject(refused)));
    expectEqual(error?.code, "network_error", "code");
    expectEqual(error?.retryable, true, "retryable");
    expectNoSecret(JSON.stringify(error));
  });

  test("an error without end is read to a limit, and its key is not told", async () => {
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

  test("a slow reader slows the provider down", async () => {
    const body = createFaultyBody(toBytes(fixture.body), { chunkSizes: 8 });
    const reader = subject.createStreamFn(() => createResponse(fixture, body))(
      subject.createRequest({}),
    )[
      Symbol.asyncIterator
    ]();
    await reader.next();
    await reader.next();
    const taken = body.stats.taken;
    await new Promise((resolve) => setTimeout(resolve, 2));
    expectEqual(body.stats.taken, taken, "pieces taken while nobody reads");
    await reader.return?.();
  });
}

/** Aborts once nothing more comes, and looks at the end. */
async function expectAborted(subject: StreamSubject, streamFn: StreamFn): Promise<void> {
  const controller = new AbortController();
  const ending = subject.call(streamFn, { signal: controller.signal });
  await new Promise((resolve) => setTimeout(resolve, 1));
  const abortedAt = performance.now();
  controller.abort("enough");
  const reply = await ending;
  const took = performance.now() - abortedAt;
  expectEqual(reply.stopReason, "aborted", "stop reason");
  expectEqual(reply.error?.code, "aborted", "code");
  if (took > MAX_ABORT_MS) throw new Error(`The abort took ${took} ms`);
}

function createEndlessBody(body: FaultyBody, page: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: (controller) => {
      body.stats.taken++;
      if (body.stats.taken > 1000) throw new Error("More than 4 MB of an error was read");
      controller.enqueue(page.slice());
    },
  }, { highWaterMark: 0 });
}

/** Every offset of a short body, a seeded sample of a long one. */
function sampleOffsets(length: number, most = 120): number[] {
  if (length <= most) return Array.from({ length }, (_, index) => index);
  const random = seededRandom(length);
  return Array.from({ length: most }, () => Math.floor(random() * length));
}

/** A signal that knows who listens to it. */
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

function summarizeReply({ content, stopReason, usage, error }: CollectedReply): unknown {
  return { content, stopReason, usage, code: error?.code };
}

function expectReply(reply: CollectedReply, expect: ExpectedReply): void {
  const { text, thinking, calls, stopReason, usage, errorCode } = expect;
  expectEqual(reply.error?.code, errorCode, `error (${reply.error?.message})`);
  if (text !== undefined) expectEqual(reply.text, text, "text");
  if (thinking !== undefined) expectEqual(reply.thinking, thinking, "thinking");
  if (stopReason !== undefined) expectEqual(reply.stopReason, stopReason, "stop reason");
  if (calls !== undefined) {
    const found = reply.calls.map(({ name, arguments: args }) => ({ name, arguments: args }));
    expectEqual(found, calls, "tool calls");
  }
  for (const [key, count] of Object.entries(usage ?? {})) {
    expectEqual(Reflect.get(reply.usage ?? {}, key), count, `usage.${key}`);
  }
}

function expectNoSecret(told: string | undefined): void {
  if (told?.includes(API_KEY)) throw new Error(`The key is told: ${told}`);
}

function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (isJsonEqual(actual, expected)) return;
  throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}
