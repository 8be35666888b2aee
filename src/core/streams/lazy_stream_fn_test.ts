import { assert, assertEquals } from "@std/assert";
import { readReply } from "../../testing/read_reply.ts";
import { BadRequestError } from "../errors/errors.ts";
import { zeroUsage } from "../models/usage.ts";
import { failedStream, lazyStreamFn } from "./lazy_stream_fn.ts";
import type { AssistantMessageEvent, StreamFn, StreamRequest } from "./stream.ts";

function createRequest(signal = new AbortController().signal): StreamRequest {
  return {
    model: { provider: "acme", modelId: "acme-1", thinkingLevel: "off" },
    context: { systemPrompt: "", messages: [], tools: [] },
    options: {},
    signal,
  };
}

function createReply(): ReadableStream<AssistantMessageEvent> {
  return new ReadableStream({
    start(controller): void {
      controller.enqueue({ type: "start" });
      controller.enqueue({ type: "done", stopReason: "stop", usage: zeroUsage() });
      controller.close();
    },
  });
}

Deno.test("lazyStreamFn(): loads when the first event is read, once for all requests", async () => {
  let loads = 0;
  const streamFn = lazyStreamFn(() => {
    loads++;
    return Promise.resolve(createReply);
  });
  const replies = [streamFn(createRequest()), streamFn(createRequest())];
  assertEquals(loads, 0);
  for (const { stopReason } of await Promise.all(replies.map(readReply))) {
    assertEquals(stopReason, "stop");
  }
  assertEquals((await readReply(streamFn(createRequest()))).stopReason, "stop");
  assertEquals(loads, 1);
});

Deno.test("lazyStreamFn(): a reader gets the events of the loaded stream, and its cancel() closes that stream", async () => {
  const streamFn = lazyStreamFn(() => Promise.resolve(createReply));
  const types: string[] = [];
  const reader = (streamFn(createRequest()) as ReadableStream<AssistantMessageEvent>).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    types.push(read.value.type);
  }
  assertEquals(types, ["start", "done"]);
  let isClosed = false;
  const lazy = lazyStreamFn(() =>
    Promise.resolve(async function* () {
      try {
        yield { type: "start" } as const;
        yield { type: "text_start", contentIndex: 0 } as const;
      } finally {
        isClosed = true;
      }
    })
  );
  const cancelled = (lazy(createRequest()) as ReadableStream<AssistantMessageEvent>).getReader();
  assertEquals((await cancelled.read()).value, { type: "start" });
  await cancelled.cancel();
  assertEquals(isClosed, true);
});

Deno.test("lazyStreamFn(): a failure to load ends the reply, and the next request loads again", async () => {
  const cause = new TypeError("module not found");
  const outcomes: (StreamFn | Error)[] = [
    cause,
    new BadRequestError("no URL"),
    createReply,
  ];
  const streamFn = lazyStreamFn(() => {
    const outcome = outcomes.shift() ?? new Error("loaded too often");
    return typeof outcome === "function" ? Promise.resolve(outcome) : Promise.reject(outcome);
  });
  const broken = await readReply(streamFn(createRequest()));
  assertEquals(broken.error?.code, "stream_error");
  assertEquals(broken.error?.message, "Cannot load the adapter for acme: module not found");
  assertEquals([broken.error?.provider, broken.error?.cause], ["acme", cause]);
  const misconfigured = await readReply(streamFn(createRequest()));
  assertEquals(misconfigured.error?.code, "bad_request");
  assertEquals(misconfigured.error?.message, "no URL");
  assertEquals((await readReply(streamFn(createRequest()))).stopReason, "stop");
});

Deno.test("lazyStreamFn(): an abort while loading ends the reply, and sends no request", async () => {
  const { promise, resolve } = Promise.withResolvers<StreamFn>();
  let requests = 0;
  const streamFn = lazyStreamFn(() => promise);
  const controller = new AbortController();
  const reply = readReply(streamFn(createRequest(controller.signal)));
  controller.abort("enough");
  const { stopReason, error, events } = await reply;
  assertEquals([stopReason, error?.code, events.length], ["aborted", "aborted", 2]);
  assertEquals(error?.cause, "enough");
  resolve(() => {
    requests++;
    return createReply();
  });
  await promise;
  assertEquals(requests, 0);
});

Deno.test("lazyStreamFn(): a reader that stops while loading ends the stream, which is closed unread", async () => {
  const { promise, resolve } = Promise.withResolvers<StreamFn>();
  let pulls = 0;
  let isCancelled = false;
  const events = lazyStreamFn(() => promise)(createRequest())[Symbol.asyncIterator]();
  const first = events.next();
  assert((await events.return?.())?.done);
  resolve(() =>
    new ReadableStream<AssistantMessageEvent>({
      pull: () => void pulls++,
      cancel: () => void (isCancelled = true),
    }, { highWaterMark: 0 })
  );
  assertEquals(await first, { done: true, value: undefined });
  assertEquals([pulls, isCancelled], [0, true]);
});

Deno.test("failedStream(): ends with the error", async () => {
  const { stopReason, error, events } = await readReply(failedStream(new BadRequestError("no")));
  assertEquals([stopReason, error?.message, events.length], ["error", "no", 2]);
});
