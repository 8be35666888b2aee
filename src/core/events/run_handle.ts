/**
 * The run of a tool call, as its tool sees it.
 *
 * @module
 */

import type { PromptInput } from "../messages/message.ts";
import type { AgentEvent } from "./event.ts";
import type { RunSession } from "./run_session.ts";

/** Context of work that continues after its tool call. */
export interface BackgroundContext {
  /** Aborted when the run is aborted or ends in another way than by its last reply. */
  readonly signal: AbortSignal;
  /** Emits an event of an agent as `sub_agent`, with the id of the tool call as its path. */
  readonly onEvent: (event: AgentEvent) => Promise<void>;
}

/**
 * Work that continues after its tool call. The messages that it returns are follow-ups of the run; if it throws or
 * rejects, the follow-up has the reason.
 */
export type BackgroundWork = (context: BackgroundContext) => Promise<PromptInput>;

/**
 * The run of a tool call. As the `parent` of an agent that the tool runs, it limits the calls of that agent to those that
 * the run could make itself without asking a person, and counts the agent.
 *
 * @example
 * ```ts
 * import { Agent, defineTool } from "@swink/agent";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const summarize = defineTool({
 *   name: "summarize",
 *   description: "Summarizes a text.",
 *   parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
 *   execute: async ({ text }, { run, signal }) => {
 *     const streamFn = scriptedStream([reply("In short: yes")]);
 *     const agent = new Agent({ model: "any/model", streamFn, parent: run });
 *     return (await agent.prompt(`Summarize: ${text}`, { signal })).text;
 *   },
 * });
 * ```
 */
export interface RunHandle {
  /** Id of the run. */
  readonly runId: string;
  /** Number of runs above it; 0 for the run of an agent without a `parent`. */
  readonly depth: number;
  /** The session that records the run, if one does. */
  readonly session?: RunSession | undefined;
  /**
   * Starts work that the tool call does not wait for. The run waits for it before it ends, and delivers its messages as
   * follow-ups; an abort, an error and a stop cancel it.
   *
   * @throws {BadRequestError} If the run has ended.
   */
  readonly background: (work: BackgroundWork) => void;
}
