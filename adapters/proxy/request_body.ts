/**
 * A request's body, up to a limit.
 *
 * @module
 */

import { badRequest, type Refusal } from "./refusal.ts";

/** A body that was read, or why it was not. */
export type ReadBody =
  | { readonly type: "body"; readonly text: string }
  | { readonly type: "refused"; readonly refusal: Refusal };

/** Reads a body as text; one that is longer than the limit is not read to its end. */
export async function readBody(request: Request, maxBytes: number): Promise<ReadBody> {
  const tooLarge = badRequest(413, `The body must not be larger than ${maxBytes} bytes`);
  if (Number(request.headers.get("content-length")) > maxBytes) return refused(tooLarge);
  const decoder = new TextDecoder();
  let text = "";
  let left = maxBytes;
  try {
    for await (const chunk of request.body ?? []) {
      left -= chunk.length;
      if (left < 0) return refused(tooLarge);
      text += decoder.decode(chunk, { stream: true });
    }
  } catch {
    return refused(badRequest(400, "The body broke off"));
  }
  return { type: "body", text: text + decoder.decode() };
}

function refused(refusal: Refusal): ReadBody {
  return { type: "refused", refusal };
}
