import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createMemoryFiles } from "../../tests/cassettes/memory_files.ts";
import { BadRequestError } from "../core/errors.ts";
import { type CassetteExchange, formatExchange, formatHeader } from "./cassette.ts";
import { type CassetteOptions, replayCassette } from "./replay_cassette.ts";

const URL_A = "https://api.example.com/a";

const exchange: CassetteExchange = {
  exchange: 1,
  request: { method: "GET", url: URL_A, headers: {} },
  response: { at: 5, status: 201, statusText: "Made", headers: { "x-a": "1" } },
  chunks: [{ at: 10, text: "a" }, { at: 30, base64: "4oI=" }, { at: 30, base64: "rA==" }],
  end: { type: "complete", at: 40 },
};

/** Replays a cassette of one exchange. */
function createReplay(recorded: CassetteExchange = exchange, options: CassetteOptions = {}) {
  const files = createMemoryFiles();
  files.texts.set("a.jsonl", formatHeader(77) + formatExchange(recorded));
  return replayCassette("a.jsonl", { files, ...options });
}

/** An exchange that ended before a response came. */
function createUnansweredExchange(end: CassetteExchange["end"]): CassetteExchange {
  return { exchange: 1, request: exchange.request, chunks: [], end };
}

/** A sleep that takes no time, and what was waited for. */
function fakeSleep() {
  const waits: number[] = [];
  const sleep = (milliseconds: number) => {
    waits.push(milliseconds);
    return Promise.resolve();
  };
  return { waits, sleep };
}

/** Waits for the signal alone. */
function endlessSleep(_milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
}

Deno.test("a response has the status, the headers and the chunks that were recorded", async () => {
  const fetch = createReplay();
  const response = await fetch(URL_A);
  assertEquals([response.status, response.statusText, response.headers.get("x-a")], [
    201,
    "Made",
    "1",
  ]);
  const chunks: number[][] = [];
  for await (const chunk of response.body ?? []) chunks.push([...chunk]);
  assertEquals(chunks, [[97], [0xe2, 0x82], [0xac]]);
});

Deno.test("no time goes by, unless responses are to take as long as they took", async () => {
  const atOnce = fakeSleep();
  await (await createReplay(exchange, { sleep: atOnce.sleep })(URL_A)).text();
  assertEquals(atOnce.waits, []);
  const { sleep, waits } = fakeSleep();
  await (await createReplay(exchange, { sleep, timing: "as_recorded" })(URL_A)).text();
  assertEquals(waits, [5, 5, 20, 10]);
});

Deno.test("connections fail as they failed, before and within a response", async () => {
  const end = { type: "failed", at: 1, name: "TypeError", message: "connection reset" } as const;
  await assertRejects(
    () => createReplay(createUnansweredExchange(end))(URL_A),
    TypeError,
    "connection reset",
  );
  const response = await createReplay({ ...exchange, end })(URL_A);
  await assertRejects(() => response.text(), TypeError, "connection reset");
});

Deno.test("an exchange that was aborted waits for the abort, a second longer than it took", async () => {
  const end = { type: "aborted", at: 50 } as const;
  const controller = new AbortController();
  const { signal } = controller;
  const response = await createReplay({ ...exchange, end }, { sleep: endlessSleep })(URL_A, {
    signal,
  });
  const reading = response.text();
  controller.abort(new Error("enough"));
  await assertRejects(() => reading, Error, "enough");
  const { sleep, waits } = fakeSleep();
  const left = await createReplay({ ...exchange, end }, { sleep })(URL_A);
  await assertRejects(() => left.text(), DOMException, "The recording was broken off here");
  await assertRejects(
    () => createReplay(createUnansweredExchange(end), { sleep })(URL_A),
    DOMException,
    "broken off",
  );
  assertEquals(waits, [1020, 1050]);
});

Deno.test("an abort ends a wait for the recorded time at once", async () => {
  const options = { sleep: endlessSleep, timing: "as_recorded" } as const;
  for (const recorded of [exchange, createUnansweredExchange({ type: "aborted", at: 50 })]) {
    const controller = new AbortController();
    const asking = createReplay(recorded, options)(URL_A, { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 0));
    controller.abort(new Error("enough"));
    await assertRejects(() => asking, Error, "enough");
  }
});

Deno.test("a request that is aborted already uses nothing up", async () => {
  const fetch = createReplay();
  const signal = AbortSignal.abort(new Error("enough"));
  await assertRejects(() => fetch(URL_A, { signal }), Error, "enough");
  assertEquals((await fetch(URL_A)).status, 201);
});

Deno.test("what was not asked for is told", async () => {
  const fetch = createReplay();
  assertThrows(() => fetch.assertDone(), Error, 'Nothing has been asked of the cassette "a.jsonl"');
  await assertRejects(() => fetch(`${URL_A}/b`), BadRequestError, `  GET ${URL_A}`);
  const error = assertThrows(() => fetch.assertDone(), Error);
  assertEquals(
    error.message,
    `The cassette "a.jsonl" holds more than was asked for:\n  exchange 1, GET ${URL_A}`,
  );
  await (await fetch(URL_A)).text();
  fetch.assertDone();
});

Deno.test("a request that was not recorded is not worth a retry", async () => {
  const error = await assertRejects(() => createReplay()(`${URL_A}/b`), BadRequestError);
  assertEquals([error.code, error.retryable], ["bad_request", false]);
});

Deno.test("the time of the recording is known", async () => {
  assertEquals(await createReplay().recordedAt(), 77);
});

Deno.test("a file that is not there, or cannot be read, is told with what to do", async () => {
  const files = createMemoryFiles();
  await assertRejects(
    () => replayCassette("b.jsonl", { files })(URL_A),
    BadRequestError,
    'There is no cassette "b.jsonl": record it with recordFetch first',
  );
  const read = () => Promise.reject(new Error("permission denied"));
  await assertRejects(
    () => replayCassette("b.jsonl", { files: { ...files, read } })(URL_A),
    BadRequestError,
    'Cannot read the cassette "b.jsonl": permission denied',
  );
});

Deno.test("texts that were kept out of a recording are kept out of what is compared", async () => {
  const request = { ...exchange.request, method: "POST", body: { text: "I am [redacted]" } };
  const options = { secrets: ["somebody"] };
  const response = await createReplay({ ...exchange, request }, options)(URL_A, {
    method: "POST",
    body: "I am somebody",
  });
  assertEquals(response.status, 201);
});
