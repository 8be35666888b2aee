/**
 * The events of AG-UI that runs emit.
 *
 * @module
 */

/** Token counts of a model; cached tokens are part of the input tokens. */
export interface AgUiUsage {
  /** Name of the provider. */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly model: string;
  /** Tokens of the prompts. */
  readonly inputTokens: number;
  /** Tokens of the replies, including reasoning. */
  readonly outputTokens: number;
  /** All tokens. */
  readonly totalTokens: number;
  /** Tokens of the prompts that were read from a cache. */
  readonly cachedInputTokens: number;
  /** Tokens of the prompts that were written to a cache. */
  readonly cacheWriteInputTokens: number;
  /** Tokens of the reasoning, if they are known. */
  readonly reasoningTokens?: number;
}

/** A question that ends a run; the next one answers it. */
export interface AgUiInterrupt {
  /** Id of the question: that of the tool call. */
  readonly id: string;
  /** Kind of question: a tool call needs a decision. */
  readonly reason: "tool_call";
  /** The question as a text. */
  readonly message: string;
  /** Id of the tool call. */
  readonly toolCallId: string;
  /** JSON Schema of the answer: `{ approved, reason?, editedArgs? }`. */
  readonly responseSchema: Readonly<Record<string, unknown>>;
  /** Name and arguments of the tool call. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** How a run has ended. */
export type AgUiOutcome =
  | {
    readonly type: "success";
    /** Calls of tools of the client, whose results the next run needs. Default: none. */
    readonly pendingToolCallIds?: readonly string[];
  }
  | { readonly type: "interrupt"; readonly interrupts: readonly AgUiInterrupt[] }
  | { readonly type: "cancelled" };

/** A part of a content. */
export type AgUiPart =
  | { readonly type: "text"; readonly text: string }
  | {
    readonly type: "image" | "audio" | "document";
    readonly source:
      | { readonly type: "data"; readonly value: string; readonly mimeType: string }
      | { readonly type: "url"; readonly value: string; readonly mimeType?: string }
      | { readonly type: "file"; readonly value: string; readonly provider?: string };
  };

/** A tool call in a message. */
export interface AgUiToolCall {
  /** Id of the call. */
  readonly id: string;
  /** Kind of call. */
  readonly type: "function";
  /** Name of the tool, and the JSON text of the arguments. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message of a conversation. */
export type AgUiMessage =
  & {
    /** Id of the message. */
    readonly id: string;
    /** Id of the sub-agent that has written it. Default: the agent itself, or the user. */
    readonly subagentRunId?: string;
  }
  & (
    | { readonly role: "user"; readonly content: string | readonly AgUiPart[] }
    | { readonly role: "reasoning"; readonly content: string }
    | {
      readonly role: "assistant";
      readonly content?: string;
      readonly toolCalls?: readonly AgUiToolCall[];
    }
    | {
      readonly role: "tool";
      readonly toolCallId: string;
      readonly content: string | readonly AgUiPart[];
      readonly error?: string;
      /** Marks the result of a failed call; a client keeps it. Default: the call has not failed. */
      readonly metadata?: { readonly swink: { readonly isError: true } };
    }
  );

/** An operation of a JSON Patch. */
export interface AgUiPatch {
  /** The operation. */
  readonly op: "add" | "replace" | "remove";
  /** JSON Pointer of the value. */
  readonly path: string;
  /** The new value. */
  readonly value?: unknown;
}

/** An event, without the sub-agent that it belongs to. */
export type AgUiEventBody =
  | {
    readonly type: "RUN_STARTED";
    readonly threadId: string;
    readonly runId: string;
    /** Version of the protocol. */
    readonly protocolVersion: "1.0";
  }
  | {
    readonly type: "RUN_FINISHED";
    readonly threadId: string;
    readonly runId: string;
    readonly outcome: AgUiOutcome;
    readonly result?: unknown;
    readonly usage: readonly AgUiUsage[];
  }
  | {
    readonly type: "RUN_ERROR";
    readonly message: string;
    readonly code: string;
    readonly usage?: readonly AgUiUsage[];
  }
  | { readonly type: "STEP_STARTED" | "STEP_FINISHED"; readonly stepName: string }
  | {
    readonly type: "TEXT_MESSAGE_START";
    readonly messageId: string;
    readonly role: "assistant" | "user";
  }
  | {
    readonly type: "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT";
    readonly messageId: string;
    readonly delta: string;
  }
  | {
    readonly type:
      | "TEXT_MESSAGE_END"
      | "REASONING_START"
      | "REASONING_MESSAGE_END"
      | "REASONING_END";
    readonly messageId: string;
  }
  | {
    readonly type: "REASONING_MESSAGE_START";
    readonly messageId: string;
    readonly role: "reasoning";
  }
  | {
    readonly type: "TOOL_CALL_START";
    readonly toolCallId: string;
    readonly toolCallName: string;
    readonly parentMessageId: string;
  }
  | { readonly type: "TOOL_CALL_ARGS"; readonly toolCallId: string; readonly delta: string }
  | { readonly type: "TOOL_CALL_END"; readonly toolCallId: string }
  | {
    readonly type: "TOOL_CALL_RESULT";
    readonly messageId: string;
    readonly toolCallId: string;
    readonly content: string | readonly AgUiPart[];
    readonly role: "tool";
    /** Marks the result of a failed call; a client keeps it. Default: the call has not failed. */
    readonly metadata?: { readonly swink: { readonly isError: true } };
  }
  | { readonly type: "STATE_SNAPSHOT"; readonly snapshot: unknown }
  | { readonly type: "STATE_DELTA"; readonly delta: readonly AgUiPatch[] }
  | { readonly type: "MESSAGES_SNAPSHOT"; readonly messages: readonly AgUiMessage[] }
  | { readonly type: "CUSTOM"; readonly name: string; readonly value: unknown };

/** The start or the end of a sub-agent. */
export type AgUiSubAgentEvent =
  | {
    readonly type: "SUBAGENT_STARTED";
    readonly subagentRunId: string;
    readonly name: string;
    readonly parentToolCallId: string;
    readonly parentSubagentRunId?: string;
  }
  | {
    readonly type: "SUBAGENT_FINISHED";
    readonly subagentRunId: string;
    readonly result?: unknown;
    /** `suspended`: the agent works longer than the run, which shows no more of it. */
    readonly outcome: { readonly type: "success" | "suspended" };
  }
  | {
    readonly type: "SUBAGENT_ERROR";
    readonly subagentRunId: string;
    readonly message: string;
    readonly code: string;
  };

/** An event of AG-UI. */
export type AgUiEvent =
  | (AgUiEventBody & {
    /** Id of the sub-agent that the event belongs to. Default: the agent itself. */
    readonly subagentRunId?: string;
  })
  | AgUiSubAgentEvent;
