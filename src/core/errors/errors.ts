/**
 * The error classes.
 *
 * ```text
 * AgentError                       code                        retryable
 * ├─ ContextWindowOverflowError    context_window_overflow     no: the context must shrink first
 * ├─ ModelThrottledError           model_throttled             yes, except quota and billing limits
 * ├─ NetworkError                  network_error               yes: connection, timeout, or a 5xx status
 * ├─ StructuredOutputFailedError   structured_output_failed    no
 * ├─ AlreadyRunningError           already_running             no
 * ├─ NoMessagesError               no_messages                 no
 * ├─ InvalidContinueError          invalid_continue            no
 * ├─ StreamError                   stream_error                no
 * ├─ AbortedError                  aborted                     no
 * ├─ AuthError                     auth_error                  no
 * ├─ ContentFilteredError          content_filtered            no
 * ├─ ModelNotFoundError            model_not_found             no
 * ├─ BadRequestError               bad_request                 no
 * ├─ BudgetExceededError           budget_exceeded             no
 * ├─ ToolTimeoutError              tool_timeout                no
 * └─ SessionError                  session_error               no
 * ```
 *
 * The failure of a run is part of its result; only `structuredOutput()` and misuse throw.
 *
 * @module
 */

import { ignoreRejections } from "./refuse_promise.ts";

/** Kind of failure of an {@linkcode AgentError}. */
export type AgentErrorCode =
  | "context_window_overflow"
  | "model_throttled"
  | "network_error"
  | "structured_output_failed"
  | "already_running"
  | "no_messages"
  | "invalid_continue"
  | "stream_error"
  | "aborted"
  | "auth_error"
  | "content_filtered"
  | "model_not_found"
  | "bad_request"
  | "budget_exceeded"
  | "tool_timeout"
  | "session_error";

/** Options for `new AgentError()`. */
export interface AgentErrorOptions {
  /** Whether the same request may succeed later. Default: depends on the code. */
  readonly retryable?: boolean | undefined;
  /** HTTP status of the response, if there was one. */
  readonly status?: number | undefined;
  /** Delay before the next attempt as requested by the provider, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Name of the provider, such as `"openai"`. */
  readonly provider?: string | undefined;
  /** The provider's name of the model. */
  readonly model?: string | undefined;
  /** The provider's id of the request, for support requests. */
  readonly requestId?: string | undefined;
  /** The error or value that caused the failure. */
  readonly cause?: unknown;
}

/** The JSON form of an {@linkcode AgentError}. */
export interface AgentErrorRecord {
  /** The error's code. */
  readonly code: AgentErrorCode;
  /** The error's message. */
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** HTTP status of the response, if there was one. */
  readonly status?: number;
  /** Delay before the next attempt as requested by the provider, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Name of the provider, such as `"openai"`. */
  readonly provider?: string;
  /** The provider's name of the model. */
  readonly model?: string;
  /** The provider's id of the request. */
  readonly requestId?: string;
  /** Number of answers that failed, if the code is `structured_output_failed`. */
  readonly attempts?: number;
  /** Validation error of the last answer, if the code is `structured_output_failed`. */
  readonly lastError?: string;
  /** Kind of failure of a session, if the code is `session_error`. */
  readonly reason?: SessionErrorReason;
  /** The process that has the session open for writing, if known. */
  readonly owner?: SessionOwner;
  /** The message of the cause. */
  readonly cause?: string;
}

const RETRYABLE_CODES: ReadonlySet<AgentErrorCode> = new Set(["model_throttled", "network_error"]);

const ATTRIBUTES = ["status", "retryAfterMs", "provider", "model", "requestId"] as const;

/** Types of the attributes of a record, apart from its code and message. */
const RECORD_TYPES = {
  retryable: "boolean",
  status: "number",
  retryAfterMs: "number",
  provider: "string",
  model: "string",
  requestId: "string",
  attempts: "number",
  lastError: "string",
  reason: "string",
  owner: "object",
  cause: "string",
} as const;

/** Marks errors of this library; registered globally, so that other copies of the library use the same symbol. */
const AGENT_ERROR_BRAND: unique symbol = Symbol.for("@swink/agent/AgentError") as never;

/** Base class of all errors of the library; `code` identifies the kind of failure. */
export class AgentError extends Error {
  /** Kind of failure. */
  readonly code: AgentErrorCode;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** HTTP status of the response, if there was one. */
  declare readonly status?: number;
  /** Delay before the next attempt as requested by the provider, in milliseconds. */
  declare readonly retryAfterMs?: number;
  /** Name of the provider, such as `"openai"`. */
  declare readonly provider?: string;
  /** The provider's name of the model. */
  declare readonly model?: string;
  /** The provider's id of the request. */
  declare readonly requestId?: string;

  /** Creates an error with a code; prefer the subclass of that code. */
  constructor(code: AgentErrorCode, message: string, options?: AgentErrorOptions) {
    const { cause, retryable = RETRYABLE_CODES.has(code) } = options ?? {};
    super(getErrorMessage(message), cause === undefined ? undefined : { cause });
    this.name = toErrorName(getErrorMessage(code));
    this.code = code;
    this.retryable = retryable;
    Object.assign(this, pickAttributes(options));
    Object.defineProperty(this, AGENT_ERROR_BRAND, { value: true });
  }

  /** Returns the JSON form, which {@linkcode AgentError.from} parses; of `cause` only the message is kept. */
  toJSON(): AgentErrorRecord {
    const { code, message, retryable, cause } = this;
    return {
      code,
      message,
      retryable,
      ...pickAttributes(this),
      ...(cause !== undefined && { cause: getErrorMessage(cause) }),
    };
  }

  /**
   * Creates an error of the matching subclass from its JSON form; an unknown code gives a plain `AgentError`, and a
   * missing one a `StreamError`. Never throws: an attribute of a wrong type is ignored, and any other value than a record
   * gives a `StreamError` with it as the message.
   */
  static from(record: AgentErrorRecord): AgentError {
    const { code, message } = (record ?? {}) as Partial<Record<keyof AgentErrorRecord, unknown>>;
    const types: Readonly<Record<string, string>> = RECORD_TYPES;
    const attributes = Object.entries(record ?? {}).filter(([name, value]) =>
      value !== null && typeof value === types[name]
    );
    return createAgentError(
      typeof code === "string" ? code as AgentErrorCode : "stream_error",
      typeof message === "string" ? message : getErrorMessage(record),
      Object.fromEntries(attributes),
    );
  }

  /** Whether a value is an `AgentError`, including one of another copy of this library. */
  static is(value: unknown): value is AgentError {
    try {
      return value instanceof Error && AGENT_ERROR_BRAND in value;
    } catch {
      return false; // A proxy that throws.
    }
  }
}

/** The input exceeds the context window of the model. */
export class ContextWindowOverflowError extends AgentError {
  constructor(message: string, options?: AgentErrorOptions) {
    super("context_window_overflow", message, options);
  }
}

/**
 * The provider rejected the request because of a rate limit, a quota or billing; the latter two are not `retryable`.
 */
export class ModelThrottledError extends AgentError {
  constructor(message: string, options?: AgentErrorOptions) {
    super("model_throttled", message, options);
  }
}

/**
 * The connection failed, timed out or closed before the end of the reply, or the provider failed or is overloaded (a 5xx
 * status).
 */
export class NetworkError extends AgentError {
  constructor(message: string, options?: AgentErrorOptions) {
    super("network_error", message, options);
  }
}

/** The model gave no answer that matches the schema, after all retries. */
export class StructuredOutputFailedError extends AgentError {
  /** Number of answers that failed. */
  readonly attempts: number;
  /** Validation error of the last answer. */
  readonly lastError: string;

  constructor(
    message: string,
    failure: AgentErrorOptions & Pick<StructuredOutputFailedError, "attempts" | "lastError">,
  ) {
    super("structured_output_failed", message, failure);
    const { attempts = 0, lastError = "" } = failure ?? {};
    this.attempts = attempts;
    this.lastError = lastError;
  }

  /** Returns the JSON form, which {@linkcode AgentError.from} parses. */
  override toJSON(): AgentErrorRecord {
    return { ...super.toJSON(), attempts: this.attempts, lastError: this.lastError };
  }
}

/** The call is not possible while a run is active. */
export class AlreadyRunningError extends AgentError {
  constructor(
    message = "The agent is already running: wait for it, steer it or abort it",
    options: AgentErrorOptions = {},
  ) {
    super("already_running", message, options);
  }
}

/** A run was started without any message to send. */
export class NoMessagesError extends AgentError {
  constructor(
    message = "There are no messages to send: pass a text",
    options: AgentErrorOptions = {},
  ) {
    super("no_messages", message, options);
  }
}

/** The history ends with a finished reply, so that there is nothing to continue. */
export class InvalidContinueError extends AgentError {
  constructor(
    message = "Cannot continue after a finished reply: prompt the agent, or queue a message first",
    options: AgentErrorOptions = {},
  ) {
    super("invalid_continue", message, options);
  }
}

/** The reply is malformed, or a `StreamFn` violated its contract. */
export class StreamError extends AgentError {
  constructor(message: string, options?: AgentErrorOptions) {
    super("stream_error", message, options);
  }
}

/** The caller aborted the run or the request. */
export class AbortedError extends AgentError {
  constructor(message = "The run was aborted", options: AgentErrorOptions = {}) {
    super("aborted", message, options);
  }
}

/** The API key is missing, invalid or lacks permission. */
export class AuthError extends AgentError {
  constructor(message: string, options?: AgentErrorOptions) {
    super("auth_error", message, options);
  }
}

/** The provider's filter or the model itself rejected the content. */
export class ContentFilteredError extends AgentError {
  constructor(message: string, options?: AgentErrorOptions) {
    super("content_filtered", message, options);
  }
}

/** The provider does not know the model. */
export class ModelNotFoundError extends AgentError {
  constructor(message: string, options?: AgentErrorOptions) {
    super("model_not_found", message, options);
  }
}

/** The request or an option is invalid. */
export class BadRequestError extends AgentError {
  constructor(message: string, options?: AgentErrorOptions) {
    super("bad_request", message, options);
  }
}

/** The run reached a limit on cost, tokens or time. */
export class BudgetExceededError extends AgentError {
  constructor(message: string, options?: AgentErrorOptions) {
    super("budget_exceeded", message, options);
  }
}

/** A tool did not finish within its timeout. */
export class ToolTimeoutError extends AgentError {
  constructor(message: string, options?: AgentErrorOptions) {
    super("tool_timeout", message, options);
  }
}

/**
 * Kind of failure of a {@linkcode SessionError}.
 *
 * `bad_id`, `bad_cursor`, `bad_filter`: the id, the cursor of a page, or the filter or the query of a list is invalid.
 * `not_found`, `already_exists`: no session, or another one, has the id. `locked`: another process has the session open
 * for writing. `lock_lost`: another process has taken over the lock. `read_only`: the session is open for reading only.
 * `closed`: the session or its store is closed. `not_a_session`: the log has no readable entry, or is that of another
 * program. `newer_version`: a later version of the library wrote it. `unknown_entry`: the session has no entry with the
 * id. `invalid_entry`: a log could not have the entry. `read_failed`, `write_failed`: the storage failed (disk full,
 * permission denied); entries that were not written are removed from memory too.
 */
export type SessionErrorReason =
  | "bad_id"
  | "bad_cursor"
  | "bad_filter"
  | "not_found"
  | "already_exists"
  | "locked"
  | "lock_lost"
  | "read_only"
  | "closed"
  | "not_a_session"
  | "newer_version"
  | "unknown_entry"
  | "invalid_entry"
  | "read_failed"
  | "write_failed";

/** The process that has a session open for writing. */
export interface SessionOwner {
  /** Process id. */
  readonly pid: number;
  /** Name of the host application. */
  readonly name?: string;
  /** Time of opening, in milliseconds since the epoch. */
  readonly since: number;
  /** Time of the last heartbeat, in milliseconds since the epoch. */
  readonly heartbeat: number;
}

/** Options for `new SessionError()`. */
export interface SessionFailure extends AgentErrorOptions {
  /** Kind of failure. */
  readonly reason: SessionErrorReason;
  /** The process that has the session open, if `reason` is `"locked"` or `"lock_lost"`. */
  readonly owner?: SessionOwner | undefined;
}

/** A session could not be opened, read or written. */
export class SessionError extends AgentError {
  /** Kind of failure. */
  readonly reason: SessionErrorReason;
  /** The process that has the session open, if `reason` is `"locked"` or `"lock_lost"` and it is known. */
  declare readonly owner?: SessionOwner;

  constructor(message: string, failure: SessionFailure) {
    super("session_error", message, failure);
    const { reason = "read_failed", owner } = failure ?? {};
    this.reason = reason;
    if (owner !== undefined) this.owner = owner;
  }

  /** Returns the JSON form, which {@linkcode AgentError.from} parses. */
  override toJSON(): AgentErrorRecord {
    const { reason, owner } = this;
    return { ...super.toJSON(), reason, ...(owner !== undefined && { owner }) };
  }
}

/** The options of every class. */
type AnyFailure =
  & SessionFailure
  & Pick<StructuredOutputFailedError, "attempts" | "lastError">;
type AgentErrorClass = new (message: string, options: AnyFailure) => AgentError;

const ERROR_CLASSES: Readonly<Record<AgentErrorCode, AgentErrorClass>> = {
  structured_output_failed: StructuredOutputFailedError,
  session_error: SessionError,
  context_window_overflow: ContextWindowOverflowError,
  model_throttled: ModelThrottledError,
  network_error: NetworkError,
  already_running: AlreadyRunningError,
  no_messages: NoMessagesError,
  invalid_continue: InvalidContinueError,
  stream_error: StreamError,
  aborted: AbortedError,
  auth_error: AuthError,
  content_filtered: ContentFilteredError,
  model_not_found: ModelNotFoundError,
  bad_request: BadRequestError,
  budget_exceeded: BudgetExceededError,
  tool_timeout: ToolTimeoutError,
};

/** Creates an error of the subclass that belongs to the code. */
export function createAgentError(
  code: AgentErrorCode,
  message: string,
  options?: { readonly [Name in keyof AnyFailure]?: AnyFailure[Name] | undefined },
): AgentError {
  return Object.hasOwn(ERROR_CLASSES, code)
    // The classes have defaults for what is missing.
    ? new ERROR_CLASSES[code](message, options as AnyFailure)
    : new AgentError(code, message, options);
}

type Attributes = Pick<AgentErrorRecord, (typeof ATTRIBUTES)[number]>;

function pickAttributes(options: AgentErrorOptions | undefined): Attributes {
  const known = ATTRIBUTES.filter((name) => options?.[name] !== undefined);
  return Object.fromEntries(known.map((name) => [name, options?.[name]]));
}

const NO_MESSAGE = "The error has no message";

/** Returns the message of any thrown value; never throws. */
export function getErrorMessage(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  try {
    if (typeof thrown !== "object" || thrown === null) return String(thrown);
    const { message, name } = thrown as { readonly message?: unknown; readonly name?: unknown };
    if (typeof message === "string" && message !== "") return message;
    ignoreRejections(thrown);
    if (!(thrown instanceof Error)) return JSON.stringify(thrown) ?? NO_MESSAGE;
    // Such as the list of problems in the body of a response that a program has copied into the error.
    if (message !== "" && message !== undefined && message !== null) return formatValue(message);
    return typeof name === "string" ? name : NO_MESSAGE;
  } catch {
    return NO_MESSAGE;
  }
}

function formatValue(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) ?? NO_MESSAGE : String(value);
}

/** Converts `network_error` to `NetworkError`; the name of the class itself may be minified. */
function toErrorName(code: string): string {
  const words = code.split("_").filter((word) => word !== "error");
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}Error`;
}
