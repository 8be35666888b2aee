import { assert, assertEquals, assertFalse } from "@std/assert";
import { type AzureOptions, createAzure } from "../../adapters/azure/mod.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import {
  type ReplayFetch,
  replayFetch,
  type ReplayFixture,
} from "../../src/testing/replay_fetch.ts";
import { ManualClock } from "../conformance/ports.ts";
import { prompt } from "./rich_conversation.ts";

const BODY =
  'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const HOUR = 3_600_000;

function createRequest(
  options: StreamOptions = {},
  signal: AbortSignal = new AbortController().signal,
): StreamRequest {
  return {
    model: { provider: "azure", modelId: "gpt-5-mini", thinkingLevel: "off" },
    context: { systemPrompt: "", messages: [prompt("Hi")], tools: [] },
    options,
    signal,
  };
}

function setUpAzure(
  options: AzureOptions,
  fixture: ReplayFixture = BODY,
): { ask: (asked?: StreamRequest) => ReturnType<typeof readReply>; fetch: ReplayFetch } {
  const fetch = replayFetch(fixture);
  const streamFn = createAzure({ fetch, baseUrl: "https://r.openai.azure.com", ...options });
  return { ask: (asked = createRequest()) => readReply(streamFn(asked)), fetch };
}

/** Gives tokens with a number, good for an hour. */
function createTokenSource(
  clock: ManualClock,
): { getToken: () => Promise<object & { token: string }>; given: () => number } {
  let given = 0;
  return {
    getToken: async () => {
      given++;
      await Promise.resolve();
      return { token: `entra-token-${given}`, expiresOnTimestamp: clock.now() + HOUR };
    },
    given: () => given,
  };
}

function getSentKeys({ requests }: ReplayFetch): (string | null)[] {
  return requests.map(({ headers }) => headers.get("authorization") ?? headers.get("api-key"));
}

Deno.test("A 134: one token serves all who ask at once, and those who come later", async () => {
  const clock = new ManualClock();
  const { getToken, given } = createTokenSource(clock);
  const { ask, fetch } = setUpAzure({ getToken, clock });
  await Promise.all([ask(), ask(), ask()]);
  clock.advance(HOUR / 2);
  await ask();
  assertEquals(given(), 1);
  assertEquals(getSentKeys(fetch), Array(4).fill("Bearer entra-token-1"));
});

Deno.test("A 134: a token is asked for anew shortly before it expires", async () => {
  const clock = new ManualClock();
  const { getToken, given } = createTokenSource(clock);
  const { ask, fetch } = setUpAzure({ getToken, clock });
  await ask();
  clock.advance(HOUR - 5 * 60_000 - 1);
  await ask();
  assertEquals(given(), 1);
  clock.advance(1);
  await Promise.all([ask(), ask()]);
  assertEquals(getSentKeys(fetch), [
    "Bearer entra-token-1",
    "Bearer entra-token-1",
    "Bearer entra-token-2",
    "Bearer entra-token-2",
  ]);
});

Deno.test("a token that says nothing of its end is asked for at every request", async () => {
  let given = 0;
  const { ask, fetch } = setUpAzure({ getToken: () => `token-${++given}` });
  await ask();
  await ask();
  assertEquals(getSentKeys(fetch), ["Bearer token-1", "Bearer token-2"]);
});

Deno.test("A 134: a refused token ends the reply, and is not used again", async () => {
  const clock = new ManualClock();
  const { getToken } = createTokenSource(clock);
  const refusal = {
    status: 401,
    body: '{"error":{"code":"401","message":"Expired entra-token-1"}}',
  };
  let asked = 0;
  const { ask, fetch } = setUpAzure({ getToken, clock }, () => asked++ === 0 ? refusal : BODY);
  const { error } = await ask();
  assertEquals([error?.code, error?.retryable], ["auth_error", false]);
  assertFalse(error?.message.includes("entra-token-1"));
  assertEquals((await ask()).text, "Hi");
  assertEquals(getSentKeys(fetch), ["Bearer entra-token-1", "Bearer entra-token-2"]);
});

Deno.test("a token that cannot be had is an auth_error; the next request tries anew", async () => {
  let asked = 0;
  const getToken = () => {
    if (asked++ === 0) throw new Error("not signed in");
    return asked === 2 ? null : "token";
  };
  const { ask } = setUpAzure({ getToken });
  const { error } = await ask();
  assertEquals([error?.code, error?.message], ["auth_error", "getToken failed: not signed in"]);
  assertEquals((await ask()).error?.message, "getToken returned no token");
  assertEquals((await ask()).text, "Hi");
});

Deno.test("A 134: an abort while a token is asked for ends the stream at once, and sends nothing", async () => {
  const aborted = new AbortController();
  const waiting = Promise.withResolvers<string>();
  const { ask, fetch } = setUpAzure({ getToken: () => waiting.promise });
  const one = ask(createRequest({}, aborted.signal));
  const other = ask();
  await new Promise((resolve) => setTimeout(resolve, 1));
  aborted.abort("enough");
  const { stopReason, events } = await one;
  assertEquals([stopReason, events.length], ["aborted", 2]);
  assertEquals(fetch.requests.length, 0);
  waiting.resolve("token");
  assertEquals((await other).text, "Hi");
  assertEquals(fetch.requests.length, 1);
});

Deno.test("a request's own key is sent as a key, also where tokens are used", async () => {
  const { ask, fetch } = setUpAzure({ getToken: () => "token" });
  await ask(createRequest({ apiKey: "a-key" }));
  const [{ headers } = { headers: new Headers() }] = fetch.requests;
  assertEquals([headers.get("api-key"), headers.get("authorization")], ["a-key", null]);
  assert(fetch.requests.length === 1);
});
