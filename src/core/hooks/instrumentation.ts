/**
 * The interface by which tracing observes runs.
 *
 * @module
 */

import type { AgentError } from "../errors/errors.ts";
import type { AgentEvent } from "../events/event.ts";
import type { ModelSpec } from "../models/model.ts";
import type { StreamRequest } from "../streams/stream.ts";
import type { AgentTool } from "../tools/tool.ts";

/** A run that starts. */
export interface InstrumentedRun {
  /** Id of the run. */
  readonly runId: string;
  /** The tool call that runs the agent, if one does. */
  readonly parent?: { readonly runId: string; readonly toolCallId: string } | undefined;
  /** Id of the session that records the run, if one does. */
  readonly sessionId?: string | undefined;
  /** The model of the first turn. */
  readonly model: ModelSpec;
  /** Returns the tools of the current turn. */
  readonly getTools: () => readonly AgentTool[];
  /** Whether the run has been aborted. */
  readonly isAborted: () => boolean;
}

/** Observes one run. */
export interface RunObserver {
  /**
   * Called with every event of the run but `agent_start`, before the listeners of the agent. Must not change
   * the event.
   */
  readonly onEvent: (event: AgentEvent) => void;
  /** Calls `call` once, which makes a model call, and returns its result. */
  readonly callModel: <Result>(
    request: Omit<StreamRequest, "signal">,
    call: () => Result,
  ) => Result;
  /** Calls `execute` once, which runs the tool of a call, and returns its result. */
  readonly executeTool: <Result>(toolCallId: string, execute: () => Result) => Result;
  /** Called when the run cancels a tool call, before its end, with the code of the reason. */
  readonly onCancel: (toolCallId: string, code: AgentError["code"]) => void;
  /** Returns the headers that describe a tool call to other programs, such as `traceparent`. */
  readonly getTraceHeaders: (toolCallId: string) => Readonly<Record<string, string>>;
}

/** Observes the runs of an agent, and of those that its tools run. */
export interface Instrumentation {
  /** Called when a run starts. */
  readonly observeRun: (run: InstrumentedRun) => RunObserver;
}

/** The instrumentation of agents that are observed, by the state of the agent. */
export const instrumentations: WeakMap<object, Instrumentation> = new WeakMap();
