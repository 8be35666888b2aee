/**
 * Token counts of chat completions in our normal form.
 *
 * @module
 */

import { type Cost, type Usage, zeroCost } from "../../../src/core/usage.ts";
import { countOrZero } from "../../kit/stream/wire_values.ts";
import type { WireUsage } from "./wire.ts";

/** xAI's prices come in ten-billionths of a US dollar. */
const TICKS_PER_DOLLAR = 1e10;

/** OpenAI's `prompt_tokens` has cache reads and writes in it; ours has not. */
export function toChatUsage(counts: WireUsage): Usage {
  const prompt = countOrZero(counts.prompt_tokens);
  const details = counts.prompt_tokens_details;
  const cacheRead = countOrZero(details?.cached_tokens ?? counts.prompt_cache_hit_tokens);
  const cacheWrite = countOrZero(details?.cache_write_tokens);
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

/** xAI counts reasoning beside the completion, everybody else within it; the total gives it away. */
function countOutput(counts: WireUsage, reasoning: number): number {
  const completion = countOrZero(counts.completion_tokens);
  const counted = countOrZero(counts.prompt_tokens) + completion;
  return counts.total_tokens === counted + reasoning ? completion + reasoning : completion;
}

/** What the provider itself says the reply cost. */
export function toChatCost(counts: WireUsage): Cost | undefined {
  const { cost, cost_in_usd_ticks: ticks } = counts;
  const total = typeof cost === "number"
    ? cost
    : typeof ticks === "number"
    ? ticks / TICKS_PER_DOLLAR
    : undefined;
  return total === undefined ? undefined : { ...zeroCost(), total };
}
