/**
 * How full the model's window is.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { CompactingTransform, CompactionOptions } from "./compaction.ts";
import { type ContextCount, countContext } from "./context_count.ts";

/** Options of {@linkcode contextGauge}. */
export interface ContextGaugeOptions extends Partial<Pick<CompactionOptions, "contextWindow">> {
  /** The agent's own transform, so that what it leaves out is not counted. */
  readonly transform?: CompactingTransform;
}

/** How full the model's window is. */
export interface ContextGauge extends ContextCount {
  /** Tokens that the model takes; `undefined` where that is not known. */
  readonly limit: number | undefined;
  /** How much of it is used, from 0 up; `undefined` where the limit is not known. */
  readonly percent: number | undefined;
}

/**
 * Tells how much of the model's window an agent's next request takes: what the provider has counted of the
 * last one, and an estimate of what was added since. Takes time in proportion to what was added.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { contextGauge } from "@swink/agent/memory";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * await agent.prompt("Say hello");
 * const { used, limit, percent } = contextGauge(agent, { contextWindow: 200_000 });
 * ```
 */
export function contextGauge(agent: Agent, options: ContextGaugeOptions = {}): ContextGauge {
  const { contextWindow, transform } = options;
  const { messages, model, systemPrompt, tools } = agent.state;
  const view = transform?.view(messages) ?? { messages, firstTrusted: 0 };
  const { firstTrusted } = view;
  const count = countContext({ messages: view.messages, systemPrompt, tools }, { firstTrusted });
  const limit = typeof contextWindow === "function" ? contextWindow(model) : contextWindow;
  const percent = limit === undefined ? undefined : 100 * count.used / limit;
  return { ...count, limit, percent };
}
