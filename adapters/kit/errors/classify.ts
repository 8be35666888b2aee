/**
 * Classification of provider errors as `AgentError`s.
 *
 * The error code of the provider decides first, unless the status rejects the key, then the `decisivePatterns`
 * of its table, the status, and the message.
 *
 * @module
 */

import { type AgentError, createAgentError } from "../../../src/core/errors/errors.ts";
import { redact } from "../../../src/core/text/redact.ts";
import { type ProviderError, readErrorBody, readErrorValue } from "./error_body.ts";
import {
  AUTH,
  BAD_REQUEST,
  COMMON_CODES,
  COMMON_PATTERNS,
  type ErrorClassification,
  type ErrorTable,
  FALLBACK_CODES,
  FILTERED,
  isModerationMessage,
  isOverflowMessage,
  isOversizedMessage,
  isQuotaMessage,
  OVERFLOW,
  QUOTA,
  STATUSES,
  THROTTLED,
  UNAVAILABLE,
  UNKNOWN,
  UNKNOWN_MODEL,
} from "./error_table.ts";
import { findRetryAfter } from "./retry_after.ts";

/** Source of an error, and the data needed to classify it. */
export interface ErrorOrigin {
  /** Provider name. */
  readonly provider: string;
  /** Error codes and messages of the provider. */
  readonly table?: ErrorTable | undefined;
  /** Texts to redact from the message. */
  readonly secrets?: readonly string[] | undefined;
  /** Current time in milliseconds since the epoch, for dates in `Retry-After`. */
  readonly now: number;
}

/** A response with an error status. */
export interface ErrorResponse {
  /** HTTP status. */
  readonly status: number;
  /** Response headers. */
  readonly headers: Headers;
  /** Response body, possibly truncated. */
  readonly body: string;
}

/** Maximum length of a provider's message in an error, in characters. */
const MAX_MESSAGE_LENGTH = 2000;

/** Response headers that hold the id of the request. */
const REQUEST_ID_HEADERS = [
  "request-id",
  "x-request-id",
  "x-amzn-requestid",
  "apim-request-id",
  "mistral-correlation-id",
];

/** Creates the error of a response with an error status. */
export function classifyResponse(
  { status, headers, body }: ErrorResponse,
  origin: ErrorOrigin,
): AgentError {
  const reported = withAwsErrorType(readErrorBody(body), headers);
  const { provider, table, secrets, now } = origin;
  const { message, requestId } = reported;
  const retryAfterMs = findRetryAfter({ headers, message, body: reported.body, now });
  const classification = classifyFailure({ ...reported, status, retryAfterMs }, table);
  const isMissingPath = classification === BAD_REQUEST && status === 404;
  const advice = isMissingPath ? "check the baseUrl" : findAdvice(message, table);
  const quote = shorten(redact(message, secrets));
  const text = `${provider} answered ${status}${quote && `: ${quote}`}${
    advice ? ` (${advice})` : ""
  }`;
  return createAgentError(classification.code, text, {
    retryable: resolveRetryable(classification, headers.get("x-should-retry")),
    status,
    retryAfterMs,
    provider,
    requestId: redactId(findRequestId(headers) ?? requestId, secrets),
  });
}

function findAdvice(message: string, table: ErrorTable | undefined): string | undefined {
  return table?.advice?.find(([pattern]) => pattern.test(message))?.[1];
}

/** Adds the error type that AWS sends in a header, sometimes followed by a colon and a URL. */
function withAwsErrorType(reported: ProviderError, headers: Headers): ProviderError {
  const [type] = headers.get("x-amzn-errortype")?.split(":") ?? [];
  return type ? { ...reported, codes: [type, ...reported.codes] } : reported;
}

/** Creates the error that a provider reports within a stream. A status in the error is considered, if there is one. */
export function classifyStreamError(value: unknown, origin: ErrorOrigin): AgentError {
  const reported = readErrorValue(value);
  const { provider, table, secrets, now } = origin;
  const { message, body, status, requestId } = reported;
  const retryAfterMs = findRetryAfter({ headers: new Headers(), message, body, now });
  const { code, retryable } = classifyFailure({ ...reported, retryAfterMs }, table);
  const quote = shorten(redact(message, secrets));
  const text = `${provider} reported an error${quote && `: ${quote}`}`;
  return createAgentError(code, text, {
    retryable,
    status,
    retryAfterMs,
    provider,
    requestId: redactId(requestId, secrets),
  });
}

interface FailureDetails extends Pick<ProviderError, "codes" | "message"> {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
}

function classifyFailure(
  failure: FailureDetails,
  table: ErrorTable | undefined,
): ErrorClassification {
  const { codes, message, status } = failure;
  const classification = classifyByDecisiveCode(failure, table) ??
    matchPattern(message, table?.decisivePatterns) ??
    classifyByStatus(failure) ??
    classifyByMessage(message, table) ??
    classifyByCode(codes, [FALLBACK_CODES]) ??
    (status === undefined ? UNKNOWN : BAD_REQUEST);
  if (classification === AUTH && isModerationMessage(message)) return FILTERED;
  // Moonshot and others answer an empty balance like a key without permission.
  if (classification === AUTH && status === 403 && isQuotaMessage(message)) return QUOTA;
  if (classification !== THROTTLED) return classification;
  if (isOversizedMessage(message)) return OVERFLOW;
  return isQuotaExhausted(failure) ? QUOTA : classification;
}

/** Some gateways give all errors the code of a failed server, also where the status rejects the key. */
function classifyByDecisiveCode(
  { codes, status }: FailureDetails,
  table: ErrorTable | undefined,
): ErrorClassification | undefined {
  const classification = classifyByCode(codes, [table?.codes ?? {}, COMMON_CODES]);
  const isKeyRejected = status === 401 || status === 403;
  return classification === UNAVAILABLE && isKeyRejected ? undefined : classification;
}

function classifyByCode(
  codes: readonly string[],
  tables: readonly Readonly<Record<string, ErrorClassification>>[],
): ErrorClassification | undefined {
  for (const table of tables) {
    for (const code of codes) if (Object.hasOwn(table, code)) return table[code];
  }
  return undefined;
}

function classifyByStatus({ status, message }: FailureDetails): ErrorClassification | undefined {
  if (status === undefined) return undefined;
  const classification = STATUSES[status];
  if (classification) return classification;
  // Gateways report a context overflow with any status.
  if (isOverflowMessage(message)) return OVERFLOW;
  if (status >= 500) return UNAVAILABLE;
  const isMissing = status === 404 || status === 410;
  return isMissing && /model|deployment|endpoints/i.test(message) ? UNKNOWN_MODEL : undefined;
}

function classifyByMessage(
  message: string,
  table: ErrorTable | undefined,
): ErrorClassification | undefined {
  return matchPattern(message, table?.patterns) ??
    (isOverflowMessage(message) ? OVERFLOW : matchPattern(message, COMMON_PATTERNS));
}

function matchPattern(
  message: string,
  patterns: ErrorTable["patterns"],
): ErrorClassification | undefined {
  return patterns?.find(([pattern]) => pattern.test(message))?.[1];
}

/** Longest retry delay of a quota that a retry may wait for: one hour. */
const MAX_QUOTA_DELAY_MS = 3_600_000;

/**
 * Whether the message is about a quota that no retry resets: without a retry delay, with a long one, or daily. A daily
 * rate limit with a short delay resets bit by bit.
 */
function isQuotaExhausted({ message, retryAfterMs = Infinity }: FailureDetails): boolean {
  const isDaily = /per[- ]?day|daily/i.test(message);
  const isLong = retryAfterMs > MAX_QUOTA_DELAY_MS;
  return isQuotaMessage(message) ? isLong || isDaily : isDaily && isLong;
}

/** Applies `x-should-retry`; `true` only to unclassified errors, since no retry shortens an input or pays a bill. */
function resolveRetryable(
  classification: ErrorClassification,
  header: string | null,
): boolean | undefined {
  if (header === "false") return false;
  const isUnclassified = classification === BAD_REQUEST || classification === UNKNOWN;
  return header === "true" && isUnclassified ? true : classification.retryable;
}

/** Shortens a message without secrets; a part of a secret would not be found. */
function shorten(message: string): string {
  return message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
}

/** Removes secrets from an id, in case a gateway repeats headers of the request. */
function redactId(id: string | undefined, secrets: ErrorOrigin["secrets"]): string | undefined {
  return id && redact(id, secrets);
}

function findRequestId(headers: Headers): string | undefined {
  for (const name of REQUEST_ID_HEADERS) {
    const id = headers.get(name);
    if (id) return id;
  }
  return undefined;
}
