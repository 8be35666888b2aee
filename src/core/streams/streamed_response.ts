/**
 * Responses that arrive in parts.
 *
 * @module
 */

/** Keeps nginx from buffering a body, and servers, such as those with a compression middleware, from compressing it. */
export const STREAM_HEADERS: Readonly<Record<"cache-control" | "x-accel-buffering", string>> = {
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};
