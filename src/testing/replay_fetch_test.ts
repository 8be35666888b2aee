import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { BadRequestError } from "../core/errors/errors.ts";
import { replayFetch, type ReplayOptions } from "./replay_fetch.ts";

const url = "https://api.example.com/v1/messages";

async function readChunks(response: Response): Promise<string[]> {
  const chunks: string[] = [];
  const decoder = new TextDecoder("latin1");
  for await (const chunk of response.body ?? []) chunks.push(decoder.decode(chunk));
  return chunks;
}

Deno.test("replayFetch() answers with status 200 when the fixture is a string", async () => {
  const response = await replayFetch("data: hi\n\n")(url);
  assertEquals(response.status, 200);
  assertEquals(await response.text(), "data: hi\n\n");
});

Deno.test("replayFetch() answers with the given status, headers and body", async () => {
  const fetch = replayFetch({ status: 429, headers: { "retry-after": "2" }, body: "slow down" });
  const response = await fetch(url);
  assertEquals(response.status, 429);
  assertEquals(response.ok, false);
  assertEquals(response.headers.get("retry-after"), "2");
  assertEquals(await response.text(), "slow down");
});

Deno.test("replayFetch() splits a body into chunks of the given size, also within characters", async () => {
  const body = new TextEncoder().encode("aé€");
  assertEquals((await readChunks(await replayFetch(body)(url))).length, 1);
  const single = await readChunks(await replayFetch(body, { chunkBytes: 1 })(url));
  assertEquals(single.map((chunk) => chunk.length), [1, 1, 1, 1, 1, 1]);
  const pairs = await replayFetch(body, { chunkBytes: 4 })(url);
  assertEquals((await readChunks(pairs)).map((chunk) => chunk.length), [4, 2]);
});

Deno.test("replayFetch() records method, headers and body of requests", async () => {
  const fetch = replayFetch("{}");
  await (await fetch(url, { method: "POST", headers: { "x-api-key": "k" }, body: "{}" })).text();
  await (await fetch(new Request(url, { headers: { accept: "text/plain" } }))).text();
  assertEquals(
    fetch.requests.map(({ url, method, headers, body }) => ({
      url,
      method,
      key: headers.get("x-api-key"),
      body,
    })),
    [{ url, method: "POST", key: "k", body: "{}" }, { url, method: "GET", key: null, body: "" }],
  );
});

Deno.test("replayFetch() answers one request per fixture of an array and rejects further ones", async () => {
  const fetch = replayFetch(["first", new TypeError("connection refused")]);
  assertEquals(await (await fetch(url)).text(), "first");
  await assertRejects(() => fetch(url), TypeError, "connection refused");
  await assertRejects(
    () => fetch(url),
    TypeError,
    "Cannot answer request 3: there is no fixture for it",
  );
});

Deno.test("replayFetch() calls a function with the request", async () => {
  const fetch = replayFetch(({ body }) => ({ status: body === "" ? 400 : 200, body }));
  assertEquals((await fetch(url)).status, 400);
  assertEquals(await (await fetch(url, { method: "POST", body: "echo" })).text(), "echo");
});

Deno.test("replayFetch() rejects with the reason of an aborted signal", async () => {
  const fetch = replayFetch("x");
  const reason = new Error("enough");
  await assertRejects(() => fetch(url, { signal: AbortSignal.abort(reason) }), Error, "enough");
  assertEquals(fetch.requests.length, 0);
});

Deno.test("replayFetch() rejects when the signal is aborted while a function creates the answer", async () => {
  const controller = new AbortController();
  const fetch = replayFetch(() => {
    controller.abort(new Error("enough"));
    return "late";
  });
  await assertRejects(() => fetch(url, { signal: controller.signal }), Error, "enough");
});

Deno.test("replayFetch() errors a hanging body on abort", async () => {
  const controller = new AbortController();
  const fetch = replayFetch({ body: "half", ending: "hang" }, { chunkBytes: 2 });
  const response = await fetch(url, { signal: controller.signal });
  const reader = response.body?.getReader();
  assertEquals((await reader?.read())?.value?.length, 2);
  assertEquals((await reader?.read())?.value?.length, 2);
  const waiting = reader?.read();
  controller.abort(new Error("enough"));
  await assertRejects(() => Promise.resolve(waiting), Error, "enough");
});

Deno.test("replayFetch() errors the body after a reset", async () => {
  const response = await replayFetch({ body: "half", ending: "reset" })(url);
  await assertRejects(() => response.text(), TypeError);
});

Deno.test("replayFetch() answers without a body where the status forbids one", async () => {
  for (const status of [204, 205, 304]) {
    const response = await replayFetch({ status, body: "ignored" })(url);
    assertEquals([response.status, response.body], [status, null]);
  }
});

Deno.test("replayFetch() throws for invalid options, which could send a body without end", () => {
  for (const chunkBytes of [0, -1, NaN, "4"]) {
    assertThrows(
      () => replayFetch("abc", { chunkBytes: chunkBytes as number }),
      BadRequestError,
      "chunkBytes must be a number of at least 1, not",
    );
  }
  assertThrows(
    () => replayFetch("abc", { chunkbyte: 1 } as ReplayOptions),
    BadRequestError,
    "did you mean chunkBytes?",
  );
});

Deno.test("replayFetch() rejects the request of an invalid fixture", async () => {
  const cases: readonly (readonly [fixture: unknown, message: string])[] = [
    [5, "A fixture must be a body, or a response such as { status: 429 }, not 5"],
    [() => undefined, "such as { status: 429 }, not undefined"],
    [new Response("Hello"), "must be a text or bytes, not an object"],
    [{ body: { a: 1 } }, "must be a text or bytes, not an object"],
    [{ bodyy: "x" }, "did you mean body?"],
    [{ ending: "rst" }, 'ending must be "close", "reset" or "hang", not "rst"'],
  ];
  for (const [fixture, message] of cases) {
    await assertRejects(() => replayFetch(fixture as string)(url), BadRequestError, message);
  }
});
