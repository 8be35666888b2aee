/**
 * The audit trail of an evaluation.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";
import { toCanonicalText } from "../../core/json_schema/canonical_text.ts";
import { encodeHex } from "../../core/text/byte_encoding.ts";
import { findBuiltinModule } from "../../platform/builtin_modules.ts";
import type { EvalSetResult } from "../run/case_result.ts";

/** Results with their hash. */
export interface AuditTrail {
  /** Version of the format. */
  readonly version: 1;
  /** The results. */
  readonly result: EvalSetResult;
  /** SHA-256 hash of version and result as canonical JSON, in hexadecimal. */
  readonly hash: string;
}

/**
 * Adds a hash to results, which does not depend on the order of properties. It detects changes by accident and edits of
 * the results alone; it is no signature, since an editor can replace the hash, too.
 *
 * @example
 * ```ts
 * import { createAuditTrail, verifyAuditTrail } from "@swink/agent/eval";
 *
 * const trail = await createAuditTrail({ setId: "greetings", results: [] });
 * await verifyAuditTrail(JSON.parse(JSON.stringify(trail))); // true
 * ```
 */
export async function createAuditTrail(result: EvalSetResult): Promise<AuditTrail> {
  return { version: 1, result, hash: await hashCanonical({ version: 1, result }) };
}

/** Whether a value is an audit trail whose hash is that of its results. */
export async function verifyAuditTrail(trail: unknown): Promise<boolean> {
  if (!isJsonObject(trail) || trail["version"] !== 1 || !isJsonObject(trail["result"])) {
    return false;
  }
  const { hash, ...content } = trail;
  return hash === await hashCanonical(content);
}

/** Returns the SHA-256 hash of a value as canonical JSON, in hexadecimal. */
export function hashCanonical(content: object): Promise<string> {
  return hashText(toCanonicalText(content));
}

/**
 * Returns the SHA-256 hash of a text, in hexadecimal. The function of Node takes a fifth of the time of that of the Web
 * Platform, which passes each text to another thread.
 */
export async function hashText(text: string): Promise<string> {
  const node = findBuiltinModule("node:crypto");
  if (node) return node.createHash("sha256").update(text).digest("hex");
  const bytes = new TextEncoder().encode(text);
  return encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
