/**
 * Types of the Responses API; only the fields that are used.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import type { WireCost } from "../chat/wire.ts";

/** Prefix of the type names of extension blocks with items of the API. */
export const ITEM_PREFIX = "openai.";

/** An item of a request or a reply. */
export type WireItem = JsonObject & {
  readonly type: string;
  readonly id?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: unknown;
  readonly phase?: string | null;
  readonly content?: unknown;
  readonly status?: string | null;
  readonly action?: JsonObject | null;
  readonly encrypted_content?: string | null;
};

/** Token counts. */
export interface WireResponseUsage extends WireCost {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly total_tokens?: number;
  readonly input_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
  } | null;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
}

/** The response in the last event of a stream. */
export interface WireResponse {
  readonly id?: string | null;
  readonly status?: string | null;
  readonly error?: unknown;
  readonly output?: readonly WireItem[] | null;
  readonly incomplete_details?: { readonly reason?: string | null } | null;
  readonly usage?: WireResponseUsage | null;
  /** Tier that served the request. */
  readonly service_tier?: string | null;
}

/** An event of a stream. */
export type WireEvent =
  | {
    readonly type:
      | "response.output_text.delta"
      | "response.refusal.delta"
      | "response.reasoning_summary_text.delta"
      | "response.reasoning_text.delta";
    readonly delta: string;
  }
  | { readonly type: "response.output_text.done"; readonly text: string }
  | { readonly type: "response.refusal.done"; readonly refusal: string }
  | { readonly type: "response.output_text.annotation.added"; readonly annotation: unknown }
  | {
    readonly type: "response.function_call_arguments.delta";
    readonly output_index?: number | string | null;
    readonly item_id?: string | null;
    readonly delta: string;
  }
  | {
    readonly type: "response.function_call_arguments.done";
    readonly output_index?: number | string | null;
    readonly item_id?: string | null;
    readonly arguments: string;
  }
  | { readonly type: "response.reasoning_summary_part.added" }
  | {
    readonly type: "response.output_item.added" | "response.output_item.done";
    readonly output_index?: number | string | null;
    readonly item: WireItem;
  }
  | {
    readonly type:
      | "response.created"
      | "response.completed"
      | "response.incomplete"
      | "response.failed";
    readonly response: WireResponse;
  }
  | { readonly type: "error" };
