import { assertEquals, assertRejects } from "@std/assert";
import { settle } from "../../../tests/conformance/ports.ts";
import { AbortedError } from "../../core/errors/errors.ts";
import { zeroUsage } from "../../core/models/usage.ts";
import type { AssistantMessageEvent } from "../../core/streams/stream.ts";
import { Cancellation } from "../callbacks/cancellation.ts";
import { readEvents, type ReadOutcome } from "./read_events.ts";

const start: AssistantMessageEvent = { type: "start" };
const done: AssistantMessageEvent = { type: "done", stopReason: "stop", usage: zeroUsage() };
const aborted: AssistantMessageEvent = {
  type: "error",
  stopReason: "aborted",
  error: new AbortedError(),
};
const delta: AssistantMessageEvent = { type: "text_delta", contentIndex: 0, delta: "x" };

type Source = (signal: AbortSignal) => AsyncIterable<AssistantMessageEvent>;

/** Reads a source and logs the accepted events and the outcome. */
async function read(
  source: Source,
  onEvent: (event: AssistantMessageEvent, abort: () => void) => Promise<void> | undefined = () =>
    undefined,
): Promise<string[]> {
  const cancellation = new Cancellation({ sleep: () => Promise.resolve() });
  const log: string[] = [];
  const outcome: ReadOutcome = await readEvents(source(cancellation.signal), {
    cancellation,
    accept: (event) => {
      log.push(event.type);
      return onEvent(event, () => cancellation.abort());
    },
    acceptTerminal: (event) => void log.push(`terminal ${event.type}`),
  });
  return [...log, outcome];
}

/**
 * Creates a native stream and a generator of the same events, each with a function that returns whether it was closed.
 */
function createSources(
  events: readonly AssistantMessageEvent[],
): { name: string; source: Source; closed: () => boolean }[] {
  let streamClosed = false;
  let generatorClosed = false;
  return [{
    name: "a native stream",
    closed: () => streamClosed,
    source: () => {
      const remaining = [...events];
      return new ReadableStream({
        pull(controller): void {
          const next = remaining.shift();
          if (next) controller.enqueue(next);
          else controller.close();
        },
        cancel: () => void (streamClosed = true),
      });
    },
  }, {
    name: "a generator",
    closed: () => generatorClosed,
    source: async function* () {
      try {
        yield* events;
      } finally {
        generatorClosed = true;
      }
    },
  }];
}

for (const { name, source, closed } of createSources([start, delta, done, delta])) {
  Deno.test(`readEvents() reads ${name} to its terminal event and closes it`, async () => {
    assertEquals(await read(source), ["start", "text_delta", "done", "terminal"]);
    await Promise.resolve();
    assertEquals(closed(), true);
  });
}

for (const { name, source } of createSources([start, delta])) {
  Deno.test(`readEvents() resolves to closed when ${name} ends without a terminal event`, async () => {
    assertEquals(await read(source), ["start", "text_delta", "closed"]);
  });

  Deno.test(`readEvents() waits for accept() while it reads ${name}`, async () => {
    const order: string[] = [];
    await read(source, async ({ type }) => {
      order.push(`+${type}`);
      await new Promise((resolve) => setTimeout(resolve, 0));
      order.push(`-${type}`);
    });
    assertEquals(order, ["+start", "-start", "+text_delta", "-text_delta"]);
  });
}

Deno.test("readEvents() rejects with the error of the source or of accept()", async () => {
  const throwing: Source = async function* () {
    yield start;
    await Promise.resolve();
    throw new Error("no socket");
  };
  await assertRejects(() => read(throwing), Error, "no socket");
  const [stream, generator] = createSources([start, done]);
  for (const { source, closed } of [stream, generator].filter((created) => created !== undefined)) {
    const failing = () => {
      throw new Error("not accepted");
    };
    await assertRejects(() => read(source, failing), Error, "not accepted");
    assertEquals(closed(), true);
  }
});

Deno.test("readEvents() accepts only the terminal event of a source after an abort", async () => {
  const obeying: Source = async function* (signal) {
    yield start;
    if (!signal.aborted) yield done;
    yield delta;
    yield aborted;
  };
  assertEquals(await read(obeying, (_event, abort) => void abort() as undefined), [
    "start",
    "terminal error",
    "aborted",
  ]);
});

Deno.test("readEvents() abandons a source that ignores the abort", async () => {
  const unresponsive: Source = async function* () {
    yield start;
    await new Promise(() => {});
  };
  assertEquals(
    await read(unresponsive, (_event, abort) => void setTimeout(abort, 0) as undefined),
    [
      "start",
      "aborted",
    ],
  );
});

Deno.test("readEvents() reads at most one more event of a source that cannot be closed", async () => {
  const waiting: (() => void)[] = [];
  const endless: Source = () => ({
    [Symbol.asyncIterator]: () => ({
      next: () =>
        new Promise((resolve) => waiting.push(() => resolve({ done: false, value: delta }))),
    }),
  });
  const reading = read(endless, (_event, abort) => void abort() as undefined);
  await settle();
  waiting[0]?.();
  assertEquals(await reading, ["text_delta", "aborted"]);
  waiting[1]?.();
  await settle();
  assertEquals(waiting.length, 2);
});

Deno.test("readEvents() aborts and closes a source that never pauses", async () => {
  let closed = false;
  const flooding: Source = async function* () {
    try {
      for (let count = 0; count < 1_000_000; count++) yield delta;
    } finally {
      closed = true;
    }
  };
  let first = true;
  const log = await read(flooding, (_event, abort) => {
    if (first) setTimeout(abort, 0);
    first = false;
    return undefined;
  });
  assertEquals([log.at(-1), log.includes("terminal done")], ["aborted", false]);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(closed, true);
});

Deno.test("readEvents() does not open the source when the run is already aborted", async () => {
  const cancellation = new Cancellation({ sleep: () => Promise.resolve() });
  cancellation.abort();
  let opened = false;
  const source: AsyncIterable<AssistantMessageEvent> = {
    [Symbol.asyncIterator]: () => {
      opened = true;
      return { next: () => new Promise(() => {}) };
    },
  };
  const outcome = await readEvents(source, {
    cancellation,
    accept: () => undefined,
    acceptTerminal: () => {},
  });
  assertEquals([outcome, opened], ["aborted", false]);
});

Deno.test("readEvents() ends as aborted when the source's return() throws", async () => {
  const source: Source = () => ({
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.resolve({ done: false as const, value: delta }),
      return: () => {
        throw new Error("closed twice");
      },
    }),
  });
  const log = await read(source, (_event, abort) => {
    abort();
    return undefined;
  });
  assertEquals(log, ["text_delta", "aborted"]);
});

Deno.test("readEvents() reads a native stream through the iterator that it was given", async () => {
  const stream = Object.assign(ReadableStream.from([start, done]), {
    async *[Symbol.asyncIterator]() {
      yield start;
      yield delta;
      yield done;
    },
  });
  assertEquals(await read(() => stream), ["start", "text_delta", "done", "terminal"]);
});

Deno.test("readEvents() closes a native stream that it does not read because of an earlier abort", async () => {
  const cancellation = new Cancellation({ sleep: () => Promise.resolve() });
  cancellation.abort();
  let isClosed = false;
  const stream = new ReadableStream<AssistantMessageEvent>({
    cancel: () => void (isClosed = true),
  });
  const unused = () => undefined;
  const outcome = await readEvents(stream, {
    cancellation,
    accept: unused,
    acceptTerminal: unused,
  });
  assertEquals([outcome, isClosed], ["aborted", true]);
});
