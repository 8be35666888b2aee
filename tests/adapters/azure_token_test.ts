import { assert, assertEquals, assertFalse } from "@std/assert";
import { type AzureOptions, createAzure } from "../../adapters/azure/mod.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/streams/stream.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import {
  type ReplayFetch,
  replayFetch,
  type ReplayFixture,
} from "../../src/testing/replay_fetch.ts";
import { prompt } from "./rich_conversation.ts";

const BODY =
  'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const HOUR_MS = 3_600_000;

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
): { send: (request?: StreamRequest) => ReturnType<typeof readReply>; fetch: ReplayFetch } {
  const fetch = replayFetch(fixture);
  const streamFn = createAzure({
    fetch,
    api: "chat",
    baseUrl: "https://r.openai.azure.com",
    ...options,
  });
  return { send: (request = createRequest()) => readReply(streamFn(request)), fetch };
}

/** Creates a getToken that returns numbered tokens with a lifetime of one hour, and counts its calls. */
function createTokenSource(
  clock: ManualClock,
): { getToken: () => Promise<object & { token: string }>; getCount: () => number } {
  let count = 0;
  return {
    getToken: async () => {
      count++;
      await Promise.resolve();
      return { token: `entra-token-${count}`, expiresOnTimestamp: clock.now() + HOUR_MS };
    },
    getCount: () => count,
  };
}

function getSentKeys({ requests }: ReplayFetch): (string | null)[] {
  return requests.map(({ headers }) => headers.get("authorization") ?? headers.get("api-key"));
}

Deno.test("createAzure(): concurrent and later requests share one token [A134]", async () => {
  const clock = new ManualClock();
  const { getToken, getCount } = createTokenSource(clock);
  const { send, fetch } = setUpAzure({ getToken, clock });
  await Promise.all([send(), send(), send()]);
  clock.advance(HOUR_MS / 2);
  await send();
  assertEquals(getCount(), 1);
  assertEquals(getSentKeys(fetch), Array(4).fill("Bearer entra-token-1"));
});

Deno.test("createAzure(): refreshes a token shortly before it expires [A134]", async () => {
  const clock = new ManualClock();
  const { getToken, getCount } = createTokenSource(clock);
  const { send, fetch } = setUpAzure({ getToken, clock });
  await send();
  clock.advance(HOUR_MS - 5 * 60_000 - 1);
  await send();
  assertEquals(getCount(), 1);
  clock.advance(1);
  await Promise.all([send(), send()]);
  assertEquals(getSentKeys(fetch), [
    "Bearer entra-token-1",
    "Bearer entra-token-1",
    "Bearer entra-token-2",
    "Bearer entra-token-2",
  ]);
});

Deno.test("createAzure(): requests a token without an expiry for every request", async () => {
  let count = 0;
  const { send, fetch } = setUpAzure({ getToken: () => `token-${++count}` });
  await send();
  await send();
  assertEquals(getSentKeys(fetch), ["Bearer token-1", "Bearer token-2"]);
});

Deno.test("createAzure(): a rejected token ends the reply and is not reused [A134]", async () => {
  const clock = new ManualClock();
  const { getToken } = createTokenSource(clock);
  const rejection = {
    status: 401,
    body: '{"error":{"code":"401","message":"Expired entra-token-1"}}',
  };
  let calls = 0;
  const { send, fetch } = setUpAzure({ getToken, clock }, () => calls++ === 0 ? rejection : BODY);
  const { error } = await send();
  assertEquals([error?.code, error?.retryable], ["auth_error", false]);
  assertFalse(error?.message.includes("entra-token-1"));
  assertEquals((await send()).text, "Hi");
  assertEquals(getSentKeys(fetch), ["Bearer entra-token-1", "Bearer entra-token-2"]);
});

Deno.test("createAzure(): a failed getToken is an auth_error, and the next request calls it again", async () => {
  let calls = 0;
  const getToken = () => {
    if (calls++ === 0) throw new Error("not signed in");
    return calls === 2 ? null : "token";
  };
  const { send } = setUpAzure({ getToken });
  const { error } = await send();
  assertEquals([error?.code, error?.message], ["auth_error", "getToken failed: not signed in"]);
  assertEquals((await send()).error?.message, "getToken returned no token");
  assertEquals((await send()).text, "Hi");
});

Deno.test("createAzure(): an abort during getToken ends the stream at once and sends nothing [A134]", async () => {
  const controller = new AbortController();
  const token = Promise.withResolvers<string>();
  const requested = Promise.withResolvers<void>();
  const getToken = () => {
    requested.resolve();
    return token.promise;
  };
  const { send, fetch } = setUpAzure({ getToken });
  const abortedReply = send(createRequest({}, controller.signal));
  const otherReply = send();
  await requested.promise;
  controller.abort("stop");
  const { stopReason, events } = await abortedReply;
  assertEquals([stopReason, events.length], ["aborted", 2]);
  assertEquals(fetch.requests.length, 0);
  token.resolve("token");
  assertEquals((await otherReply).text, "Hi");
  assertEquals(fetch.requests.length, 1);
});

Deno.test("createAzure(): sends the key of a request as a key even with getToken", async () => {
  const { send, fetch } = setUpAzure({ getToken: () => "token" });
  await send(createRequest({ apiKey: "a-key" }));
  const [{ headers } = { headers: new Headers() }] = fetch.requests;
  assertEquals([headers.get("api-key"), headers.get("authorization")], ["a-key", null]);
  assert(fetch.requests.length === 1);
});
