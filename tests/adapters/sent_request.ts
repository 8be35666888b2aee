/**
 * Requests of adapters, and comparison with golden files.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { StreamFn, StreamRequest, StreamWarningEvent } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { findBrokenRules } from "./body_rules.ts";

/** A request as sent by an adapter. */
export interface SentRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly body: JsonObject;
  readonly warnings: readonly StreamWarningEvent[];
}

/** Calls a stream function and returns the HTTP request that it sends, which must break no known rule of its API. */
export async function captureRequest(
  createStreamFn: (fetch: typeof globalThis.fetch) => StreamFn,
  request: StreamRequest,
): Promise<SentRequest> {
  const fetch = replayFetch({ status: 500, body: "recorded" });
  const { warnings, error } = await readReply(createStreamFn(fetch)(request));
  const [sent] = fetch.requests;
  if (!sent) throw new Error(`No request was sent: ${error?.message}`);
  const body: JsonObject = JSON.parse(sent.body);
  assertEquals(findBrokenRules(sent.url, body), [], sent.body);
  return { url: sent.url, headers: sent.headers, body, warnings };
}

/** Compares a body with a golden file. `SWINK_GOLDEN=write` updates the file; review the change. */
export function assertGolden(body: JsonObject, file: string): void {
  const url = new URL(`../fixtures/${file}`, import.meta.url);
  if (Deno.env.get("SWINK_GOLDEN") === "write") {
    Deno.writeTextFileSync(url, JSON.stringify(body, null, 2) + "\n");
  }
  assertEquals(body, JSON.parse(Deno.readTextFileSync(url)));
}
