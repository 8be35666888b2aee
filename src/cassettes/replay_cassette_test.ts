import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createMemoryFiles } from "../../tests/cassettes/memory_files.ts";
import { BadRequestError } from "../core/errors/errors.ts";
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

/** Creates a replay of a cassette with one exchange. */
function createReplay(recorded: CassetteExchange = exchange, options: CassetteOptions = {}) {
  const files = createMemoryFiles();
  files.texts.set("a.jsonl", formatHeader(77) + formatExchange(recorded));
  return replayCassette("a.jsonl", { files, ...options });
}

/** Creates an exchange without a response. */
function createUnansweredExchange(end: CassetteExchange["end"]): CassetteExchange {
  return { exchange: 1, request: exchange.request, chunks: [], end };
}

/** Creates a sleep that returns at once and records its arguments. */
function createInstantSleep() {
  const waits: number[] = [];
  const sleep = (milliseconds: number) => {
    waits.push(milliseconds);
    return Promise.resolve();
  };
  return { waits, sleep };
}

/** Sleeps until the signal fires. */
function sleepUntilAborted(_milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
}

Deno.test("replayCassette() returns the recorded status, headers and chunks", async () => {
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

Deno.test("replayCassette() ignores the parts of a body that normalize replaces, on both sides", async () => {
  const request = (text: string) => ({ messages: [{ text }], took: 5 });
  const recorded = {
    ...exchange,
    request: { method: "POST", url: URL_A, headers: {}, body: { json: request("took 17 ms") } },
  };
  const send = (text: string, options: CassetteOptions) =>
    createReplay(recorded, options)(URL_A, { method: "POST", body: JSON.stringify(request(text)) });
  const normalize = (text: string) => text.replaceAll(/\d+ ms/g, "<duration>");
  assertEquals((await send("took 3 ms", { normalize })).status, 201);
  await assertRejects(() => send("took 3 ms", {}), BadRequestError, "took 3 ms");
  await assertRejects(() => send("ended 3 ms", { normalize }), BadRequestError, "ended <duration>");
});

Deno.test("replayCassette() refuses a normalize that returns no text, since all requests would match", async () => {
  const recorded = {
    ...exchange,
    request: { method: "POST", url: URL_A, headers: {}, body: { text: "Hello" } },
  };
  for (
    const [normalize, kind] of [
      [() => undefined, "undefined"],
      [() => Promise.reject(new Error("not caught")), "a promise"],
    ] as const
  ) {
    const options = { normalize } as object;
    await assertRejects(
      () => createReplay(recorded, options)(URL_A, { method: "POST", body: "Bye" }),
      BadRequestError,
      `normalize must return a text, not ${kind}`,
    );
  }
});

Deno.test("replayCassette() waits only with timing as_recorded", async () => {
  const atOnce = createInstantSleep();
  await (await createReplay(exchange, { sleep: atOnce.sleep })(URL_A)).text();
  assertEquals(atOnce.waits, []);
  const { sleep, waits } = createInstantSleep();
  await (await createReplay(exchange, { sleep, timing: "as_recorded" })(URL_A)).text();
  assertEquals(waits, [5, 5, 20, 10]);
});

Deno.test("replayCassette() repeats network errors before and within a response", async () => {
  const end = { type: "failed", at: 1, name: "TypeError", message: "connection reset" } as const;
  await assertRejects(
    () => createReplay(createUnansweredExchange(end))(URL_A),
    TypeError,
    "connection reset",
  );
  const response = await createReplay({ ...exchange, end })(URL_A);
  await assertRejects(() => response.text(), TypeError, "connection reset");
});

Deno.test("replayCassette() waits for the abort of an aborted exchange, up to a second longer than recorded", async () => {
  const end = { type: "aborted", at: 50 } as const;
  const controller = new AbortController();
  const { signal } = controller;
  const response = await createReplay({ ...exchange, end }, { sleep: sleepUntilAborted })(URL_A, {
    signal,
  });
  const reading = response.text();
  controller.abort(new Error("enough"));
  await assertRejects(() => reading, Error, "enough");
  const { sleep, waits } = createInstantSleep();
  const unaborted = await createReplay({ ...exchange, end }, { sleep })(URL_A);
  await assertRejects(
    () => unaborted.text(),
    DOMException,
    "The recorded request was aborted here",
  );
  await assertRejects(
    () => createReplay(createUnansweredExchange(end), { sleep })(URL_A),
    DOMException,
    "aborted here",
  );
  assertEquals(waits, [1020, 1050]);
});

Deno.test("replayCassette() ends a wait for the recorded time on abort", async () => {
  const options = { sleep: sleepUntilAborted, timing: "as_recorded" } as const;
  for (const recorded of [exchange, createUnansweredExchange({ type: "aborted", at: 50 })]) {
    const controller = new AbortController();
    const response = createReplay(recorded, options)(URL_A, { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 0));
    controller.abort(new Error("enough"));
    await assertRejects(() => response, Error, "enough");
  }
});

Deno.test("replayCassette() uses no exchange when the request is already aborted", async () => {
  const fetch = createReplay();
  const signal = AbortSignal.abort(new Error("enough"));
  await assertRejects(() => fetch(URL_A, { signal }), Error, "enough");
  assertEquals((await fetch(URL_A)).status, 201);
});

Deno.test("assertDone() lists the unused exchanges", async () => {
  const fetch = createReplay();
  assertThrows(
    () => fetch.assertDone(),
    Error,
    'Cassette "a.jsonl" was not used: no request was sent',
  );
  await assertRejects(() => fetch(`${URL_A}/b`), BadRequestError, `  GET ${URL_A}`);
  const error = assertThrows(() => fetch.assertDone(), Error);
  assertEquals(
    error.message,
    `Cassette "a.jsonl" has unused exchanges:\n  exchange 1, GET ${URL_A}`,
  );
  await (await fetch(URL_A)).text();
  fetch.assertDone();
});

Deno.test("replayCassette() rejects an unrecorded request with an error that is not retryable", async () => {
  const error = await assertRejects(() => createReplay()(`${URL_A}/b`), BadRequestError);
  assertEquals([error.code, error.retryable], ["bad_request", false]);
});

Deno.test("recordedAt() returns the start of the recording", async () => {
  assertEquals(await createReplay().recordedAt(), 77);
});

Deno.test("replayCassette() names the cassette that is missing or cannot be read", async () => {
  const files = createMemoryFiles();
  await assertRejects(
    () => replayCassette("b.jsonl", { files })(URL_A),
    BadRequestError,
    'Cannot read cassette "b.jsonl": file not found; record it first',
  );
  const read = () => Promise.reject(new Error("permission denied"));
  await assertRejects(
    () => replayCassette("b.jsonl", { files: { ...files, read } })(URL_A),
    BadRequestError,
    'Cannot read cassette "b.jsonl": permission denied',
  );
});

Deno.test("replayCassette() redacts the secrets option before it compares requests", async () => {
  const request = { ...exchange.request, method: "POST", body: { text: "I am [redacted]" } };
  const options = { secrets: ["Ada Lovelace"] };
  const response = await createReplay({ ...exchange, request }, options)(URL_A, {
    method: "POST",
    body: "I am Ada Lovelace",
  });
  assertEquals(response.status, 201);
});

Deno.test("replayCassette() returns a response without a body where its status forbids one", async () => {
  for (const status of [204, 205, 304]) {
    const response = { at: 0, status, headers: {} };
    const fetch = createReplay({ ...exchange, response, chunks: [] });
    const replayed = await fetch(URL_A);
    assertEquals([replayed.status, replayed.body], [status, null]);
  }
});

Deno.test("replayCassette() throws for unknown and invalid options", () => {
  const cases: readonly (readonly [options: object, message: string])[] = [
    [{ secret: [] }, "did you mean secrets?"],
    [{ secrets: "key-of-mine" }, "must be an array of texts"],
    [{ timing: "asRecorded" }, 'timing must be "at_once" or "as_recorded", not "asRecorded"'],
    [{ timing: true }, "not true"],
  ];
  for (const [options, message] of cases) {
    assertThrows(() => replayCassette("a.jsonl", options), BadRequestError, message);
  }
  replayCassette("a.jsonl", { timing: undefined, secrets: undefined });
});
