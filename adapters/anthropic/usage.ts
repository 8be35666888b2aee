/**
 * Conversion of Anthropic's token counts.
 *
 * @module
 */

import { isJsonObject } from "../../src/core/json/json.ts";
import { addUsage, type Usage } from "../../src/core/models/usage.ts";
import { ServerRequests } from "../kit/stream/server_requests.ts";
import { countTierRequest } from "../kit/stream/service_tier.ts";
import { countOrZero, textOrEmpty } from "../kit/stream/wire_values.ts";
import type { WireBlockStart, WireIteration, WireUsage } from "./wire.ts";

/** Counts of one reply; later ones replace earlier ones. */
export class ReplyUsage {
  readonly #requests = new ServerRequests();
  readonly #counts: WireUsage = {};

  /** Replaces the counts that an event has. */
  update(counts: WireUsage | undefined): void {
    const known = Object.entries(counts ?? {}).filter(([, count]) => count !== null);
    Object.assign(this.#counts, Object.fromEntries(known));
  }

  /** Counts a block that calls a server tool whose uses the API does not count. */
  countBlock({ type, name }: WireBlockStart): void {
    const isCodeExecution = type === "server_tool_use" && /code_execution$/.test(textOrEmpty(name));
    if (isCodeExecution) this.#requests.add("codeExecutionRequests");
  }

  /** Returns the usage so far. */
  get(): Usage {
    const { server_tool_use: tools, service_tier: tier, speed, inference_geo } = this.#counts;
    this.#requests.set("webSearchRequests", countOrZero(tools?.web_search_requests));
    // The tier of a request only permits the priority tier; which one served it is always reported.
    countTierRequest(this.#requests, { reported: tier });
    countTierRequest(this.#requests, { reported: speed });
    const isGlobal = /^(?:global|not_available|)$/.test(textOrEmpty(inference_geo));
    this.#requests.set("regionalRequests", isGlobal ? 0 : 1);
    countModelRequests(this.#requests, this.#counts);
    return this.#requests.addTo(toUsage(this.#counts));
  }
}

/**
 * Converts the counts of a request. Its sums exclude the calls that compact the conversation, which cost as much; their
 * tokens are also counted as `compaction`, since no later request has them.
 */
function toUsage(counts: WireUsage): Usage {
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
function countModelRequests(requests: ServerRequests, counts: WireUsage): void {
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
