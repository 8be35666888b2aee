/**
 * Reads the body of a request.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { systemClock } from "../../core/ports/ports.ts";
import { startTimer } from "../../core/ports/start_timer.ts";

/** Limits of a body. */
export interface BodyLimits {
  /** Maximum size in bytes. */
  readonly maxBytes: number;
  /** Maximum time until its end, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Reads a body as text.
 *
 * @throws {BadRequestError} If it exceeds a limit, or the connection breaks.
 */
export async function readBody(
  { body }: Request,
  { maxBytes, timeoutMs }: BodyLimits,
): Promise<string> {
  const reader = body?.getReader();
  let isLate = false;
  const stopTimer = startTimer(systemClock, timeoutMs, () => {
    isLate = true;
    reader?.cancel().catch(() => {});
  });
  try {
    const decoder = new TextDecoder();
    let text = "";
    let size = 0;
    for (let read = await next(reader); read; read = await next(reader)) {
      size += read.length;
      if (size > maxBytes) {
        throw new BadRequestError(`The body must not be larger than ${maxBytes} bytes`);
      }
      text += decoder.decode(read, { stream: true });
    }
    if (isLate) throw new BadRequestError(`The body was not received within ${timeoutMs} ms`);
    return text + decoder.decode();
  } finally {
    stopTimer();
    // Not awaited: a client that sends without end must not hold the request.
    reader?.cancel().catch(() => {});
  }
}

async function next(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
): Promise<Uint8Array | undefined> {
  try {
    return (await reader?.read())?.value;
  } catch (cause) {
    throw new BadRequestError("The connection broke while the body was read", { cause });
  }
}
