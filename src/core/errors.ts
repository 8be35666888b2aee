/**
 * The one error tree.
 *
 * ```text
 * AgentError                       code                        retryable
 * ├─ ContextWindowOverflowError    context_window_overflow     no: the context must shrink first
 * ├─ ModelThrottledError           model_throttled             yes, unless a quota or a bill is the reason
 * ├─ NetworkError                  network_error               yes
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
 * @module
 */

/** What kind of failure an {@linkcode AgentError} is. */
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

/** Facts about a failure, beyond its code and message. */
export interface AgentErrorOptions {
  /** Whether the same request may succeed later. Default: what the code says. */
  readonly retryable?: boolean | undefined;
  /** The HTTP status, when there was one. */
  readonly status?: number | undefined;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The provider that failed. */
  readonly provider?: string | undefined;
  /** The provider's name of the request, for its support. */
  readonly requestId?: string | undefined;
  /** What caused the failure. */
  readonly cause?: unknown;
}

/** An {@linkcode AgentError} as JSON. */
export interface AgentErrorRecord {
  /** The error's code. */
  readonly code: AgentErrorCode;
  /** The error's message. */
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The HTTP status, when there was one. */
  readonly status?: number;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The provider that failed. */
  readonly provider?: string;
  /** The provider's name of the request. */
  readonly requestId?: string;
  /** How often structured output was tried. */
  readonly attempts?: number;
  /** Why the last structured output was refused. */
  readonly lastError?: string;
  /** What a session failed at. */
  readonly reason?: SessionErrorReason;
  /** Who has the session open. */
  readonly owner?: SessionOwner;
  /** The message of what caused the failure. */
  readonly cause?: string;
}

const AGENT_ERROR_BRAND: unique symbol = Symbol.for("@swink/agent/AgentError") as never;

/** Any failure that the agent tells its caller of. */
export class AgentError extends Error {
  /** What kind of failure this is. */
  readonly code: AgentErrorCode;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The HTTP status, when there was one. */
  declare readonly status?: number;
  /** How long the provider asks to wait, in milliseconds. */
  declare readonly retryAfterMs?: number;
  /** The provider that failed. */
  declare readonly provider?: string;
  /** The provider's name of the request. */
  declare readonly requestId?: string;

  /** Makes an error of a code; prefer the subclass of that code. */
  constructor(code: AgentErrorCode, message: string, options: AgentErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = toErrorName(code);
    this.code = code;
    this.retryable = options.retryable ?? isRetryableCode(code);
    if (options.status !== undefined) this.status = options.status;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    if (options.provider !== undefined) this.provider = options.provider;
    if (options.requestId !== undefined) this.requestId = options.requestId;
    Object.defineProperty(this, AGENT_ERROR_BRAND, { value: true });
  }

  /** The error as a JSON value; {@linkcode AgentError.from} reads it back. */
  toJSON(): AgentErrorRecord {
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      ...(this.status !== undefined && { status: this.status }),
      ...(this.retryAfterMs !== undefined && { retryAfterMs: this.retryAfterMs }),
      ...(this.provider !== undefined && { provider: this.provider }),
      ...(this.requestId !== undefined && { requestId: this.requestId }),
      ...(this.cause !== undefined && { cause: getErrorMessage(this.cause) }),
    };
  }

  /** Rebuilds an error from its JSON, as the subclass of its code; a code of a newer version stays as it is. */
  static from(record: AgentErrorRecord): AgentError {
    return createAgentError(record.code, record.message, record);
  }

  /** Tells whether a value is an agent error, also one of another copy of this library. */
  static is(value: unknown): value is AgentError {
    return value instanceof Error && AGENT_ERROR_BRAND in value;
  }
}

/** The provider rejected the request because the input exceeds the model's context window. */
export class ContextWindowOverflowError extends AgentError {
  /** Makes the error. */
  constructor(message: string, options?: AgentErrorOptions) {
    super("context_window_overflow", message, options);
  }
}

/** The provider refuses more requests for now; `retryable` is `false` when a quota or a bill is the reason. */
export class ModelThrottledError extends AgentError {
  /** Makes the error. */
  constructor(message: string, options?: AgentErrorOptions) {
    super("model_throttled", message, options);
  }
}

/** The connection failed, timed out, or ended before the reply did; or the provider is overloaded. */
export class NetworkError extends AgentError {
  /** Makes the error. */
  constructor(message: string, options?: AgentErrorOptions) {
    super("network_error", message, options);
  }
}

/** Facts about a structured output that never became valid. */
export interface StructuredOutputFailure extends AgentErrorOptions {
  /** How many answers were tried. */
  readonly attempts: number;
  /** Why the last one was refused. */
  readonly lastError: string;
}

/** The model never answered in the shape that the schema asks for. */
export class StructuredOutputFailedError extends AgentError {
  /** How many answers were tried. */
  readonly attempts: number;
  /** Why the last one was refused. */
  readonly lastError: string;

  /** Makes the error. */
  constructor(message: string, failure: StructuredOutputFailure) {
    super("structured_output_failed", message, failure);
    this.attempts = failure.attempts;
    this.lastError = failure.lastError;
  }

  /** The error as a JSON value. */
  override toJSON(): AgentErrorRecord {
    return { ...super.toJSON(), attempts: this.attempts, lastError: this.lastError };
  }
}

/** A run is active; wait for it, or steer it. */
export class AlreadyRunningError extends AgentError {
  /** Makes the error. */
  constructor(
    message = "The agent is already running: wait for it, steer it or abort it",
    options: AgentErrorOptions = {},
  ) {
    super("already_running", message, options);
  }
}

/** There is nothing to say to the model. */
export class NoMessagesError extends AgentError {
  /** Makes the error. */
  constructor(
    message = "There are no messages to send: prompt the agent first",
    options: AgentErrorOptions = {},
  ) {
    super("no_messages", message, options);
  }
}

/** The history ends with a finished reply, so there is nothing to continue. */
export class InvalidContinueError extends AgentError {
  /** Makes the error. */
  constructor(
    message = "Cannot continue after a finished reply: prompt the agent, or queue a message first",
    options: AgentErrorOptions = {},
  ) {
    super("invalid_continue", message, options);
  }
}

/** The reply could not be read, or a stream function broke its contract. */
export class StreamError extends AgentError {
  /** Makes the error. */
  constructor(message: string, options?: AgentErrorOptions) {
    super("stream_error", message, options);
  }
}

/** The caller cancelled. */
export class AbortedError extends AgentError {
  /** Makes the error. */
  constructor(message = "The run was aborted", options: AgentErrorOptions = {}) {
    super("aborted", message, options);
  }
}

/** The key is missing, wrong, or may not do this. */
export class AuthError extends AgentError {
  /** Makes the error. */
  constructor(message: string, options?: AgentErrorOptions) {
    super("auth_error", message, options);
  }
}

/** The provider, or the model itself, refused the content. */
export class ContentFilteredError extends AgentError {
  /** Makes the error. */
  constructor(message: string, options?: AgentErrorOptions) {
    super("content_filtered", message, options);
  }
}

/** The provider does not know the model. */
export class ModelNotFoundError extends AgentError {
  /** Makes the error. */
  constructor(message: string, options?: AgentErrorOptions) {
    super("model_not_found", message, options);
  }
}

/** The request, or an option, is not valid. */
export class BadRequestError extends AgentError {
  /** Makes the error. */
  constructor(message: string, options?: AgentErrorOptions) {
    super("bad_request", message, options);
  }
}

/** A limit on cost, tokens or time was reached. */
export class BudgetExceededError extends AgentError {
  /** Makes the error. */
  constructor(message: string, options?: AgentErrorOptions) {
    super("budget_exceeded", message, options);
  }
}

/** A tool did not finish in time. */
export class ToolTimeoutError extends AgentError {
  /** Makes the error. */
  constructor(message: string, options?: AgentErrorOptions) {
    super("tool_timeout", message, options);
  }
}

/**
 * What a session failed at. `locked`: somebody else has it open for writing. `lock_lost`: somebody else has
 * taken it over. `not_a_session`: nothing in it can be read. `write_failed`: the disk is full, a permission
 * was lost, or the like; what was not written is not in memory either.
 */
export type SessionErrorReason =
  | "bad_id"
  | "not_found"
  | "already_exists"
  | "locked"
  | "lock_lost"
  | "read_only"
  | "closed"
  | "not_a_session"
  | "newer_version"
  | "unknown_entry"
  | "read_failed"
  | "write_failed";

/** Who has a session open for writing. */
export interface SessionOwner {
  /** Id of the process. */
  readonly pid: number;
  /** What the host calls itself. */
  readonly name?: string;
  /** Since when, in milliseconds since the epoch. */
  readonly since: number;
  /** When it last gave a sign of life, in milliseconds since the epoch. */
  readonly heartbeat: number;
}

/** Facts about a session that could not be opened, read or written. */
export interface SessionFailure extends AgentErrorOptions {
  /** What it failed at. */
  readonly reason: SessionErrorReason;
  /** Who has it open, where `reason` is `"locked"` or `"lock_lost"`. */
  readonly owner?: SessionOwner | undefined;
}

/** A session could not be opened, read or written. */
export class SessionError extends AgentError {
  /** What it failed at. */
  readonly reason: SessionErrorReason;
  /** Who has it open, where `reason` is `"locked"` or `"lock_lost"` and it is known. */
  declare readonly owner?: SessionOwner;

  /** Makes the error. */
  constructor(message: string, failure: SessionFailure) {
    super("session_error", message, failure);
    this.reason = failure.reason;
    if (failure.owner !== undefined) this.owner = failure.owner;
  }

  /** The error as a JSON value. */
  override toJSON(): AgentErrorRecord {
    const { reason, owner } = this;
    return { ...super.toJSON(), reason, ...(owner !== undefined && { owner }) };
  }
}

type AgentErrorClass = new (message: string, options?: AgentErrorOptions) => AgentError;

const ERROR_CLASSES: Readonly<
  Record<Exclude<AgentErrorCode, "structured_output_failed" | "session_error">, AgentErrorClass>
> = {
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

/** Makes the error of a code, as its subclass. */
export function createAgentError(
  code: AgentErrorCode,
  message: string,
  options: AgentErrorOptions & Partial<StructuredOutputFailure> & Partial<SessionFailure> = {},
): AgentError {
  if (code === "structured_output_failed") {
    const { attempts = 0, lastError = "" } = options;
    return new StructuredOutputFailedError(message, { ...options, attempts, lastError });
  }
  if (code === "session_error") {
    const { reason = "read_failed" } = options;
    return new SessionError(message, { ...options, reason });
  }
  if (!Object.hasOwn(ERROR_CLASSES, code)) return new AgentError(code, message, options);
  return new ERROR_CLASSES[code](message, options);
}

/** The words of any thrown value, whatever it is. */
export function getErrorMessage(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  try {
    if (thrown instanceof Error) return thrown.message || thrown.name;
    if (typeof thrown !== "object" || thrown === null) return String(thrown);
    const { message } = thrown as { readonly message?: unknown };
    return typeof message === "string" && message !== "" ? message : JSON.stringify(thrown);
  } catch {
    return "Something was thrown that cannot be read";
  }
}

/** `network_error` becomes `NetworkError`; not the class's own name, which minifiers shorten. */
function toErrorName(code: string): string {
  const words = code.split("_").filter((word) => word !== "error");
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}Error`;
}

function isRetryableCode(code: AgentErrorCode): boolean {
  return code === "model_throttled" || code === "network_error";
}
