/**
 * A provider's refusal becomes an error of the one tree.
 *
 * The provider's code decides first, then the status, and the wording last; a provider's table may name wordings that
 * the status does not overrule.
 *
 * @module
 */

import { type AgentError, createAgentError } from "../../../src/core/errors.ts";
import { redact } from "../../../src/core/redact.ts";
import { type ProviderError, readErrorBody, readErrorValue } from "./error_body.ts";
import {
  BAD_REQUEST,
  COMMON_CODES,
  COMMON_PATTERNS,
  type ErrorClassification,
  type ErrorTable,
  FALLBACK_CODES,
  isOverflowMessage,
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

/** Who failed, and how their words are read. */
export interface ErrorOrigin {
  /** Name of the provider. */
  readonly provider: string;
  /** The provider's own codes and wordings. */
  readonly table?: ErrorTable | undefined;
  /** Texts that must not show up in a message. */
  readonly secrets?: readonly string[] | undefined;
  /** Milliseconds since the epoch, for dates in `Retry-After`. */
  readonly now: number;
}

/** A response that refuses. */
export interface ErrorResponse {
  /** Status of the response. */
  readonly status: number;
  /** Headers of the response. */
  readonly headers: Headers;
  /** Its body, possibly cut off. */
  readonly body: string;
}

/** Headers that name the request, by provider. */
const REQUEST_ID_HEADERS = [
  "request-id",
  "x-request-id",
  "x-amzn-requestid",
  "apim-request-id",
  "mistral-correlation-id",
];

/** The error of a response that refuses. */
export function classifyResponse(
  { status, headers, body }: ErrorResponse,
  origin: ErrorOrigin,
): AgentError {
  const said = withAwsErrorType(readErrorBody(body), headers);
  const { provider, table, secrets, now } = origin;
  const retryAfterMs = findRetryAfter({ headers, message: said.message, body: said.body, now });
  const verdict = classifyFailure({ ...said, status, retryAfterMs }, table);
  const message = `${provider} answered ${status}${said.message && `: ${said.message}`}`;
  return createAgentError(verdict.code, redact(message + getHint(verdict, status), secrets), {
    retryable: resolveRetryable(verdict, headers.get("x-should-retry")),
    status,
    retryAfterMs,
    provider,
    requestId: findRequestId(headers) ?? said.requestId,
  });
}

/** AWS names the failure in a header, sometimes with more behind a colon. */
function withAwsErrorType(said: ProviderError, headers: Headers): ProviderError {
  const [type] = headers.get("x-amzn-errortype")?.split(":") ?? [];
  return type ? { ...said, codes: [type, ...said.codes] } : said;
}

/** The error that a provider tells within a stream, classified like the status that it stands for. */
export function classifyStreamError(value: unknown, origin: ErrorOrigin): AgentError {
  const said = readErrorValue(value);
  const { provider, table, secrets, now } = origin;
  const { message, body, status } = said;
  const retryAfterMs = findRetryAfter({ headers: new Headers(), message, body, now });
  const verdict = classifyFailure({ ...said, retryAfterMs }, table);
  const words = `${provider} reported an error${message && `: ${message}`}`;
  return createAgentError(verdict.code, redact(words, secrets), {
    retryable: verdict.retryable,
    status,
    retryAfterMs,
    provider,
    requestId: said.requestId,
  });
}

interface FailureDetails extends Pick<ProviderError, "codes" | "message"> {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
}

function classifyFailure(
  refusal: FailureDetails,
  table: ErrorTable | undefined,
): ErrorClassification {
  const verdict = classifyByCode(refusal.codes, [table?.codes ?? {}, COMMON_CODES]) ??
    matchPattern(refusal.message, table?.decisivePatterns) ??
    classifyByStatus(refusal) ??
    classifyByMessage(refusal.message, table) ??
    classifyByCode(refusal.codes, [FALLBACK_CODES]) ??
    (refusal.status === undefined ? UNKNOWN : BAD_REQUEST);
  return verdict === THROTTLED && isFinal(refusal) ? QUOTA : verdict;
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
  const verdict = STATUSES[status];
  if (verdict) return verdict;
  // Gateways wrap a provider's overflow into a status of their own.
  if (isOverflowMessage(message)) return OVERFLOW;
  if (status >= 500) return UNAVAILABLE;
  const isMissing = status === 404 || status === 410;
  return isMissing && /model|deployment|endpoints/i.test(message) ? UNKNOWN_MODEL : undefined;
}

function classifyByMessage(
  message: string,
  table: ErrorTable | undefined,
): ErrorClassification | undefined {
  const verdict = matchPattern(message, table?.patterns);
  if (verdict) return verdict;
  return isOverflowMessage(message) ? OVERFLOW : matchPattern(message, COMMON_PATTERNS);
}

function matchPattern(
  message: string,
  wordings: ErrorTable["patterns"],
): ErrorClassification | undefined {
  return wordings?.find(([wording]) => wording.test(message))?.[1];
}

/** Quota words are final, unless the provider says itself when to come back. */
function isFinal({ message, retryAfterMs }: FailureDetails): boolean {
  return isQuotaMessage(message) && (retryAfterMs === undefined || /per ?day|daily/i.test(message));
}

/** `x-should-retry` wins where it can be true; no retry shortens an input or pays a bill. */
function resolveRetryable(
  verdict: ErrorClassification,
  header: string | null,
): boolean | undefined {
  if (header === "false") return false;
  const mayChange = verdict === BAD_REQUEST || verdict === UNKNOWN;
  return header === "true" && mayChange ? true : verdict.retryable;
}

function findRequestId(headers: Headers): string | undefined {
  for (const name of REQUEST_ID_HEADERS) {
    const id = headers.get(name);
    if (id) return id;
  }
  return undefined;
}

function getHint(verdict: ErrorClassification, status: number): string {
  return verdict === BAD_REQUEST && status === 404 ? " (is the baseUrl right?)" : "";
}
