/**
 * The JSON Schema of the lines of `--output-format stream-json`.
 *
 * @module
 */

import type { AgentErrorCode, AgentEvent, ContentBlock } from "../mod.ts";

/** Options for `createOutputSchema()`. */
export interface OutputSchemaOptions {
  /** Whether members without a description are errors. Readers must ignore them: later versions add some. Default: `false`. */
  readonly isClosed?: boolean;
}

type Schema = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, Schema>>;

const STRING: Schema = { type: "string" };
const NUMBER: Schema = { type: "number" };
const COUNT: Schema = { type: "integer", minimum: 0 };
const BOOLEAN: Schema = { type: "boolean" };
const ANY: Schema = {};
const JSON_OBJECT: Schema = { type: "object" };
const NAMES = list(STRING);

function list(items: Schema): Schema {
  return { type: "array", items };
}

function ref(name: string): Schema {
  return { $ref: `#/$defs/${name}` };
}

function oneOf(names: readonly string[]): Schema {
  return { type: "string", enum: names };
}

function nullable(schema: Schema): Schema {
  return { anyOf: [schema, { type: "null" }] };
}

const ERROR_CODES: Readonly<Record<AgentErrorCode, true>> = {
  context_window_overflow: true,
  model_throttled: true,
  network_error: true,
  structured_output_failed: true,
  already_running: true,
  no_messages: true,
  invalid_continue: true,
  stream_error: true,
  aborted: true,
  auth_error: true,
  content_filtered: true,
  model_not_found: true,
  bad_request: true,
  budget_exceeded: true,
  tool_timeout: true,
  session_error: true,
};

const ERROR_CODE = oneOf(Object.keys(ERROR_CODES));
const STOP_REASON = oneOf(["stop", "length", "tool_use", "aborted", "error"]);
const PENDING_MEMBERS: Members = {
  pendingApprovals: list(ref("pendingApproval")),
  decidedCalls: list(ref("decidedCall")),
  interruptedCalls: list(ref("interruptedCall")),
};
const PENDING_CALL: Members = { toolCallId: STRING, name: STRING, arguments: JSON_OBJECT };
const DECISION_ORIGIN: Members = {
  rule: STRING,
  ruleSource: STRING,
  origin: oneOf(["person", "rule", "mode", "policy"]),
};
const CALL: Members = { id: STRING, name: STRING, arguments: JSON_OBJECT };
const CONTENT = list(ref("block"));
const OUTCOME = {
  required: {
    stopReason: STOP_REASON,
    usage: ref("usage"),
    cost: ref("cost"),
  },
  optional: {
    lateSpending: list(ref("lateSpending")),
    error: ref("error"),
    stoppedBy: ref("stoppedBy"),
    abortReason: ANY,
    ...PENDING_MEMBERS,
  },
};
const MODEL_CALL: Members = { turn: COUNT, attempt: COUNT, model: ref("model") };

/** Creates schemas of objects, open or closed. */
class Shapes {
  readonly #isClosed: boolean;

  constructor(isClosed: boolean) {
    this.#isClosed = isClosed;
  }

  object(required: Members, optional: Members = {}): Schema {
    return {
      type: "object",
      properties: { ...required, ...optional },
      required: Object.keys(required),
      ...(this.#isClosed && { additionalProperties: false }),
    };
  }

  typed(type: string, required: Members, optional: Members = {}): Schema {
    return this.object({ type: { const: type }, ...required }, optional);
  }

  event(type: AgentEvent["type"], required: Members, optional: Members = {}): Schema {
    return this.typed(type, required, { seq: COUNT, ...optional });
  }

  message(role: string, required: Members, optional: Members = {}): Schema {
    const members = { role: { const: role }, ...required, timestamp: NUMBER };
    return this.object(members, { id: STRING, metadata: JSON_OBJECT, ...optional });
  }

  source(kind: "image" | "media"): Schema {
    const mediaType: Members = kind === "image" ? { mediaType: STRING } : {};
    return {
      oneOf: [
        this.typed("base64", { data: STRING, ...mediaType }),
        this.typed("url", { url: STRING }),
        this.typed("file", { path: STRING }, mediaType),
        this.typed("provider_file", { provider: STRING, id: STRING }),
      ],
    };
  }

  amounts(amount: Schema): Schema {
    const parts = { input: amount, output: amount, cacheRead: amount, cacheWrite: amount };
    const extra = { type: "object", additionalProperties: amount };
    return this.object({ ...parts, total: amount }, { extra });
  }
}

/** Creates the schema, in the dialect of 2020-12. */
export function createOutputSchema({ isClosed = false }: OutputSchemaOptions = {}): Schema {
  const shapes = new Shapes(isClosed);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Output of swink run --output-format stream-json",
    description:
      "One line of JSON each: init, the events of the agent, and a result per prompt. Readers ignore members that they do not know.",
    oneOf: [ref("init"), ref("event"), ref("result"), ref("inputError")],
    $defs: {
      ...createLines(shapes),
      ...createMessages(shapes),
      ...createParts(shapes),
      event: { oneOf: Object.values(createEvents(shapes)) },
      block: { oneOf: Object.values(createBlocks(shapes)) },
    },
  };
}

function createLines(shapes: Shapes): Members {
  return {
    init: shapes.typed("init", {
      schemaVersion: { const: 1 },
      version: STRING,
      cwd: STRING,
      model: ref("model"),
      tools: NAMES,
      approvalMode: STRING,
      isInteractive: BOOLEAN,
      net: { anyOf: [STRING, NAMES] },
      sandbox: shapes.object({
        status: oneOf(["confined", "partly_confined", "unconfined", "off"]),
        mechanisms: NAMES,
      }),
      sessionId: nullable(STRING),
      project: shapes.object({ root: nullable(STRING), loaded: NAMES, ignored: NAMES }),
    }),
    result: shapes.typed("result", {
      schemaVersion: { const: 1 },
      runId: STRING,
      sessionId: nullable(STRING),
      model: ref("model"),
      exitCode: COUNT,
      text: STRING,
      turns: COUNT,
      durationMs: COUNT,
      ...OUTCOME.required,
    }, { structuredOutput: ANY, refused: NAMES, patch: STRING, ...OUTCOME.optional }),
    inputError: shapes.typed("input_error", { message: STRING }),
  };
}

function createEvents(
  shapes: Shapes,
): Readonly<Record<AgentEvent["type"], Schema>> {
  return {
    agent_start: shapes.event("agent_start", { runId: STRING }),
    agent_end: shapes.event(
      "agent_end",
      { messages: list(ref("message")), ...OUTCOME.required },
      OUTCOME.optional,
    ),
    turn_start: shapes.event("turn_start", { turn: COUNT }),
    turn_end: shapes.event("turn_end", {
      turn: COUNT,
      message: ref("assistantMessage"),
      toolResults: list(ref("toolResultMessage")),
      reason: oneOf([
        ...["complete", "tools_executed", "steering_interrupt", "approval_pending"],
        ...["error", "aborted"],
      ]),
    }, PENDING_MEMBERS),
    message_start: shapes.event("message_start", { message: ref("message") }),
    message_update: shapes.event("message_update", { delta: ref("delta") }),
    message_end: shapes.event("message_end", { message: ref("message") }),
    tool_execution_start: shapes.event("tool_execution_start", CALL, { idempotencyKey: STRING }),
    tool_execution_update: shapes.event("tool_execution_update", {
      id: STRING,
      update: { anyOf: [STRING, ref("toolResult")] },
    }),
    tool_execution_end: shapes.event("tool_execution_end", {
      id: STRING,
      name: STRING,
      result: ref("toolResult"),
      isError: BOOLEAN,
    }),
    tool_approval_requested: shapes.event("tool_approval_requested", CALL),
    tool_approval_resolved: shapes.event("tool_approval_resolved", {
      id: STRING,
      decision: ref("decision"),
    }),
    retry: shapes.event("retry", {
      attempt: COUNT,
      delayMs: NUMBER,
      error: ref("error"),
      discard: BOOLEAN,
    }),
    model_fallback: shapes.event("model_fallback", {
      from: ref("model"),
      to: ref("model"),
      discard: BOOLEAN,
    }),
    model_call_start: shapes.event("model_call_start", MODEL_CALL),
    model_call_end: shapes.event(
      "model_call_end",
      { ...MODEL_CALL, durationMs: NUMBER, usage: ref("usage"), cost: ref("cost") },
      { ttftMs: NUMBER, responseId: STRING, error: ref("error") },
    ),
    sub_agent: shapes.event("sub_agent", { path: NAMES, event: ref("event") }),
    context_compacted: shapes.event("context_compacted", { report: ref("compaction") }),
    warning: shapes.event("warning", { code: STRING, message: STRING }, { data: ANY }),
    custom: shapes.event("custom", { name: STRING }, { data: ANY }),
    queue_changed: shapes.event("queue_changed", {
      queued: shapes.object({ steering: list(ref("queued")), followUp: list(ref("queued")) }),
    }),
    model_changed: shapes.event("model_changed", { from: ref("model"), to: ref("model") }),
  };
}

function createBlocks(
  shapes: Shapes,
): Readonly<Record<ContentBlock["type"], Schema>> {
  return {
    text: shapes.typed("text", { text: STRING }, {
      signature: STRING,
      citations: list(JSON_OBJECT),
    }),
    thinking: shapes.typed("thinking", { thinking: STRING }, {
      signature: STRING,
      redacted: BOOLEAN,
    }),
    tool_call: shapes.typed("tool_call", CALL, { signature: STRING, partialJson: STRING }),
    image: shapes.typed("image", { source: shapes.source("image") }),
    document: shapes.typed("document", { source: shapes.source("media"), mediaType: STRING }, {
      name: STRING,
      citations: BOOLEAN,
    }),
    audio: shapes.typed("audio", { source: shapes.source("media"), mediaType: STRING }),
    extension: shapes.typed("extension", { typeName: STRING }, { data: ANY }),
  };
}

function createMessages(shapes: Shapes): Members {
  const optional = { usage: ref("usage"), cost: ref("cost") };
  return {
    message: {
      oneOf: [
        shapes.message("user", { content: CONTENT }),
        ref("assistantMessage"),
        ref("toolResultMessage"),
        shapes.message("custom", { type: STRING }, { data: ANY }),
      ],
    },
    assistantMessage: shapes.message("assistant", {
      content: CONTENT,
      provider: STRING,
      modelId: STRING,
      usage: ref("usage"),
      cost: ref("cost"),
      stopReason: STOP_REASON,
    }, { errorMessage: STRING, errorCode: ERROR_CODE }),
    toolResultMessage: shapes.message("tool_result", {
      toolCallId: STRING,
      toolName: STRING,
      content: CONTENT,
      isError: BOOLEAN,
    }, { details: ANY, ...optional }),
    delta: {
      oneOf: [
        shapes.typed("text_delta", { contentIndex: COUNT, delta: STRING }),
        shapes.typed("thinking_delta", { contentIndex: COUNT, delta: STRING }),
        shapes.typed("tool_call_start", { contentIndex: COUNT, id: STRING, name: STRING }),
        shapes.typed("tool_call_delta", { contentIndex: COUNT, delta: STRING }),
      ],
    },
  };
}

function createParts(shapes: Shapes): Members {
  return {
    toolResult: shapes.object({ content: CONTENT }, {
      details: ANY,
      isError: BOOLEAN,
      usage: ref("usage"),
      cost: ref("cost"),
    }),
    pendingApproval: shapes.object(PENDING_CALL),
    decidedCall: shapes.object({ ...PENDING_CALL, decision: ref("decision") }),
    interruptedCall: shapes.object({ toolCallId: STRING, result: ref("toolResult") }, {
      rerun: shapes.object({}, { idempotencyKey: STRING, attempts: COUNT, arguments: JSON_OBJECT }),
    }),
    decision: {
      oneOf: [
        shapes.typed("approved", {}, {
          ...DECISION_ORIGIN,
          scope: oneOf(["once", "tool", "prefix"]),
          prefix: STRING,
          arguments: JSON_OBJECT,
          refusedHunks: list(shapes.object({ path: STRING, hunks: NAMES })),
        }),
        shapes.typed("denied", {}, { ...DECISION_ORIGIN, reason: STRING }),
      ],
    },
    error: shapes.object(
      { code: ERROR_CODE, message: STRING, retryable: BOOLEAN },
      {
        status: NUMBER,
        retryAfterMs: NUMBER,
        provider: STRING,
        model: STRING,
        requestId: STRING,
        attempts: COUNT,
        lastError: STRING,
        reason: STRING,
        owner: JSON_OBJECT,
        cause: STRING,
      },
    ),
    stoppedBy: shapes.object({ policy: STRING, reason: STRING }),
    usage: shapes.amounts(NUMBER),
    cost: shapes.amounts(nullable(NUMBER)),
    lateSpending: shapes.object({ toolCallId: STRING, usage: ref("usage"), cost: ref("cost") }),
    compaction: shapes.object({ droppedCount: COUNT, tokensBefore: NUMBER, tokensAfter: NUMBER }, {
      droppedMessages: list(ref("message")),
      summary: STRING,
      problem: STRING,
      usage: ref("usage"),
      cost: ref("cost"),
    }),
    queued: shapes.object({ id: STRING, message: ref("message") }),
    model: shapes.object({
      provider: STRING,
      modelId: STRING,
      thinkingLevel: oneOf(["off", "minimal", "low", "medium", "high", "extra_high"]),
    }, { thinkingBudgets: JSON_OBJECT }),
  };
}
