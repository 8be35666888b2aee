import { assertEquals, assertRejects } from "@std/assert";
import { AbortedError } from "../../src/core/errors/errors.ts";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { DebugLog } from "./debug_log.ts";
import { logRequests } from "./log_requests.ts";

const KEY = "canary-0123456789";
const URL = "https://api.example.com/v1/chat?key=abc";

/** Runs requests with a log; returns its lines without times. */
async function log(
  send: typeof fetch,
  use: (fetch: typeof globalThis.fetch) => Promise<unknown>,
): Promise<unknown[]> {
  await using directory = await createTemporaryDirectory();
  {
    const options = { now: () => 0, onFailure: () => {}, signal: new AbortController().signal };
    using log = await DebugLog.open(`${directory.path}/log`, options);
    await use(logRequests(send, log));
  }
  return directory.read("log").split("\n").slice(0, -1).map((line) => {
    const { time: _time, ms: _ms, ...rest } = JSON.parse(line);
    return rest;
  });
}

const OPTIONS = { method: "POST", body: "{}", headers: { "x-api-key": KEY } };
const REQUEST = {
  type: "request",
  id: 1,
  method: "POST",
  url: "https://api.example.com/v1/chat",
  bytes: 2,
};

Deno.test("logRequests(): a failed request is logged without the key, and fails", async () => {
  const send = () => Promise.reject(new TypeError(`no connection with ${KEY}`));
  const lines = await log(send, (fetch) => assertRejects(() => fetch(URL, OPTIONS), TypeError));
  const error = "no connection with [redacted]";
  assertEquals(lines, [REQUEST, { type: "request_failed", id: 1, error }]);
});

Deno.test("logRequests(): a response is logged with the headers that identify it, and its size", async () => {
  const headers = { "request-id": "r1", "set-cookie": "a=b", "retry-after": "3" };
  const send = () => Promise.resolve(new Response("12345", { status: 429, headers }));
  const lines = await log(send, async (fetch) => {
    const response = await fetch(URL, OPTIONS);
    assertEquals([response.status, await response.text()], [429, "12345"]);
  });
  assertEquals(lines, [
    REQUEST,
    {
      type: "response",
      id: 1,
      status: 429,
      headers: {
        "content-type": "text/plain;charset=UTF-8",
        "request-id": "r1",
        "retry-after": "3",
      },
    },
    { type: "response_end", id: 1, bytes: 5, isComplete: true },
  ]);
});

Deno.test("logRequests(): a body that the reader cancels is canceled at its source", async () => {
  let isCanceled = false;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.enqueue(new Uint8Array(4)),
    cancel: () => void (isCanceled = true),
  });
  const lines = await log(() => Promise.resolve(new Response(body)), async (fetch) => {
    const reader = (await fetch(URL, OPTIONS)).body?.getReader();
    await reader?.read();
    await reader?.cancel();
  });
  assertEquals(isCanceled, true);
  const last = lines.at(-1) as { readonly type: string; readonly isComplete: boolean };
  assertEquals([last.type, last.isComplete], ["response_end", false]);
});

Deno.test("logRequests(): the body of a Request is left to the one that sends it", async () => {
  const send: typeof fetch = async (input) =>
    new Response(input instanceof Request ? await input.text() : "no request");
  const lines = await log(send, async (fetch) => {
    const response = await fetch(new Request(URL, OPTIONS));
    assertEquals(await response.text(), "{}");
  });
  const { bytes: _bytes, ...request } = REQUEST;
  assertEquals(lines[0], request);
});

Deno.test("DebugLog: a file that cannot be written is reported once", async () => {
  const failures: string[] = [];
  using log = await DebugLog.open("/dev/full", {
    signal: new AbortController().signal,
    now: () => 0,
    onFailure: (reason) => void failures.push(reason),
  });
  log.write({ type: "start" });
  log.write({ type: "end" });
  assertEquals(failures.length, 1);
});

Deno.test("DebugLog: the wait for the reader of a named pipe ends when the run is interrupted", async () => {
  await using directory = await createTemporaryDirectory();
  const path = `${directory.path}/pipe`;
  await new Deno.Command("mkfifo", { args: [path] }).output();
  const stop = new AbortController();
  const options = { now: () => 0, onFailure: () => {}, signal: stop.signal };
  const opening = DebugLog.open(path, options);
  stop.abort();
  await assertRejects(() => opening, AbortedError);
  // Ends the operation of the system, too: the end of the pipe follows when the log has closed it.
  const reader = await Deno.open(path);
  assertEquals(await new Response(reader.readable).text(), "");
});

Deno.test("DebugLog: secrets are replaced in the form that JSON has, and behind their scheme", async () => {
  const secret = 'canary"0123\\456789';
  const headers = { authorization: "Bearer bearer-0123456789", "x-api-key": secret };
  const send = () => Promise.reject(new TypeError(`no ${secret}, no bearer-0123456789`));
  const lines = await log(
    send,
    (fetch) => assertRejects(() => fetch(URL, { ...OPTIONS, headers }), TypeError),
  );
  const error = "no [redacted], no [redacted]";
  assertEquals(lines[1], { type: "request_failed", id: 1, error });
});
