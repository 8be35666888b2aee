/**
 * Reads the body of a request.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";

/**
 * Reads a body as text.
 *
 * @throws {BadRequestError} If it is larger than the limit, or the connection breaks.
 */
export async function readBody(request: Request, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of readChunks(request)) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new BadRequestError(`The body must not be larger than ${maxBytes} bytes`);
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

async function* readChunks({ body }: Request): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  try {
    for (let read = await next(reader); read; read = await next(reader)) yield read;
  } finally {
    await reader?.cancel().catch(() => {});
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
