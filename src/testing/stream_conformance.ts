/**
 * The contract that every stream function keeps, as tests.
 *
 * @module
 */

import type { StreamFn } from "../core/stream.ts";
import { damaged, type HostileBody, hostileBody } from "./hostile_body.ts";
import type { ReadReply } from "./read_reply.ts";
import { isSame } from "./same.ts";
import { seededRandom } from "./seeded_random.ts";
import type {
  ExpectedReply,
  MakeStreamFn,
  RefusalFixture,
  RegisterTest,
  ReplyFixture,
  StreamFnFixtures,
} from "./stream_fixture.ts";
import { bytesOf, KEY, respond, StreamSubject } from "./stream_subject.ts";

/** How long after an abort the stream may take to end, in milliseconds. */
const ABORT_MS = 100;

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
  make: MakeStreamFn,
  fixtures: StreamFnFixtures,
): void {
  const subject = new StreamSubject(make, fixtures.model);
  const register: RegisterTest = (what, run) => test(`${name}: ${what}`, run);
  for (const reply of fixtures.replies) {
    testReply(register, subject, reply);
    testDamage(register, subject, reply);
  }
  for (const refusal of fixtures.refusals ?? []) testRefusal(register, subject, refusal);
  const whole = fixtures.replies.find(({ expect }) => expect.errorCode === undefined);
  if (!whole) throw new Error("testStreamFn needs a reply that ends well");
  testAborts(register, subject, whole);
  testTrouble(register, subject, whole);
}

function testReply(test: RegisterTest, subject: StreamSubject, fixture: ReplyFixture): void {
  const { name, expect } = fixture;
  const bytes = bytesOf(fixture.body);

  test(`${name} reads the same whole, in single bytes and in random pieces`, async () => {
    for (const pieces of [Infinity, 1, { seed: 1, max: 7 }, { seed: 2, max: 200 }]) {
      const { reply } = await subject.read(fixture, { pieces });
      expectReply(reply, expect);
    }
  });

  test(`${name} never ends well when it is cut off`, async () => {
    const { reply: whole } = await subject.read(fixture, {});
    for (const upTo of someOffsets(bytes.length)) {
      const { reply } = await subject.read(fixture, { upTo });
      // What is cut off may be no more than what comes after the end.
      if (isSame(digest(reply), digest(whole))) continue;
      expectSame(reply.stopReason, "error", `stop reason when cut after ${upTo} bytes`);
      expectSame(reply.error?.code, "network_error", `error when cut after ${upTo} bytes`);
      expectSame(reply.error?.retryable, true, `retryable when cut after ${upTo} bytes`);
    }
  });

  test(`${name} never ends well when the connection breaks`, async () => {
    for (const upTo of someOffsets(Math.floor(bytes.length / 2), 10)) {
      const { reply } = await subject.read(fixture, { upTo, then: "break" });
      if (expect.errorCode !== undefined && reply.error?.code === expect.errorCode) continue;
      expectSame(reply.error?.code, "network_error", `error when broken after ${upTo} bytes`);
    }
  });
}

function testDamage(test: RegisterTest, subject: StreamSubject, fixture: ReplyFixture): void {
  test(`${fixture.name} keeps the contract when it is damaged`, async () => {
    const random = seededRandom(fixture.name.length);
    for (let round = 0; round < 60; round++) {
      const body = damaged(bytesOf(fixture.body), random);
      await subject.read({ ...fixture, body }, { pieces: { seed: round, max: 500 } });
    }
  });
}

function testRefusal(test: RegisterTest, subject: StreamSubject, refusal: RefusalFixture): void {
  const { name, status, headers = {}, body, expect } = refusal;
  test(`${name} (${status}) becomes ${expect.code}`, async () => {
    const streamFn = subject.make(() => Promise.resolve(new Response(body, { status, headers })));
    const { error } = await subject.ask(streamFn);
    expectSame(error?.code, expect.code, "code");
    expectSame(error?.retryable, expect.retryable, "retryable");
    expectSame(error?.retryAfterMs, expect.retryAfterMs, "retryAfterMs");
    expectSame(error?.status, status, "status");
    expectSecret(error?.message);
  });
}

function testAborts(test: RegisterTest, subject: StreamSubject, fixture: ReplyFixture): void {
  test("an abort before the request sends nothing", async () => {
    let sent = 0;
    const streamFn = subject.make(() => Promise.resolve(new Response(String(sent++))));
    const reply = await subject.ask(streamFn, { signal: AbortSignal.abort("enough") });
    expectSame(reply.stopReason, "aborted", "stop reason");
    expectSame(reply.events.length, 2, "events");
    expectSame(sent, 0, "requests");
  });

  test("an abort while waiting for the head ends the stream, whatever fetch does", async () => {
    let signal: AbortSignal | null | undefined;
    const streamFn = subject.make((_url, init) => {
      signal = init?.signal;
      return new Promise(() => {});
    });
    await expectAborted(subject, streamFn);
    expectSame(signal?.aborted, true, "the connection's signal");
  });

  test("an abort at any byte ends the stream and closes the connection", async () => {
    const { length } = bytesOf(fixture.body);
    for (const upTo of someOffsets(Math.floor(length / 2), 20)) {
      const body = hostileBody(bytesOf(fixture.body), { upTo, then: "hang" });
      await expectAborted(subject, subject.make(() => respond(fixture, body)));
      expectSame(body.fate.cancelled, true, `connection closed after ${upTo} bytes`);
    }
  });

  test("nothing is left on the caller's signal", async () => {
    const { signal, listeners } = countingSignal();
    const body = hostileBody(bytesOf(fixture.body));
    await subject.ask(subject.make(() => respond(fixture, body)), { signal });
    expectSame(listeners.size, 0, "listeners");
  });

  test("a reader that leaves closes the connection", async () => {
    const body = hostileBody(bytesOf(fixture.body), { pieces: 16, then: "hang" });
    const streamFn = subject.make(() => respond(fixture, body));
    for await (const event of streamFn(subject.request({}))) {
      if (event.type.endsWith("_delta")) break;
    }
    expectSame(body.fate.cancelled, true, "connection closed");
  });
}

function testTrouble(test: RegisterTest, subject: StreamSubject, fixture: ReplyFixture): void {
  test("no head within the time limit is a network error", async () => {
    const never: typeof globalThis.fetch = () => new Promise(() => {});
    const { error } = await subject.ask(subject.make(never, { connectTimeoutMs: 5 }));
    expectSame(error?.code, "network_error", "code");
    expectSame(error?.retryable, true, "retryable");
  });

  test("a head and then silence is a network error, and closes the connection", async () => {
    const body = hostileBody(bytesOf(fixture.body), { upTo: 0, then: "hang" });
    const streamFn = subject.make(() => respond(fixture, body), { idleTimeoutMs: 5 });
    const { error } = await subject.ask(streamFn);
    expectSame(error?.code, "network_error", "code");
    expectSame(body.fate.cancelled, true, "connection closed");
  });

  test("an empty body is a network error", async () => {
    const { reply } = await subject.read(fixture, { upTo: 0 });
    expectSame(reply.error?.code, "network_error", "code");
  });

  test("a connection that cannot be made is a retryable network error", async () => {
    const refused = new TypeError(`connection refused, sent ${KEY}`);
    const { error } = await subject.ask(subject.make(() => Promise.reject(refused)));
    expectSame(error?.code, "network_error", "code");
    expectSame(error?.retryable, true, "retryable");
    expectSecret(JSON.stringify(error));
  });

  test("an error without end is read to a limit, and its key is not told", async () => {
    const page = new TextEncoder().encode(`{"error":{"message":"bad key ${KEY}"}}`.padEnd(4096));
    const body = hostileBody(page, { pieces: 4096, upTo: Infinity });
    const streamFn = subject.make(() =>
      Promise.resolve(new Response(endless(body, page), { status: 401 }))
    );
    const { error } = await subject.ask(streamFn);
    expectSame(error?.code, "auth_error", "code");
    expectSecret(JSON.stringify(error));
  });

  test("a slow reader slows the provider down", async () => {
    const body = hostileBody(bytesOf(fixture.body), { pieces: 8 });
    const reader = subject.make(() => respond(fixture, body))(subject.request({}))[
      Symbol.asyncIterator
    ]();
    await reader.next();
    await reader.next();
    const taken = body.fate.taken;
    await new Promise((resolve) => setTimeout(resolve, 2));
    expectSame(body.fate.taken, taken, "pieces taken while nobody reads");
    await reader.return?.();
  });
}

/** Aborts once nothing more comes, and looks at the end. */
async function expectAborted(subject: StreamSubject, streamFn: StreamFn): Promise<void> {
  const controller = new AbortController();
  const ending = subject.ask(streamFn, { signal: controller.signal });
  await new Promise((resolve) => setTimeout(resolve, 1));
  const abortedAt = performance.now();
  controller.abort("enough");
  const reply = await ending;
  const took = performance.now() - abortedAt;
  expectSame(reply.stopReason, "aborted", "stop reason");
  expectSame(reply.error?.code, "aborted", "code");
  if (took > ABORT_MS) throw new Error(`The abort took ${took} ms`);
}

function endless(body: HostileBody, page: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: (controller) => {
      body.fate.taken++;
      if (body.fate.taken > 1000) throw new Error("More than 4 MB of an error was read");
      controller.enqueue(page.slice());
    },
  }, { highWaterMark: 0 });
}

/** Every offset of a short body, a seeded sample of a long one. */
function someOffsets(length: number, most = 120): number[] {
  if (length <= most) return Array.from({ length }, (_, index) => index);
  const random = seededRandom(length);
  return Array.from({ length: most }, () => Math.floor(random() * length));
}

/** A signal that knows who listens to it. */
function countingSignal(): { signal: AbortSignal; listeners: Set<unknown> } {
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

function digest({ content, stopReason, usage, error }: ReadReply): unknown {
  return { content, stopReason, usage, code: error?.code };
}

function expectReply(reply: ReadReply, expect: ExpectedReply): void {
  const { text, thinking, calls, stopReason, usage, errorCode } = expect;
  expectSame(reply.error?.code, errorCode, `error (${reply.error?.message})`);
  if (text !== undefined) expectSame(reply.text, text, "text");
  if (thinking !== undefined) expectSame(reply.thinking, thinking, "thinking");
  if (stopReason !== undefined) expectSame(reply.stopReason, stopReason, "stop reason");
  if (calls !== undefined) {
    const found = reply.calls.map(({ name, arguments: args }) => ({ name, arguments: args }));
    expectSame(found, calls, "tool calls");
  }
  for (const [key, count] of Object.entries(usage ?? {})) {
    expectSame(Reflect.get(reply.usage ?? {}, key), count, `usage.${key}`);
  }
}

function expectSecret(told: string | undefined): void {
  if (told?.includes(KEY)) throw new Error(`The key is told: ${told}`);
}

function expectSame(actual: unknown, expected: unknown, what: string): void {
  if (isSame(actual, expected)) return;
  throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}
