import { assert, assertEquals, assertRejects } from "@std/assert";
import { createMemoryFiles, parseLines } from "../../tests/cassettes/memory_files.ts";
import { BadRequestError } from "../core/errors.ts";
import { recordFetch } from "./record_fetch.ts";
import { replayFetch } from "../testing/replay_fetch.ts";

const URL_A = "https://api.example.com/a";

/** A server whose body is written by the test, and which knows how far it has been read. */
function createServer() {
  let controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  const server = {
    pulls: 0,
    cancelled: undefined as unknown,
    fetch: (_input: unknown, init?: RequestInit): Promise<Response> => {
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        start: (started) => void (controller = started),
        pull: () => void server.pulls++,
        cancel: (reason) => void (server.cancelled = reason),
      }, { highWaterMark: 0 });
      init?.signal?.addEventListener("abort", () => {
        server.cancelled ??= init.signal?.reason;
      });
      return Promise.resolve(new Response(body));
    },
    send: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
    fail: (error: Error) => controller?.error(error),
  };
  return server;
}

async function readText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const { value } = await reader.read();
  return new TextDecoder().decode(value);
}

function getReader({ body }: Response): ReadableStreamDefaultReader<Uint8Array> {
  assert(body);
  return body.getReader();
}

/** Lets everything happen that waits for nothing. */
function flushTasks(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("a whole exchange becomes a line of JSON, with the times of its chunks", async () => {
  const files = createMemoryFiles();
  const server = createServer();
  let now = 1000;
  const fetch = recordFetch(server.fetch, "a.jsonl", { files, now: () => now });
  now = 2000;
  const init = { method: "POST", headers: { accept: "text/event-stream" }, body: '{"a":1}' };
  const response = await fetch(URL_A, init);
  const reader = getReader(response);
  for (const [at, text] of [[2010, "data: 1\n\n"], [2025, "data: 2\n\n"]] as const) {
    const reading = readText(reader);
    now = at;
    server.send(text);
    assertEquals(await reading, text);
  }
  now = 2030;
  server.end();
  assertEquals((await reader.read()).done, true);
  assertEquals(parseLines(files, "a.jsonl"), [
    { cassette: 1, recordedAt: 1000 },
    {
      exchange: 1,
      request: {
        method: "POST",
        url: URL_A,
        headers: { accept: "text/event-stream", "content-type": "text/plain;charset=UTF-8" },
        body: { json: { a: 1 } },
      },
      response: { at: 0, status: 200, headers: {} },
      chunks: [{ at: 10, text: "data: 1\n\n" }, { at: 25, text: "data: 2\n\n" }],
      end: { type: "complete", at: 30 },
    },
  ]);
});

Deno.test("a response stays live: each chunk comes before the next is there, and none is read ahead", async () => {
  const server = createServer();
  const fetch = recordFetch(server.fetch, "a.jsonl", { files: createMemoryFiles() });
  const reader = getReader(await fetch(URL_A));
  await flushTasks();
  assertEquals(server.pulls, 0);
  for (const number of [1, 2, 3]) {
    const reading = readText(reader);
    await flushTasks();
    assertEquals(server.pulls, number);
    server.send(`chunk ${number}`);
    assertEquals(await reading, `chunk ${number}`);
    await flushTasks();
    assertEquals(server.pulls, number);
  }
  await reader.cancel();
});

Deno.test("an abort closes the connection at once, and what had come is recorded", async () => {
  const files = createMemoryFiles();
  const server = createServer();
  const fetch = recordFetch(server.fetch, "a.jsonl", { files, now: () => 0 });
  const controller = new AbortController();
  const reader = getReader(await fetch(URL_A, { signal: controller.signal }));
  server.send("half");
  assertEquals(await readText(reader), "half");
  const reading = reader.read();
  const enough = new Error("enough");
  controller.abort(enough);
  await assertRejects(() => reading, Error, "enough");
  assertEquals(server.cancelled, enough);
  await fetch.close();
  const [, line] = parseLines(files, "a.jsonl");
  assertEquals(line?.["chunks"], [{ at: 0, text: "half" }]);
  assertEquals(line?.["end"], { type: "aborted", at: 0 });
});

Deno.test("a body that is not wanted any more is an abort as well", async () => {
  const files = createMemoryFiles();
  const server = createServer();
  const fetch = recordFetch(server.fetch, "a.jsonl", { files, now: () => 0 });
  const reader = getReader(await fetch(URL_A));
  await reader.cancel("enough");
  assertEquals(server.cancelled, "enough");
  await fetch.close();
  assertEquals(parseLines(files, "a.jsonl")[1]?.["end"], { type: "aborted", at: 0 });
});

Deno.test("an abort before the response is recorded without one", async () => {
  const files = createMemoryFiles();
  const waits = (_input: unknown, init?: RequestInit) =>
    new Promise<Response>((_, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  const fetch = recordFetch(waits, "a.jsonl", { files, now: () => 0 });
  const controller = new AbortController();
  const asking = fetch(URL_A, { signal: controller.signal });
  await flushTasks();
  controller.abort(new Error("enough"));
  await assertRejects(() => asking, Error, "enough");
  await fetch.close();
  assertEquals(parseLines(files, "a.jsonl")[1], {
    exchange: 1,
    request: { method: "GET", url: URL_A, headers: {} },
    chunks: [],
    end: { type: "aborted", at: 0 },
  });
});

Deno.test("connections that fail, before and within a response, are recorded with their errors", async () => {
  const files = createMemoryFiles();
  const server = createServer();
  const key = "sk-abcdefghijklmnop";
  const refused = replayFetch(new TypeError(`connection refused: ${URL_A}?key=${key}`));
  const fetch = recordFetch((...request) => inner(...request), "a.jsonl", { files, now: () => 0 });
  let inner: typeof globalThis.fetch = refused;
  await assertRejects(() => fetch(URL_A), TypeError, "connection refused");
  inner = server.fetch;
  const reader = getReader(await fetch(URL_A));
  server.fail(new TypeError("connection reset"));
  await assertRejects(() => reader.read(), TypeError, "connection reset");
  const ends = parseLines(files, "a.jsonl").slice(1).map(({ end }) => end);
  const failed = { type: "failed", at: 0, name: "TypeError" };
  assertEquals(ends, [
    { ...failed, message: `connection refused: ${URL_A}?key=[redacted]` },
    { ...failed, message: "connection reset" },
  ]);
});

Deno.test("the first exchange replaces an older cassette, the others are added", async () => {
  const files = createMemoryFiles();
  files.texts.set("a.jsonl", '{"cassette":1,"recordedAt":0}\n{"exchange":1}\n');
  const fetch = recordFetch(replayFetch("hi"), "a.jsonl", { files, now: () => 7 });
  const response = await fetch(URL_A);
  assertEquals(files.writes, []);
  await response.text();
  await (await fetch(URL_A)).text();
  assertEquals(files.writes, ["replace", "append"]);
  assertEquals(
    parseLines(files, "a.jsonl").map(({ recordedAt, exchange }) => recordedAt ?? exchange),
    [
      7,
      1,
      2,
    ],
  );
});

Deno.test("a file that is no cassette is not written over, and nothing is sent", async () => {
  const files = createMemoryFiles();
  files.texts.set("notes.txt", "milk\n");
  const inner = replayFetch("hi");
  const fetch = recordFetch(inner, "notes.txt", { files });
  const error = await assertRejects(() => fetch(URL_A), BadRequestError);
  assertEquals(
    error.message,
    '"notes.txt" is not a cassette and is not written over: name another file to record into',
  );
  assertEquals([inner.requests.length, files.texts.get("notes.txt")], [0, "milk\n"]);
});

Deno.test("a full disk does not break a response off; the next request and close tell of it", async () => {
  const beforeWrite = () => {
    throw new Error("no space left on device");
  };
  const fetch = recordFetch(replayFetch("hi"), "a.jsonl", {
    files: createMemoryFiles({ beforeWrite }),
  });
  assertEquals(await (await fetch(URL_A)).text(), "hi");
  const message = 'Cannot record into "a.jsonl": no space left on device';
  await assertRejects(() => fetch(URL_A), BadRequestError, message);
  await assertRejects(() => fetch.close(), BadRequestError, message);
});

Deno.test("close waits a moment for exchanges that are open, then records what has come", async () => {
  const files = createMemoryFiles();
  const server = createServer();
  const waits: number[] = [];
  const sleep = (milliseconds: number) => {
    waits.push(milliseconds);
    return Promise.resolve();
  };
  const fetch = recordFetch(server.fetch, "a.jsonl", { files, sleep, now: () => 0 });
  const reader = getReader(await fetch(URL_A));
  server.send("half");
  await readText(reader);
  await fetch.close();
  assertEquals(waits, [100]);
  assertEquals(parseLines(files, "a.jsonl")[1]?.["end"], { type: "aborted", at: 0 });
  await reader.cancel();
  assertEquals(files.writes, ["replace"]);
});

Deno.test("requests are sent as they were made, however they were made", async () => {
  const inner = replayFetch("hi");
  const fetch = recordFetch(inner, "a.jsonl", { files: createMemoryFiles() });
  const body = () => new Blob(["hello"]).stream();
  const headers = { "x-a": "1" };
  await (await fetch(new URL(URL_A), { method: "post", headers, body: "hello" })).text();
  await (await fetch(new Request(URL_A, { method: "POST", headers, body: "hello" }))).text();
  await (await fetch(URL_A, { method: "POST", headers, body: body() })).text();
  await (await fetch(new Request(URL_A, { method: "PUT" }), {
    method: "POST",
    headers,
    body: "hello",
  }))
    .text();
  assertEquals(
    inner.requests.map(({ method, url, headers, body }) => [method, url, headers.get("x-a"), body]),
    Array(4).fill(["POST", URL_A, "1", "hello"]),
  );
});

Deno.test("a response keeps its status and its headers, with a body or without", async () => {
  const answers = [{ status: 204 }, { status: 429, headers: { "retry-after": "2" }, body: "slow" }];
  const files = createMemoryFiles();
  const fetch = recordFetch(replayFetch(answers), "a.jsonl", { files });
  const empty = await fetch(URL_A);
  assertEquals([empty.status, empty.body], [204, null]);
  const full = await fetch(URL_A);
  assertEquals([full.status, full.headers.get("retry-after"), await full.text()], [
    429,
    "2",
    "slow",
  ]);
  assertEquals(parseLines(files, "a.jsonl").length, 3);
});

Deno.test("what must not be kept is named, or carried where keys are carried", async () => {
  const files = createMemoryFiles();
  const body = '{"said":"my-own-secret and the-key-of-the-request and sk-abcdefghijklmnop"}';
  const fetch = recordFetch(
    replayFetch({ body, headers: { "set-cookie": "session=abc" } }),
    "a.jsonl",
    {
      files,
      secrets: ["my-own-secret"],
    },
  );
  const init = { method: "POST", body, headers: { "x-api-key": "the-key-of-the-request" } };
  assertEquals(await (await fetch(`${URL_A}?key=the-key`, init)).text(), body);
  const text = files.texts.get("a.jsonl") ?? "";
  for (const secret of ["my-own-secret", "the-key", "sk-abcdef", "session=abc"]) {
    assert(!text.includes(secret), secret);
  }
});

Deno.test("without a permission there is a clear error, and nothing is sent", async () => {
  const denied = () =>
    Promise.reject(new Error('Requires read access to "a.jsonl", run again with --allow-read'));
  const inner = replayFetch("hi");
  const fetch = recordFetch(inner, "a.jsonl", { files: { ...createMemoryFiles(), read: denied } });
  await assertRejects(
    () => fetch(URL_A),
    BadRequestError,
    'Cannot record into "a.jsonl": Requires',
  );
  assertEquals(inner.requests.length, 0);
});
