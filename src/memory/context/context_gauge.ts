/**
 * The usage of the model's context window.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { internalsByAgent } from "../../agent/options.ts";
import { checkNames } from "../../core/checks/check_names.ts";
import type { CompactingTransform, CompactionOptions } from "./compaction.ts";
import { type ContextCount, countContext, createTokenCounter } from "./context_count.ts";

/** Options for {@linkcode contextGauge}. */
export interface ContextGaugeOptions extends Partial<Pick<CompactionOptions, "contextWindow">> {
  /** The agent's transform, so that omitted messages are not counted. Default: none. */
  readonly transform?: CompactingTransform | undefined;
}

const OPTION_NAMES: Readonly<Record<keyof ContextGaugeOptions, true>> = {
  contextWindow: true,
  transform: true,
};

/** Usage of the model's context window. */
export interface ContextGauge extends ContextCount {
  /** Size of the window in tokens; `undefined` when unknown. */
  readonly limit: number | undefined;
  /** Used part of the window in percent, possibly above 100; `undefined` when `limit` is unknown. */
  readonly percent: number | undefined;
}

/**
 * Counts the tokens of an agent's next request: the provider's count of the last request, and an estimate of the
 * messages added since. Takes time proportional to those messages.
 *
 * @throws {BadRequestError} If an option is unknown.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { contextGauge } from "@swink/agent/memory";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * await agent.prompt("Hello");
 * const { used, limit, percent } = contextGauge(agent, { contextWindow: 200_000 });
 * ```
 */
export function contextGauge(agent: Agent, options: ContextGaugeOptions = {}): ContextGauge {
  checkNames(options, Object.keys(OPTION_NAMES), "contextGauge()");
  const { contextWindow, transform } = options;
  const { messages, model, systemPrompt, tools } = agent.state;
  const view = transform?.view(messages) ?? { messages, firstTrusted: 0 };
  const { firstTrusted } = view;
  const countTokens = createTokenCounter(internalsByAgent.get(agent)?.options.convertToLlm);
  const request = { messages: view.messages, systemPrompt, tools };
  const count = countContext(request, { firstTrusted, countTokens });
  const limit = typeof contextWindow === "function" ? contextWindow(model) : contextWindow;
  const percent = limit === undefined ? undefined : 100 * count.used / limit;
  return { ...count, limit, percent };
}
