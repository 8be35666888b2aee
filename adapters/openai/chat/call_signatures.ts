/**
 * Signatures of tool calls, which Gemini models require in later requests. Google's server with the chat completions API
 * sends them with each call, and OpenRouter in `reasoning_details`.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../src/core/json/json.ts";
import { parseJsonOrUndefined } from "../../../src/core/json/parse_json.ts";
import type { WireReasoningDetail } from "./wire.ts";

/** Returns the signature of a call, which keeps the member in which the server sent it; `undefined` without one. */
export function toCallSignature(extraContent: unknown): string | undefined {
  return isSigned(extraContent) ? JSON.stringify(extraContent) : undefined;
}

/** Returns the member of a call with its signature, as the server sent it. */
export function toExtraContent(signature: string | undefined): JsonObject {
  const extraContent = parseJsonOrUndefined(signature ?? "");
  return isSigned(extraContent) ? { extra_content: extraContent } : {};
}

/** Whether a value is such as `{ "google": { "thought_signature": "…" } }`; the name differs at Vertex AI. */
function isSigned(value: unknown): boolean {
  const vendors = isJsonObject(value) ? Object.values(value) : [];
  return vendors.some((vendor) =>
    isJsonObject(vendor) && typeof vendor["thought_signature"] === "string"
  );
}

/** Creates the details for the calls of another model, with Google's placeholder for a signature: one for all calls. */
export function createUnsignedDetails(firstCallId: string): readonly WireReasoningDetail[] {
  return [{
    type: "reasoning.encrypted",
    data: "skip_thought_signature_validator",
    id: firstCallId,
    format: "google-gemini-v1",
    index: 0,
  }];
}
