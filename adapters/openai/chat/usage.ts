/**
 * Conversion of usage and cost in chat completions.
 *
 * @module
 */

import { type Cost, type Usage, zeroCost } from "../../../src/core/models/usage.ts";
import { countOrZero } from "../../kit/stream/wire_values.ts";
import type { WireCost, WireUsage } from "./wire.ts";

/** xAI reports costs in units of 1e-10 US dollars. */
const TICKS_PER_DOLLAR = 1e10;

/** Converts token counts. OpenAI's `prompt_tokens` includes cache reads and writes, `Usage.input` does not. */
export function toChatUsage(counts: WireUsage): Usage {
  const prompt = countOrZero(counts.prompt_tokens);
  const details = counts.prompt_tokens_details;
  const cacheRead = countOrZero(
    details?.cached_tokens ?? counts.prompt_cache_hit_tokens ?? counts.cached_tokens,
  );
  const cacheWrite = countOrZero(details?.cache_write_tokens ?? details?.cache_creation_tokens);
  const reasoning = counts.completion_tokens_details?.reasoning_tokens ?? undefined;
  const output = countOutput(counts, countOrZero(reasoning));
  return {
    input: Math.max(0, prompt - cacheRead - cacheWrite),
    output,
    cacheRead,
    cacheWrite,
    total: countOrZero(counts.total_tokens) || prompt + output,
    ...(reasoning !== undefined && { extra: { reasoning: countOrZero(reasoning) } }),
  };
}

/** Returns the output tokens. xAI excludes reasoning from the completion tokens, which the total reveals. */
function countOutput(counts: WireUsage, reasoning: number): number {
  const completion = countOrZero(counts.completion_tokens);
  const counted = countOrZero(counts.prompt_tokens) + completion;
  return counts.total_tokens === counted + reasoning ? completion + reasoning : completion;
}

/** Returns the cost that the provider reports, if any. */
export function toChatCost(counts: WireCost): Cost | undefined {
  const { cost, cost_in_usd_ticks: ticks } = counts;
  if (typeof cost === "number") return toCost(counts.is_byok ? addOwnCost(counts, cost) : cost);
  return typeof ticks === "number" ? toCost(ticks / TICKS_PER_DOLLAR) : undefined;
}

/**
 * Adds what the provider behind OpenRouter charges for a call with the user's key for that provider: the cost of such a
 * call is OpenRouter's fee alone, often 0. It is unknown if OpenRouter does not report it.
 */
function addOwnCost({ cost_details: details }: WireCost, fee: number): number | null {
  const own = details?.upstream_inference_cost;
  return typeof own === "number" && own >= 0 ? fee + own : null;
}

function toCost(total: number | null): Cost {
  return { ...zeroCost(), total };
}
