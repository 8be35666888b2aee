/**
 * Messages of `testStreamFn()` for stream functions that break the contract.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { NetworkError } from "../../src/core/errors/errors.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { testStreamFn } from "../../src/testing/stream_conformance.ts";
import type { StreamFnFactory, StreamFnFixtures } from "../../src/testing/stream_fixture.ts";
import { createAcme } from "../adapters/worked_example/acme.ts";

const FIXTURES: StreamFnFixtures = {
  model: { provider: "acme", modelId: "acme-1", thinkingLevel: "off" },
  replies: [{
    name: "a text",
    body: 'data: {"text":"Hello"}\n\ndata: {"end":"done","input":3,"output":5}\n\n',
    expect: { text: "Hello", stopReason: "stop", usage: { input: 3 } },
  }],
  errors: [{
    name: "a rate limit",
    status: 429,
    body: "slow down",
    expect: { code: "model_throttled", retryable: true },
  }],
};

/** Runs the tests of a stream function with a fake time; returns the messages of those that fail, by title. */
async function findFailures(
  create: StreamFnFactory,
  fixtures: StreamFnFixtures = FIXTURES,
): Promise<Map<string, string>> {
  const tests = new Map<string, () => void | Promise<void>>();
  testStreamFn(
    (title, run) => tests.set(title.replace("acme: ", ""), run),
    "acme",
    create,
    fixtures,
  );
  assert(tests.size > 10);
  const failures = new Map<string, string>();
  for (const [title, run] of tests) {
    const message = await runWithFakeTime(run);
    if (message !== undefined) failures.set(title, message);
  }
  return failures;
}

async function runWithFakeTime(run: () => void | Promise<void>): Promise<string | undefined> {
  using time = new FakeTime();
  let isSettled = false;
  const result = Promise.resolve().then(run).then(() => undefined, ({ message }) => message)
    .finally(() => isSettled = true);
  while (!isSettled) await time.tickAsync(10);
  return await result;
}

/** Creates the stream functions of Acme with a changed reply. */
function change(wrap: (streamFn: StreamFn) => StreamFn): StreamFnFactory {
  return (fetch, limits) => wrap(createAcme({ fetch, ...limits }));
}

const BROKEN: Readonly<
  Record<string, { create: StreamFnFactory; title: string; message: RegExp }>
> = {
  "throws": {
    create: () => () => {
      throw new TypeError("boom");
    },
    title: "reads a text in one chunk, in single bytes and in random chunks",
    message: /^Expected an "error" event, got an exception: boom\. A stream function never throws$/,
  },
  "rejects while it streams": {
    create: change((streamFn) =>
      async function* (request) {
        for await (const event of streamFn(request)) {
          if (event.type === "error") throw event.error;
          yield event;
        }
      }
    ),
    title: "reports a network error for an empty body",
    message: /^Expected an "error" event, got an exception: .+ A stream function never throws$/,
  },
  "sends no start": {
    create: change((streamFn) =>
      async function* (request) {
        for await (const event of streamFn(request)) if (event.type !== "start") yield event;
      }
    ),
    title: "reports a network error for an empty body",
    message: /^Expected "start" as first event, got "error": every stream begins with "start"$/,
  },
  "ends without a terminal event": {
    create: change((streamFn) =>
      async function* (request) {
        for await (const event of streamFn(request)) if (event.type !== "done") yield event;
      }
    ),
    title: "reads a text in one chunk, in single bytes and in random chunks",
    message:
      /^Expected "done" or "error" as last event, got "text_end": a stream without one of them looks/,
  },
  "takes a cut body for a reply": {
    create: change((streamFn) =>
      async function* (request) {
        const usage = { input: 3, output: 5, cacheRead: 0, cacheWrite: 0, total: 8 };
        for await (const event of streamFn(request)) {
          yield event.type === "error" && event.error instanceof NetworkError
            ? { type: "done", stopReason: "stop", usage }
            : event;
        }
      }
    ),
    title: "ends a text with a network error when the body is cut off",
    message:
      /^Expected the error code when the body ends after 0 of 67 bytes to be "network_error", got none: a reply without/,
  },
  "ignores the abort": {
    create: change((streamFn) => (request) =>
      streamFn({ ...request, signal: new AbortController().signal })
    ),
    title: "ends on abort while fetch is pending",
    message: /^Expected the stream to end on the abort, got no end within 100 ms: an abort ends/,
  },
  "ignores the time limits": {
    create: (fetch) => createAcme({ fetch, connectTimeoutMs: 1e9, idleTimeoutMs: 1e9 }),
    title: "reports a network error when no response arrives within connectTimeoutMs",
    message: /^Expected the stream to end, got no end within 30000 ms: .+ after connectTimeoutMs/,
  },
  "keeps the connection open": {
    create: (fetch, limits) =>
      createAcme({
        ...limits,
        fetch: async (input, init) => {
          const response = await fetch(input, init);
          const reader = response.body?.getReader();
          const body = new ReadableStream({
            async pull(controller) {
              const { done = true, value } = await reader?.read() ?? {};
              if (done) controller.close();
              else controller.enqueue(value);
            },
          }, { highWaterMark: 0 });
          return new Response(body, response);
        },
      }),
    title: "ends and closes the connection on abort at any byte",
    message:
      /^Expected whether the body was cancelled by an abort after \d+ bytes to be true, got false: a connection/,
  },
  "holds its events back": {
    create: change((streamFn) =>
      async function* (request) {
        yield* await Array.fromAsync(streamFn(request));
      }
    ),
    title: "closes the connection when the reader stops",
    message: /^Expected a delta, got none within 10000 ms: events are sent as soon as/,
  },
  "leaves a listener": {
    create: change((streamFn) => (request) => {
      request.signal.addEventListener("abort", () => {});
      return streamFn(request);
    }),
    title: "leaves no listener on the caller's signal",
    message:
      /^Expected the number of listeners on the caller's signal to be 0, got 1: a signal that outlives/,
  },
  "puts the key into an error": {
    create: change((streamFn) =>
      async function* (request) {
        for await (const event of streamFn(request)) {
          yield event.type === "error"
            ? {
              ...event,
              error: new NetworkError(`${event.error.message} ${request.options.apiKey}`),
            }
            : event;
        }
      }
    ),
    title: "reports a retryable network error when the connection is refused",
    message:
      /^Expected an error without the API key, got .+sk-conformance.+: errors end up in logs$/,
  },
  "does not read the usage": {
    create: change((streamFn) =>
      async function* (request) {
        for await (const event of streamFn(request)) {
          yield event.type === "done" ? { ...event, usage: { ...event.usage, input: 0 } } : event;
        }
      }
    ),
    title: "reads a text in one chunk, in single bytes and in random chunks",
    message:
      /^Expected usage\.input of the reply to be 3, got 0: the fixture says so; it was read in one chunk$/,
  },
};

for (const [name, { create, title, message }] of Object.entries(BROKEN)) {
  Deno.test(`testStreamFn(): explains the failures of a stream function that ${name}`, async () => {
    const failures = await findFailures(create);
    assertMatch(failures.get(title) ?? "no failure", message);
    for (const failure of failures.values()) assertMatch(failure, /^Expected .+, got .+[:.] /s);
  });
}

Deno.test("testStreamFn(): names the error response that is classified differently", async () => {
  const failures = await findFailures(change((streamFn) => streamFn), {
    ...FIXTURES,
    errors: [{
      name: "an overload",
      status: 400,
      body: '{"error":{"message":"Come back later"}}',
      expect: { code: "network_error", retryable: true },
    }],
  });
  assertEquals([...failures], [[
    "reports an overload (400) as network_error",
    'Expected the error code to be "network_error", got "bad_request": the fixture says so of an overload; the error is: acme answered 400: Come back later',
  ]]);
});

Deno.test("testStreamFn(): passes a stream function that keeps the contract, with a fake time", async () => {
  assertEquals([...await findFailures(change((streamFn) => streamFn))], []);
});
