import { assertEquals, assertRejects } from "@std/assert";
import { recordFetch } from "../../cassettes/record_fetch.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { replayAgent } from "./replay_agent.ts";

const PROMPT = "Answer within 30 seconds. It is 2026-11-28T10:00:00Z.";

Deno.test("replayAgent: answers when a request for an access token precedes the first request", async () => {
  await using directory = await createDirectory();
  const { fetch } = replayAgent(await recordPrompt(directory.path));
  assertEquals(await requestToken(fetch), "{}");
  assertEquals(await requestModel(fetch, PROMPT), "{}");
  fetch.assertDone();
});

Deno.test("replayAgent: compares the first prompt exactly when a request for an access token precedes it", async () => {
  await using directory = await createDirectory();
  const { fetch } = replayAgent(await recordPrompt(directory.path));
  await requestToken(fetch);
  const changed = PROMPT.replace("30", "60");
  await assertRejects(() => requestModel(fetch, changed), BadRequestError, "60 seconds");
});

Deno.test("replayAgent: normalizes a text that all later requests repeat only once", async () => {
  await using directory = await createDirectory();
  const cassette = `${directory.path}/case.1.jsonl`;
  const results = ["one", "two", "three", "four"];
  const requestAll = async (fetch: typeof globalThis.fetch) => {
    for (const index of [0, 1, 2, 3, 4]) {
      await requestModel(fetch, PROMPT, results.slice(0, index));
    }
  };
  const recorder = recordFetch(() => Promise.resolve(new Response("{}")), cassette);
  await requestAll(recorder);
  await recorder.close();
  const normalized: string[] = [];
  const normalize = (text: string) => {
    normalized.push(text);
    return text;
  };
  const { fetch } = replayAgent(cassette, { normalize });
  await requestAll(fetch);
  fetch.assertDone();
  assertEquals(normalized.filter((text) => text !== PROMPT), results);
});

/** Records a prompt behind a request for an access token; returns the path of the cassette. */
async function recordPrompt(directory: string): Promise<string> {
  const cassette = `${directory}/case.1.jsonl`;
  const recorder = recordFetch(() => Promise.resolve(new Response("{}")), cassette);
  await requestToken(recorder);
  await requestModel(recorder, PROMPT);
  await recorder.close();
  return cassette;
}

async function createDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await Deno.makeTempDir();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

async function requestToken(fetch: typeof globalThis.fetch): Promise<string> {
  const body = new URLSearchParams({ grant_type: "client_credentials" });
  const response = await fetch("https://login.example.com/token", { method: "POST", body });
  return await response.text();
}

async function requestModel(
  fetch: typeof globalThis.fetch,
  system: string,
  results: readonly string[] = [],
): Promise<string> {
  const response = await fetch("https://api.example.com/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ system, results }),
  });
  return await response.text();
}
