/**
 * Parser for the error bodies of providers.
 *
 * ```text
 * {"error": {"type", "code", "message", "status", "details", "metadata": {"raw"}}}     OpenAI and most others
 * {"type": "error", "error": {"type", "message"}, "request_id"}                        Anthropic
 * {"error": "message", "code"}                                                         xAI, Ollama
 * {"error": "message", "error_type"}                                                   TGI
 * {"message", "type", "code"}                                                          Mistral, Bedrock
 * {"detail": "message"}, [{"error": {…}}], a web page, plain text, nothing             servers and proxies
 * ```
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../src/core/json/json.ts";

/** An error as reported by a provider. */
export interface ProviderError {
  /** Error codes and types, the most specific first. */
  readonly codes: readonly string[];
  /** HTTP status in the error itself. */
  readonly status?: number;
  /** Message in one line; empty when there is none. */
  readonly message: string;
  /** Id of the request at the provider. */
  readonly requestId?: string;
  /** The error as JSON; empty when it is not JSON. */
  readonly body: JsonObject;
}

/** Maximum length of a message that is classified, in characters. */
const MAX_MESSAGE_LENGTH = 10_000;

/** Reads the body of an error response. */
export function readErrorBody(text: string): ProviderError {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { codes: [], message: toSingleLine(extractPageText(text)), body: {} };
  }
  return readErrorValue(Array.isArray(value) ? value[0] : value);
}

/** Reads a parsed error, such as one within a stream. */
export function readErrorValue(value: unknown): ProviderError {
  if (!isJsonObject(value)) {
    return { codes: [], message: toSingleLine(typeof value === "string" ? value : ""), body: {} };
  }
  const inner = isJsonObject(value["error"]) ? value["error"] : value;
  const requestId = value["request_id"] ?? inner["request_id"];
  const status = findStatus(inner);
  return {
    codes: collectCodes(value, inner),
    message: toSingleLine(findMessage(value, inner)),
    body: value,
    ...(status !== undefined && { status }),
    ...(typeof requestId === "string" && { requestId }),
  };
}

/** Whether a value of a stream is an error, which some servers send without the member `error`. */
export function isErrorValue(value: JsonObject): boolean {
  const { error, message, detail, type, object } = value;
  return Boolean(error) || type === "error" || object === "error" || Boolean(detail) ||
    (typeof message === "string" && message !== "");
}

/**
 * Whether an event of an unknown type is an error. A message makes it one only if its type or a code states it, since an
 * event of another type may have a message, too.
 */
export function isErrorEvent(event: JsonObject): boolean {
  const { message: _message, detail: _detail, ...others } = event;
  const { type, code, status } = event;
  const hasErrorCode = (code ?? status ?? null) !== null;
  const isOther = typeof type === "string" && !hasErrorCode && !/error|exception/i.test(type);
  return isErrorValue(isOther ? others : event);
}

function collectCodes(outer: JsonObject, inner: JsonObject): string[] {
  const nested = isJsonObject(inner["innererror"]) ? inner["innererror"] : {};
  const details = Array.isArray(inner["details"]) ? inner["details"] : [];
  const reasons = details.map((detail) => isJsonObject(detail) ? detail["reason"] : undefined);
  const candidates = [
    details.some(isDailyQuota) ? "daily_quota_exceeded" : undefined,
    ...reasons,
    isAboutAnotherField(inner) ? undefined : inner["code"],
    nested["code"],
    inner["type"],
    inner["error_type"],
    inner["status"],
    inner["__type"],
    outer["code"],
    outer["type"],
  ];
  return candidates.filter((code): code is string => typeof code === "string" && code !== "");
}

/** Whether OpenAI reports a text that is too long in a field other than the input, such as `prompt_cache_key`. */
function isAboutAnotherField({ code, param }: JsonObject): boolean {
  return code === "string_above_max_length" && typeof param === "string" &&
    !/^(?:input|messages|prompt$|instructions)/.test(param);
}

/** Whether a detail of a Google error is about a daily quota; such errors have a retry delay of seconds too. */
function isDailyQuota(detail: unknown): boolean {
  const violations = isJsonObject(detail) ? detail["violations"] : undefined;
  return Array.isArray(violations) &&
    violations.some((violation) =>
      isJsonObject(violation) && /PerDay/.test(String(violation["quotaId"]))
    );
}

/** Finds the status within an error: a number (OpenRouter, Google, llama.cpp) or a string (Azure). */
function findStatus(inner: JsonObject): number | undefined {
  for (const value of [inner["status"], inner["status_code"], inner["code"]]) {
    const status = Number(value);
    if (Number.isInteger(status) && status >= 400 && status < 600) return status;
  }
  return undefined;
}

function findMessage(outer: JsonObject, inner: JsonObject): string {
  const metadata = isJsonObject(inner["metadata"]) ? inner["metadata"]["raw"] : undefined;
  const message = [
    inner["message"],
    outer["message"],
    outer["error"],
    outer["detail"],
    inner["explanation"],
  ].find((text) => typeof text === "string" && text !== "");
  const text = typeof message === "string" ? message : JSON.stringify(outer);
  // OpenRouter's message is "Provider returned error"; the metadata contains that error.
  return typeof metadata === "string" ? `${text}: ${metadata}` : text;
}

/** Returns the title or text of a web page, such as a proxy sends, and any other text unchanged. */
function extractPageText(text: string): string {
  if (!/^\s*<(?:!doctype|html|\?xml)/i.test(text)) return text;
  const title = /<title[^<>]*>([^<]*)<\/title>/i.exec(text)?.[1];
  return title?.trim() || text.replace(/<[^<>]*>/g, " ");
}

function toSingleLine(text: string): string {
  // deno-lint-ignore no-control-regex -- removes control characters from messages
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  return line.slice(0, MAX_MESSAGE_LENGTH);
}
