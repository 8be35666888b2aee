/**
 * A request's body, up to a limit.
 *
 * @module
 */

import { createBadRequest, type Rejection } from "./rejection.ts";

/** A body that was read, or why it was not. */
export type BodyReadResult =
  | { readonly type: "body"; readonly text: string }
  | { readonly type: "refused"; readonly refusal: Rejection };

/** Reads a body as text; one that is longer than the limit is not read to its end. */
export async function readBody(request: Request, maxBytes: number): Promise<BodyReadResult> {
  const tooLarge = createBadRequest(413, `The body must not be larger than ${maxBytes} bytes`);
  if (Number(request.headers.get("content-length")) > maxBytes) return rejectBody(tooLarge);
  const decoder = new TextDecoder();
  let text = "";
  let left = maxBytes;
  try {
    for await (const chunk of request.body ?? []) {
      left -= chunk.length;
      if (left < 0) return rejectBody(tooLarge);
      text += decoder.decode(chunk, { stream: true });
    }
  } catch {
    return rejectBody(createBadRequest(400, "The body broke off"));
  }
  return { type: "body", text: text + decoder.decode() };
}

function rejectBody(refusal: Rejection): BodyReadResult {
  return { type: "refused", refusal };
}
