/**
 * The forms in which providers word an error.
 *
 * ```text
 * {"error": {"type", "code", "message", "status", "details", "metadata": {"raw"}}}     OpenAI and most others
 * {"type": "error", "error": {"type", "message"}, "request_id"}                        Anthropic
 * {"error": "words", "code"}                                                           xAI, Ollama
 * {"message", "type", "code"}                                                          Mistral, Bedrock
 * {"detail": "words"}, [{"error": {…}}], a web page, plain words, nothing              servers and proxies
 * ```
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../src/core/json.ts";

/** What can be read out of an error. */
export interface ProviderError {
  /** The provider's names of the failure, the most telling first. */
  readonly codes: readonly string[];
  /** The status that the error itself names, when it does. */
  readonly status?: number;
  /** What the provider says; empty when it says nothing. */
  readonly message: string;
  /** The provider's name of the request. */
  readonly requestId?: string;
  /** The error as JSON; empty when it was none. */
  readonly body: JsonObject;
}

/** No message is longer, in characters. */
const MAX_MESSAGE_LENGTH = 2000;

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

/** Reads an error that is JSON already, such as one inside a stream. */
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

function collectCodes(outer: JsonObject, inner: JsonObject): string[] {
  const nested = isJsonObject(inner["innererror"]) ? inner["innererror"] : {};
  const details = Array.isArray(inner["details"]) ? inner["details"] : [];
  const reasons = details.map((detail) => isJsonObject(detail) ? detail["reason"] : undefined);
  const candidates = [
    details.some(isDailyQuota) ? "daily_quota_exceeded" : undefined,
    ...reasons,
    inner["code"],
    nested["code"],
    inner["type"],
    inner["status"],
    inner["__type"],
    outer["code"],
    outer["type"],
  ];
  return candidates.filter((code): code is string => typeof code === "string" && code !== "");
}

/** Google names the quota that is used up; it asks to wait for seconds also when it is that of the day. */
function isDailyQuota(detail: unknown): boolean {
  const violations = isJsonObject(detail) ? detail["violations"] : undefined;
  return Array.isArray(violations) &&
    violations.some((violation) =>
      isJsonObject(violation) && /PerDay/.test(String(violation["quotaId"]))
    );
}

/** OpenRouter, Google and llama.cpp put the status into the error; Azure does so as text. */
function findStatus(inner: JsonObject): number | undefined {
  for (const value of [inner["status"], inner["status_code"], inner["code"]]) {
    const status = Number(value);
    if (Number.isInteger(status) && status >= 400 && status < 600) return status;
  }
  return undefined;
}

function findMessage(outer: JsonObject, inner: JsonObject): string {
  const metadata = isJsonObject(inner["metadata"]) ? inner["metadata"]["raw"] : undefined;
  const words = [
    inner["message"],
    outer["message"],
    outer["error"],
    outer["detail"],
    inner["explanation"],
  ].find((text) => typeof text === "string" && text !== "");
  const said = typeof words === "string" ? words : JSON.stringify(outer);
  // OpenRouter says "Provider returned error"; what it returned stands in the metadata.
  return typeof metadata === "string" ? `${said}: ${metadata}` : said;
}

/** Proxies answer with web pages; their title says it all. */
function extractPageText(text: string): string {
  if (!/^\s*<(?:!doctype|html|\?xml)/i.test(text)) return text;
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1];
  return title?.trim() || text.replace(/<[^>]*>/g, " ");
}

function toSingleLine(text: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what must not get into a message.
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  return line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH)}…` : line;
}
