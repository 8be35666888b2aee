/**
 * The place of agents that tools run.
 *
 * @module
 */

/**
 * Ids of the tool calls that lead to the agent whose call needs an approval, the outermost first, by the signal of the
 * request. The path of a `sub_agent` event is the same.
 */
export const subAgentPaths: WeakMap<AbortSignal, readonly string[]> = new WeakMap();
