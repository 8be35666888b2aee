/**
 * Tests of an adapter with recorded streams and error responses.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { AgentErrorCode } from "../../src/core/errors/errors.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import type { Usage } from "../../src/core/models/usage.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { type ChunkSizes, createFaultyBody } from "../../src/testing/faulty_body.ts";
import { type CollectedReply, readReply } from "../../src/testing/read_reply.ts";
import {
  getFixtureDirectory,
  type GroundTruth,
  isSameValue,
  loadWireErrors,
  loadWireFixtures,
  selectChunkSizes,
  type WireErrorResponse,
  type WireFixture,
} from "./wire_fixtures.ts";

/** An adapter, and the conversion of the ground truth of recordings to its replies. */
export interface WireSubject {
  /** Creates the stream function for a recording. */
  readonly createStreamFn: (fetch: typeof globalThis.fetch, fixture: WireFixture) => StreamFn;
  /** Provider name in the request. */
  readonly provider: string;
  /** Converts the usage that the provider reported. */
  readonly toExpectedUsage: (truth: GroundTruth) => Partial<Usage>;
  /** Converts the provider's stop reason to a stop reason or an error code. */
  readonly toExpectedStop: (truth: GroundTruth) => string;
  /** Whether a recording is not for this adapter. */
  readonly shouldSkip?: (fixture: WireFixture) => boolean;
}

/** Registers a test for each recorded stream of some groups. */
export function testRecordings(groups: readonly string[], subject: WireSubject): void {
  const fixtures = groups.flatMap(loadWireFixtures).filter((fixture) =>
    !subject.shouldSkip?.(fixture)
  );
  for (const fixture of fixtures) {
    Deno.test(`recording ${fixture.name}: reads the expected reply in chunks of any size`, async () => {
      for (const chunkSizes of selectChunkSizes(fixture)) {
        assertTruth(await readRecording(fixture, subject, chunkSizes), fixture, subject);
      }
    });
  }
  skipWithoutRecordings(`recordings of ${groups.join(", ")}`, fixtures.length);
}

/** Registers a test for each recorded error response of some providers. */
export function testErrorResponses(
  providers: readonly string[],
  createStreamFn: (fetch: typeof globalThis.fetch) => StreamFn,
): void {
  const responses = loadWireErrors(providers);
  for (const response of responses) {
    Deno.test(`recorded error ${response.provider}/${response.name}: is classified`, async () => {
      const streamFn = createStreamFn(() => Promise.resolve(toResponse(response)));
      const { error } = await readReply(
        streamFn(createMinimalRequest(response.provider, "some-model")),
      );
      const isMalformed = response.body.includes('"tool_use_failed"');
      const expected = isMalformed ? MALFORMED_CALL : ERROR_BY_KIND[response.kind];
      assert(expected, `unknown kind ${response.kind}`);
      const found = { code: error?.code, retryable: error?.retryable };
      assertEquals(found, expected, error?.message ?? "");
      assertEquals(error?.status, response.status);
    });
  }
  skipWithoutRecordings(`recorded errors of ${providers.join(", ")}`, responses.length);
}

/** Expected error by kind of recorded error response. */
const ERROR_BY_KIND: Readonly<Record<string, { code: AgentErrorCode; retryable: boolean }>> = {
  "context-overflow": { code: "context_window_overflow", retryable: false },
  "request-too-large": { code: "context_window_overflow", retryable: false },
  "invalid-request": { code: "bad_request", retryable: false },
  "not-found": { code: "model_not_found", retryable: false },
  "rate-limit": { code: "model_throttled", retryable: true },
  "quota": { code: "model_throttled", retryable: false },
  "server-error": { code: "network_error", retryable: true },
  "overloaded": { code: "network_error", retryable: true },
  "auth": { code: "auth_error", retryable: false },
  "permission": { code: "auth_error", retryable: false },
  "content-filter": { code: "content_filtered", retryable: false },
};

/** Expected error of a call that the model wrote wrongly, which the recordings count among invalid requests. */
const MALFORMED_CALL = { code: "bad_request", retryable: true } as const;

/** Reads a recording with an adapter, in chunks of the given sizes. */
export async function readRecording(
  fixture: WireFixture,
  { createStreamFn, provider }: WireSubject,
  chunkSizes: ChunkSizes,
): Promise<CollectedReply> {
  const { stream } = createFaultyBody(fixture.bytes, { chunkSizes });
  const headers = { "content-type": fixture.contentType };
  const streamFn = createStreamFn(
    () => Promise.resolve(new Response(stream, { headers })),
    fixture,
  );
  return await readReply(streamFn(createMinimalRequest(provider, fixture.model)));
}

function assertTruth(reply: CollectedReply, fixture: WireFixture, subject: WireSubject): void {
  const { truth } = fixture;
  const hasUnknownPart = reply.warnings.some(({ code }) => code === "unknown_part");
  assertEquals(hasUnknownPart, fixture.name.includes("unknown-event"));
  assertEquals(reply.text, truth.text);
  assertEquals(reply.thinking, truth.thinking);
  if (truth.outcome === "ok" || truth.outcome === "ok-or-protocol-error") {
    const reason = reply.error ? reply.error.code : reply.stopReason;
    assertEquals(reason, subject.toExpectedStop(truth), reply.error?.message ?? "");
    assertCalls(reply, truth);
    const { extra = {}, ...counts } = subject.toExpectedUsage(truth);
    // The recordings do not count the requests of server tools.
    const found = { ...reply.usage, ...reply.usage?.extra };
    for (const [key, count] of Object.entries({ ...counts, ...extra })) {
      const actual: unknown = Reflect.get(found, key);
      assert(isSameValue(actual, count), `usage.${key}: ${actual}, not ${JSON.stringify(count)}`);
    }
  } else {
    assert(reply.error, `${truth.outcome} must fail`);
    if (truth.outcome === "truncated") assertEquals(reply.error.code, "network_error");
  }
}

function assertCalls(reply: CollectedReply, truth: GroundTruth): void {
  const expected = truth.toolCalls.map(({ id, name, args }) => ({ id, name, args }));
  assertEquals(reply.calls.length, expected.length);
  for (const [index, { id, name, args }] of expected.entries()) {
    const call = reply.calls[index];
    assertEquals(call?.name, name);
    if (id) assertEquals(call?.id, id);
    // A truncated call, or one that is not JSON, has no arguments to compare.
    if (call?.state === "complete") assert(isSameValue(call.arguments, args), JSON.stringify(call));
    else assert(reply.stopReason === "length" || "__unparsable" in args, JSON.stringify(call));
  }
}

/** Creates a request with one message. */
export function createMinimalRequest(provider: string, modelId: string): Parameters<StreamFn>[0] {
  const model: ModelSpec = { provider, modelId, thinkingLevel: "off" };
  return {
    model,
    context: {
      systemPrompt: "",
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }], timestamp: 0 }],
      tools: [],
    },
    options: { apiKey: "sk-test" },
    signal: new AbortController().signal,
  };
}

function toResponse({ status, headers, contentType, body }: WireErrorResponse): Response {
  return new Response(body, { status, headers: { "content-type": contentType, ...headers } });
}

function skipWithoutRecordings(name: string, count: number): void {
  if (count > 0 || getFixtureDirectory() !== undefined) return;
  Deno.test({ name: `${name}: SWINK_WIRE_FIXTURES is not set`, ignore: true, fn() {} });
}
