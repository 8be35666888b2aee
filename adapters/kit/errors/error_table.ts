/**
 * Tables that classify provider errors by code, status and message.
 *
 * @module
 */

import type { AgentErrorCode } from "../../../src/core/errors/errors.ts";

/** Classification of a provider error. */
export interface ErrorClassification {
  /** Code of the resulting `AgentError`. */
  readonly code: AgentErrorCode;
  /** Whether the same request may succeed later. Default: as for the code. */
  readonly retryable?: boolean;
}

/** Error codes and messages of one provider, in addition to the common tables. */
export interface ErrorTable {
  /** Classifications by error code, type or exception name. */
  readonly codes?: Readonly<Record<string, ErrorClassification>>;
  /** Classifications by message, in order, matched before the status. */
  readonly decisivePatterns?: readonly (readonly [RegExp, ErrorClassification])[];
  /** Classifications by message, in order, matched when neither code nor status decides. */
  readonly patterns?: readonly (readonly [RegExp, ErrorClassification])[];
  /** Advice by message, in order, which the error has after the message. */
  readonly advice?: readonly (readonly [RegExp, string])[];
}

/** Input that exceeds the context window. */
export const OVERFLOW: ErrorClassification = { code: "context_window_overflow" };
/** Rate limit; a retry helps. */
export const THROTTLED: ErrorClassification = { code: "model_throttled" };
/** Exhausted quota or unpaid bill; a retry does not help. */
export const QUOTA: ErrorClassification = { code: "model_throttled", retryable: false };
/** Server error or overload; a retry helps. */
export const UNAVAILABLE: ErrorClassification = { code: "network_error" };
/** Missing or invalid key, or missing permission. */
export const AUTH: ErrorClassification = { code: "auth_error" };
/** Content rejected by a filter. */
export const FILTERED: ErrorClassification = { code: "content_filtered" };
/** Unknown model. */
export const UNKNOWN_MODEL: ErrorClassification = { code: "model_not_found" };
/** Invalid request. */
export const BAD_REQUEST: ErrorClassification = { code: "bad_request" };
/** Output that the model wrote wrongly; the next attempt may be right. */
const MALFORMED: ErrorClassification = { code: "bad_request", retryable: true };
/** Error within a stream that no table matches. */
export const UNKNOWN: ErrorClassification = { code: "stream_error", retryable: false };

/** Codes with the same meaning at every provider. */
export const COMMON_CODES: Readonly<Record<string, ErrorClassification>> = {
  context_length_exceeded: OVERFLOW,
  exceed_context_size_error: OVERFLOW,
  request_too_large: OVERFLOW,
  string_above_max_length: OVERFLOW,

  rate_limit_error: THROTTLED,
  rate_limit_exceeded: THROTTLED,
  rate_limited: THROTTLED,
  too_many_requests: THROTTLED,
  RESOURCE_EXHAUSTED: THROTTLED,

  insufficient_quota: QUOTA,
  daily_quota_exceeded: QUOTA,
  billing_error: QUOTA,
  billing_hard_limit_reached: QUOTA,
  billing_not_active: QUOTA,
  usage_limit_reached: QUOTA,
  exceeded_current_quota_error: QUOTA, // Moonshot

  overloaded_error: UNAVAILABLE,
  overloaded: UNAVAILABLE,
  server_error: UNAVAILABLE,
  api_error: UNAVAILABLE,
  timeout_error: UNAVAILABLE,
  internal_error: UNAVAILABLE,
  internal_server_error: UNAVAILABLE,
  service_unavailable: UNAVAILABLE,
  engine_overloaded: UNAVAILABLE,
  server_is_overloaded: UNAVAILABLE, // OpenAI
  slow_down: UNAVAILABLE, // OpenAI
  generation: UNAVAILABLE, // TGI

  authentication_error: AUTH,
  permission_error: AUTH,
  invalid_api_key: AUTH,
  invalid_authentication: AUTH,

  content_filter: FILTERED,
  content_policy_violation: FILTERED,
  image_content_policy_violation: FILTERED,
  bio_policy: FILTERED,
  misalignment_policy_violation: FILTERED,
  ResponsibleAIPolicyViolation: FILTERED,

  model_not_found: UNKNOWN_MODEL,

  // Groq
  tool_use_failed: MALFORMED,
  json_validate_failed: MALFORMED,
};

/** Unspecific codes, considered only after the message. */
export const FALLBACK_CODES: Readonly<Record<string, ErrorClassification>> = {
  invalid_request_error: BAD_REQUEST,
  invalid_prompt: BAD_REQUEST,
  not_found_error: BAD_REQUEST,
  unsupported_value: BAD_REQUEST,

  // OpenAI, in the last event of a response
  invalid_image: BAD_REQUEST,
  invalid_image_format: BAD_REQUEST,
  invalid_image_mode: BAD_REQUEST,
  invalid_image_url: BAD_REQUEST,
  invalid_base64_image: BAD_REQUEST,
  image_too_large: BAD_REQUEST,
  image_too_small: BAD_REQUEST,
  image_parse_error: BAD_REQUEST,
  image_file_too_large: BAD_REQUEST,
  image_file_not_found: BAD_REQUEST,
  empty_image_file: BAD_REQUEST,
  failed_to_download_image: BAD_REQUEST,
  unsupported_image_media_type: BAD_REQUEST,
};

/** Statuses that decide without the message. */
export const STATUSES: Readonly<Record<number, ErrorClassification>> = {
  401: AUTH,
  402: QUOTA,
  403: AUTH,
  408: UNAVAILABLE,
  409: UNAVAILABLE,
  413: OVERFLOW,
  424: UNAVAILABLE, // TGI: the generation failed
  425: UNAVAILABLE,
  429: THROTTLED,
  498: UNAVAILABLE, // Groq: no capacity for the flex tier
  501: BAD_REQUEST,
};

/** Matches messages about rate limits, some of which resemble overflow messages ("too many tokens"). */
const THROTTLING_PATTERN =
  /rate limit|rate-limited|throttl|too many requests|too many tokens,? (?:please )?wait|tokens per (?:minute|day|hour)/i;

/** Match messages about a context overflow. */
const OVERFLOW_PATTERNS: readonly RegExp[] = [
  /prompt is too long/i, // Anthropic
  /exceeds? context limit/i, // Anthropic
  /request exceeds the maximum size/i, // Anthropic
  /maximum context length/i, // OpenAI, Mistral, OpenRouter, vLLM
  /exceeds? (?:the |the available |the model'?s |model'?s |its )?(?:maximum )?context (?:window|size|length|limit)/i, // OpenAI, llama.cpp
  /exceeded max context length/i, // Ollama
  /longer than the (?:maximum |model's )?(?:context|model) (?:length|window)/i, // Ollama, vLLM, SGLang
  /context (?:window|length|size) (?:has been )?exceed/i, // llama.cpp, LM Studio, MiniMax and others
  /input token count.{0,40}(?:exceeds|only supports)/i, // Gemini, Vertex AI
  /input is too long/i, // Bedrock
  /too many input tokens/i, // Bedrock
  /number of input tokens.{0,40}exceed/i, // Nova at Bedrock, SiliconFlow
  /prompt exceeds max(?:imum)? length/i, // z.ai
  /(?:range of input length should be|input length [\d,]+ exceeds)/i, // Qwen, Volcano Engine
  /`inputs`.{0,40}must (?:be <|have less)/i, // TGI
  /maximum prompt length/i, // xAI
  /reduce the length of the (?:messages|prompt|input)/i, // Groq
  /greater than the context length|context length of only/i, // LM Studio
  /prompt token count of [\d,]+ exceeds the limit/i, // GitHub Copilot
  /exceeded model token limit/i, // Kimi
  /ContextWindowExceeded/, // LiteLLM
];

/** Matches messages about a request with more tokens than the limit of a minute, which no wait makes possible. */
const OVERSIZED_PATTERN = /request too large for [^:]*tokens per min/i;

const QUOTA_PATTERN =
  /insufficient[_ ](?:quota|balance|credit|funds)|exceeded your current quota|credit balance is too low|out of credits|credits are depleted|have any credits|key limit exceeded|payment required|extra usage is required|(?:spend|spending|billing|monthly|usage) (?:hard )?(?:limit|cap)|quota.{0,40}per ?day|per ?day.{0,40}quota|daily (?:limit|quota)/i;

/** Classifications by message, in order, for errors that neither code nor status decides. */
export const COMMON_PATTERNS: readonly (readonly [RegExp, ErrorClassification])[] = [
  [QUOTA_PATTERN, QUOTA],
  [THROTTLING_PATTERN, THROTTLED],
  [
    /(?:invalid|incorrect|missing|expired|no|wrong) (?:x-)?(?:api[- _]?key|bearer token|credentials)|api[- _]?key (?:is )?(?:not valid|invalid|expired|missing)|invalid x-api-key|unauthori[sz]ed|authentication (?:failed|required|error)|security token .{0,40}invalid/i,
    AUTH,
  ],
  [/content (?:management )?polic|content[_ ]filter|safety (?:system|polic)|flagged as/i, FILTERED],
  [
    /\bmodel\b[^.]{0,80}(?:not found|(?:does not|doesn't|not) exist|is not available|no longer|deprecated|decommissioned|retired)|(?:unknown|no such|invalid|not a valid) model|model identifier is invalid|no endpoints found/i,
    UNKNOWN_MODEL,
  ],
  [
    /overloaded|temporarily unavailable|service unavailable|internal server error|server had an error|can retry your request/i,
    UNAVAILABLE,
  ],
];

/** Whether a message reports that the input exceeds the context window. */
export function isOverflowMessage(message: string): boolean {
  return !THROTTLING_PATTERN.test(message) &&
    OVERFLOW_PATTERNS.some((pattern) => pattern.test(message));
}

/** Whether a message reports that a single request exceeds a rate limit, so that only a shorter input helps. */
export function isOversizedMessage(message: string): boolean {
  return OVERSIZED_PATTERN.test(message);
}

/** Whether a message reports that the provider's moderation rejects the input, which OpenRouter does with status 403. */
export function isModerationMessage(message: string): boolean {
  return /requires moderation|input was flagged/i.test(message);
}

/** Whether a message reports an exhausted quota or an unpaid bill. */
export function isQuotaMessage(message: string): boolean {
  return QUOTA_PATTERN.test(message);
}
