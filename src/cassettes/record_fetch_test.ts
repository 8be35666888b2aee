import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createMemoryFiles, parseLines } from "../../tests/cassettes/memory_files.ts";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { replayFetch } from "../testing/replay_fetch.ts";
import { recordFetch } from "./record_fetch.ts";
import { replayCassette } from "./replay_cassette.ts";

const URL_A = "https://api.example.com/a";

/** Creates a `fetch` whose response body is written by the test, and which counts reads. */
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

/** Waits for a task, after all pending microtasks. */
function flushTasks(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("recordFetch() writes an exchange as a line of JSON, with the times of its chunks", async () => {
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

Deno.test("recordFetch() passes each chunk on when it arrives, and reads none ahead", async () => {
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

Deno.test("recordFetch() closes the connection on abort, and records the chunks received so far", async () => {
  const files = createMemoryFiles();
  const server = createServer();
  const fetch = recordFetch(server.fetch, "a.jsonl", { files, now: () => 0 });
  const controller = new AbortController();
  const reader = getReader(await fetch(URL_A, { signal: controller.signal }));
  server.send("half");
  assertEquals(await readText(reader), "half");
  const reading = reader.read();
  const reason = new Error("enough");
  controller.abort(reason);
  await assertRejects(() => reading, Error, "enough");
  assertEquals(server.cancelled, reason);
  await fetch.close();
  const [, line] = parseLines(files, "a.jsonl");
  assertEquals(line?.["chunks"], [{ at: 0, text: "half" }]);
  assertEquals(line?.["end"], { type: "aborted", at: 0 });
});

Deno.test("recordFetch() records a cancelled body as aborted", async () => {
  const files = createMemoryFiles();
  const server = createServer();
  const fetch = recordFetch(server.fetch, "a.jsonl", { files, now: () => 0 });
  const reader = getReader(await fetch(URL_A));
  await reader.cancel("enough");
  assertEquals(server.cancelled, "enough");
  await fetch.close();
  assertEquals(parseLines(files, "a.jsonl")[1]?.["end"], { type: "aborted", at: 0 });
});

Deno.test("recordFetch() records an abort before the response", async () => {
  const files = createMemoryFiles();
  const neverAnswers = (_input: unknown, init?: RequestInit) =>
    new Promise<Response>((_, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  const fetch = recordFetch(neverAnswers, "a.jsonl", { files, now: () => 0 });
  const controller = new AbortController();
  const response = fetch(URL_A, { signal: controller.signal });
  await flushTasks();
  controller.abort(new Error("enough"));
  await assertRejects(() => response, Error, "enough");
  await fetch.close();
  assertEquals(parseLines(files, "a.jsonl")[1], {
    exchange: 1,
    request: { method: "GET", url: URL_A, headers: {} },
    chunks: [],
    end: { type: "aborted", at: 0 },
  });
});

Deno.test("recordFetch() records network errors before and within a response", async () => {
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

Deno.test("recordFetch() replaces an older cassette with the first exchange and appends the others", async () => {
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

Deno.test("recordFetch() sends no request when the file is not a cassette", async () => {
  const files = createMemoryFiles();
  files.texts.set("notes.txt", "milk\n");
  const inner = replayFetch("hi");
  const fetch = recordFetch(inner, "notes.txt", { files });
  const error = await assertRejects(() => fetch(URL_A), BadRequestError);
  assertEquals(
    error.message,
    'Cannot record to "notes.txt": the file is not a cassette and will not be overwritten; choose another file',
  );
  assertEquals([inner.requests.length, files.texts.get("notes.txt")], [0, "milk\n"]);
});

Deno.test("recordFetch() completes the response when a write fails, and rejects the next request and close()", async () => {
  const beforeWrite = () => {
    throw new Error("no space left on device");
  };
  const fetch = recordFetch(replayFetch("hi"), "a.jsonl", {
    files: createMemoryFiles({ beforeWrite }),
  });
  assertEquals(await (await fetch(URL_A)).text(), "hi");
  const message = 'Cannot record to "a.jsonl": no space left on device';
  await assertRejects(() => fetch(URL_A), BadRequestError, message);
  await assertRejects(() => fetch.close(), BadRequestError, message);
});

Deno.test("close() waits 100 ms for open exchanges, then records them as aborted", async () => {
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

Deno.test("recordFetch() sends requests unchanged, for every form of arguments", async () => {
  const inner = replayFetch("hi");
  const fetch = recordFetch(inner, "a.jsonl", { files: createMemoryFiles() });
  const body = () => new Blob(["hello"]).stream();
  const headers = { "x-a": "1" };
  await (await fetch(new URL(URL_A), { method: "post", headers, body: "hello" })).text();
  await (await fetch(new Request(URL_A, { method: "POST", headers, body: "hello" }))).text();
  // Node requires `duplex` for a stream.
  const streamed = { method: "POST", headers, body: body(), duplex: "half" };
  await (await fetch(URL_A, streamed)).text();
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

Deno.test("recordFetch() keeps status and headers, with and without a body", async () => {
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

Deno.test("recordFetch() redacts the secrets option, keys of the request, and texts with the form of a key", async () => {
  const files = createMemoryFiles();
  const body = '{"text":"my-own-secret and the-key-of-the-request and sk-abcdefghijklmnop"}';
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

Deno.test("recordFetch() sends no request when the file cannot be read", async () => {
  const denied = () =>
    Promise.reject(new Error('Requires read access to "a.jsonl", run again with --allow-read'));
  const inner = replayFetch("hi");
  const fetch = recordFetch(inner, "a.jsonl", { files: { ...createMemoryFiles(), read: denied } });
  await assertRejects(
    () => fetch(URL_A),
    BadRequestError,
    'Cannot record to "a.jsonl": Requires',
  );
  assertEquals(inner.requests.length, 0);
});

Deno.test("recordFetch() records a chunk as it arrived, also if the caller changes it", async () => {
  const files = createMemoryFiles();
  const fetch = recordFetch(replayFetch("hello"), "a.jsonl", { files, now: () => 0 });
  const reader = getReader(await fetch(URL_A));
  const { value } = await reader.read();
  value?.fill(0);
  await reader.read();
  assertEquals(parseLines(files, "a.jsonl")[1]?.["chunks"], [{ at: 0, text: "hello" }]);
});

Deno.test("recordFetch() writes nothing after a write that failed, which may have left an incomplete line", async () => {
  let writes = 0;
  const files = createMemoryFiles({
    beforeWrite: () => {
      if (++writes === 2) throw new Error("no space left on device");
    },
  });
  const fetch = recordFetch(replayFetch("hi"), "a.jsonl", { files });
  const responses = await Promise.all([fetch(URL_A), fetch(URL_A), fetch(URL_A)]);
  for (const response of responses) await response.text();
  await assertRejects(() => fetch.close(), BadRequestError, "no space left on device");
  assertEquals([writes, files.writes], [2, ["replace"]]);
});

Deno.test("recordFetch() throws for unknown and invalid options, since a secret would be recorded", () => {
  const record = (options: object) => () => recordFetch(replayFetch("hi"), "a.jsonl", options);
  assertThrows(record({ secret: ["key-of-mine"] }), BadRequestError, "did you mean secrets?");
  for (const secrets of ["key-of-mine", [undefined], [5], null]) {
    const error = assertThrows(record({ secrets }), BadRequestError, "must be an array of texts");
    assert(!error.message.includes("key-of-mine"));
  }
  record({ secrets: undefined, now: undefined })();
});

Deno.test("recordFetch() records no time before the request when the clock is set back", async () => {
  const files = createMemoryFiles();
  let now = 5000;
  const fetch = recordFetch(replayFetch("hi"), "a.jsonl", { files, now: () => now -= 1000 });
  await (await fetch(URL_A)).text();
  const { response, chunks, end } = parseLines(files, "a.jsonl")[1] ?? {};
  assertEquals([response, chunks, end], [
    { at: 0, status: 200, headers: {} },
    [{ at: 0, text: "hi" }],
    { type: "complete", at: 0 },
  ]);
});

Deno.test("recordFetch() redacts a secret that is encoded in a URL, a form or JSON, and a replay matches it", async () => {
  const files = createMemoryFiles();
  const secret = 'se/cr+et "99"';
  const options = { files, secrets: [secret] };
  const send = async (fetch: typeof globalThis.fetch) => {
    await (await fetch(`${URL_A}?q=${encodeURIComponent(secret)}`)).text();
    const body = new URLSearchParams({ q: secret });
    await (await fetch(URL_A, { method: "POST", body })).text();
  };
  await send(recordFetch(replayFetch(JSON.stringify({ q: secret })), "a.jsonl", options));
  const text = files.texts.get("a.jsonl") ?? "";
  assertEquals([text.split("[redacted]").length, /cr.{1,4}et/.test(text)], [5, false]);
  await send(replayCassette("a.jsonl", options));
});

Deno.test("recordFetch() keeps a word in texts that is the key, and a replay without the key matches it", async () => {
  const files = createMemoryFiles();
  const network = () => Promise.resolve(new Response("I did not change anything."));
  const send = (fetch: typeof globalThis.fetch, key: string) =>
    fetch(URL_A, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: "Understand before you change anything.",
    });
  const fetch = recordFetch(network, "a.jsonl", { files });
  await (await send(fetch, "anything")).text();
  const replay = replayCassette("a.jsonl", { files });
  assertEquals(await (await send(replay, "none")).text(), "I did not change anything.");
});

Deno.test("recordFetch() records a form with files, and a replay matches it although its boundary is random", async () => {
  const files = createMemoryFiles();
  const network = () => Promise.resolve(new Response("words"));
  const send = async (fetch: typeof globalThis.fetch, bytes: readonly number[]) => {
    const body = new FormData();
    body.append("model", "whisper-1");
    body.append("file", new Blob([new Uint8Array(bytes)]), "a.wav");
    return await (await fetch(URL_A, { method: "POST", body })).text();
  };
  const audio = [0xff, 0xfe, 0x80, 0x00];
  const fetch = recordFetch(network, "a.jsonl", { files });
  await send(fetch, audio);
  await send(fetch, [0x61]);
  const replay = () => replayCassette("a.jsonl", { files });
  assertEquals([await send(replay(), audio), await send(replay(), [0x61])], ["words", "words"]);
  await assertRejects(() => send(replay(), [0xff, 0xfe, 0x81, 0x00]), BadRequestError);
});

Deno.test("recordFetch() fails when another recording has replaced its file, and leaves that one as it is", async () => {
  await using directory = await createTemporaryDirectory();
  const path = `${directory.path}/a.jsonl`;
  const network = (name: string) => () => Promise.resolve(new Response(name));
  const [first, second] = ["first", "second"].map((name) => recordFetch(network(name), path));
  assert(first && second);
  const send = async (fetch: typeof globalThis.fetch) => await (await fetch(URL_A)).text();
  await send(first);
  await send(second);
  // The program gets the reply, which cannot be recorded.
  assertEquals(await send(first), "first");
  await send(second);
  await assertRejects(
    () => send(first),
    BadRequestError,
    `Cannot record to "${path}": another recording has replaced the file; record to another one`,
  );
  await assertRejects(() => first.close(), BadRequestError, "another recording");
  await second.close();
  const replay = replayCassette(path);
  assertEquals([await send(replay), await send(replay)], ["second", "second"]);
  replay.assertDone();
});
