/**
 * Conversion of Anthropic's token counts.
 *
 * @module
 */

import { isJsonObject } from "../../src/core/json.ts";
import { addUsage, type Usage } from "../../src/core/usage.ts";
import type { ServerRequests } from "../kit/stream/server_requests.ts";
import { countOrZero, textOrEmpty } from "../kit/stream/wire_values.ts";
import type { WireIteration, WireUsage } from "./wire.ts";

/**
 * Converts the counts of a request. Its sums exclude the calls that compact the conversation, which cost as much; their
 * tokens are also counted as `compaction`, since no later request has them.
 */
export function toUsage(counts: WireUsage): Usage {
  const compactions = getIterations(counts).filter(({ type }) => type === "compaction");
  if (compactions.length === 0) return convertCounts(counts);
  const compacted = compactions.map(convertCounts).reduce(addUsage);
  const { extra, ...sum } = addUsage(convertCounts(counts), compacted);
  return { ...sum, extra: { ...extra, compaction: compacted.total } };
}

/**
 * Counts the calls of other models within a request, such as an advisor or the fallback after a refusal, as
 * `advisorRequests` and `fallbackRequests`. Their prices are those of their models, so that the cost is unknown without a
 * fee.
 */
export function countModelRequests(requests: ServerRequests, counts: WireUsage): void {
  const names = getIterations(counts).map(({ type }) =>
    /^(\w+)_message$/.exec(textOrEmpty(type))?.[1]
  );
  for (const name of new Set(names)) {
    if (name === undefined) continue;
    requests.set(`${name}Requests`, names.filter((other) => other === name).length);
  }
}

function getIterations({ iterations }: WireUsage): readonly WireIteration[] {
  return Array.isArray(iterations) ? iterations.filter(isJsonObject) : [];
}

/** Counts cache writes that last for an hour, and those that last neither for an hour nor for 5 minutes, the default. */
function countLongWrites(
  { ephemeral_5m_input_tokens: _short, ephemeral_1h_input_tokens: long, ...others }: NonNullable<
    WireUsage["cache_creation"]
  >,
): { readonly cacheWriteLong: number; readonly cacheWriteOther: number } {
  const counts = Object.values(others).map(countOrZero);
  return {
    cacheWriteLong: countOrZero(long),
    cacheWriteOther: counts.reduce((sum, count) => sum + count, 0),
  };
}

/** Converts counts; Anthropic's `input_tokens` excludes cache reads and cache writes. */
function convertCounts(counts: WireUsage | WireIteration): Usage {
  const input = countOrZero(counts.input_tokens);
  const output = countOrZero(counts.output_tokens);
  const cacheRead = countOrZero(counts.cache_read_input_tokens);
  const cacheWrite = countOrZero(counts.cache_creation_input_tokens);
  const reasoning = counts.output_tokens_details?.thinking_tokens;
  const { cacheWriteLong, cacheWriteOther } = countLongWrites(counts.cache_creation ?? {});
  const extra = {
    ...(reasoning !== undefined && { reasoning: countOrZero(reasoning) }),
    ...(cacheWriteLong > 0 && { cacheWriteLong }),
    ...(cacheWriteOther > 0 && { cacheWriteOther }),
  };
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    total: input + output + cacheRead + cacheWrite,
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}
