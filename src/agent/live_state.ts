/**
 * The state of an agent.
 *
 * @module
 */

import type {
  DecidedCall,
  InterruptedCall,
  PendingApproval,
  PendingBatch,
} from "../core/approval/approval.ts";
import { type AgentError, AlreadyRunningError } from "../core/errors/errors.ts";
import type { ToolExecutionEndEvent, ToolExecutionStartEvent } from "../core/events/event.ts";
import type { AgentMessage, AssistantMessage } from "../core/messages/message.ts";
import type { ModelSpec } from "../core/models/model.ts";
import type { AssistantMessageDelta } from "../core/streams/stream.ts";
import type { AgentTool } from "../core/tools/tool.ts";

/** The state of an agent as of the last event. */
export interface AgentState {
  /** The system prompt; empty for none. */
  readonly systemPrompt: string;
  /** The model of the next turn. */
  readonly model: ModelSpec;
  /** The tools of the next turn. */
  readonly tools: readonly AgentTool[];
  /** The history; grows during a run. */
  readonly messages: readonly AgentMessage[];
  /** Whether a run is active. */
  readonly isRunning: boolean;
  /**
   * The reply so far while it streams; recomputed on each read. A block that has no deltas, such as that of a provider, is an
   * empty text, so that `contentIndex` of an event is the position of its block.
   */
  readonly streamingMessage?: AssistantMessage | undefined;
  /** Ids of the running tool calls. */
  readonly pendingToolCalls: ReadonlySet<string>;
  /** The error of the last run, if it failed. */
  readonly error?: AgentError | undefined;
  /** The tool calls that wait for a decision. */
  readonly pendingApprovals: readonly PendingApproval[];
  /** The other calls of the same reply, which are decided already but have not run. */
  readonly decidedCalls: readonly DecidedCall[];
  /** The calls of the same reply that an earlier process interrupted; `continue()` runs or answers them. */
  readonly interruptedCalls: readonly InterruptedCall[];
  /** The starts and ends of the tool calls of the current reply, in order. */
  readonly callEvents: readonly (ToolExecutionStartEvent | ToolExecutionEndEvent)[];
  /** Id of the latest run; empty if there was none. */
  readonly runId: string;
}

/** Options for `new LiveState()`. */
export interface InitialState extends Pick<AgentState, "systemPrompt" | "model" | "tools"> {
  /** The history, which the state owns. */
  readonly messages: AgentMessage[];
  /** The tool calls of the last reply that wait for approvals. */
  readonly pending: PendingBatch | undefined;
}

/** A streaming reply. */
export interface MessageDraft {
  /** Appends a delta. */
  apply(delta: AssistantMessageDelta): void;
  /** Discards the content so far. */
  clear(): void;
  /** Returns the message so far. */
  snapshot(): AssistantMessage;
}

/** The mutable state; changed by events and by the agent's setters. */
export class LiveState implements AgentState {
  /** The system prompt. */
  systemPrompt: string;
  /** The model. */
  model: ModelSpec;
  /** The tools. */
  tools: readonly AgentTool[];
  /** The history; replaced by the setters, appended to by events. */
  messages: AgentMessage[];
  /** Whether a run is active. */
  isRunning = false;
  /** Ids of the running tool calls. */
  readonly pendingToolCalls: Set<string> = new Set();
  /** The error of the last run. */
  error: AgentError | undefined;
  /** The tool calls of the last reply that wait for approvals. */
  pending: PendingBatch | undefined;
  /** The streaming reply. */
  draft: MessageDraft | undefined;
  /** Id of the latest run. */
  runId = "";
  /** The starts and ends of the tool calls of the current reply. */
  callEvents: (ToolExecutionStartEvent | ToolExecutionEndEvent)[] = [];

  /** Creates the state of an idle agent. */
  constructor(initial: InitialState) {
    this.systemPrompt = initial.systemPrompt;
    this.model = initial.model;
    this.tools = initial.tools;
    this.messages = initial.messages;
    this.pending = initial.pending;
  }

  /**
   * Starts a run. The functions of the application that this calls, such as its clock, cannot start another one.
   *
   * @throws {AlreadyRunningError} If a run is active.
   */
  startRun<Run>(start: () => Run): Run {
    if (this.isRunning) throw new AlreadyRunningError();
    this.isRunning = true;
    try {
      return start();
    } catch (misuse) {
      this.isRunning = false;
      throw misuse;
    }
  }

  /** The tool calls that wait for a decision. */
  get pendingApprovals(): readonly PendingApproval[] {
    return this.pending?.pendingApprovals ?? [];
  }

  /** The other calls of the same reply. */
  get decidedCalls(): readonly DecidedCall[] {
    return this.pending?.decidedCalls ?? [];
  }

  /** The calls of the same reply that an earlier process interrupted. */
  get interruptedCalls(): readonly InterruptedCall[] {
    return this.pending?.interruptedCalls ?? [];
  }

  /** The reply so far while it streams; recomputed on each read. */
  get streamingMessage(): AssistantMessage | undefined {
    return this.draft?.snapshot();
  }
}
