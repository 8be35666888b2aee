/**
 * The text of a response that is an error instead of a stream.
 *
 * @module
 */

import { startTimer } from "../../../src/core/ports/start_timer.ts";
import type { AdapterSettings } from "../options/adapter_options.ts";
import { isBinaryText } from "./binary_text.ts";

/** Maximum time to read the body of an error response. */
const ERROR_BODY_TIMEOUT_MS = 10_000;

/**
 * Reads a body as text, up to the limits of size and time. When reading fails, returns the text read so far; of binary
 * content, returns its type and size.
 */
export async function readErrorText(
  { body, headers }: Response,
  { maxErrorBytes, idleTimeoutMs, clock }: AdapterSettings,
  signal: AbortSignal,
): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  const stopTimer = startTimer(clock, Math.min(idleTimeoutMs, ERROR_BODY_TIMEOUT_MS), stop);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const { text, bytes, isComplete } = await readStart(reader, maxErrorBytes);
    if (!isBinaryText(text) || parseJsonOrNull(text) !== null) return text;
    const size = `${isComplete ? "" : "at least "}${bytes} bytes`;
    return `binary content (${headers.get("content-type") ?? "unknown type"}, ${size})`;
  } finally {
    stopTimer();
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** The beginning of a body. */
interface BodyText {
  readonly text: string;
  /** Number of bytes that were read. */
  readonly bytes: number;
  /** Whether the body has no other bytes. */
  readonly isComplete: boolean;
}

/** Reads a body until it has the maximum number of bytes, ends or fails: the status is known, so that the error is reported. */
async function readStart(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<BodyText> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    while (bytes < maxBytes) {
      const { done, value } = await reader.read();
      if (done) return { text, bytes, isComplete: true };
      text += decoder.decode(value.subarray(0, maxBytes - bytes), { stream: true });
      bytes += value.length;
    }
  } catch {
    // The text so far is reported.
  }
  return { text, bytes, isComplete: false };
}

/** Parses JSON; returns `null` for a text that is not JSON. */
export function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
