/**
 * The functions behind wrapped stream functions.
 *
 * @module
 */

import type { StreamFn } from "./stream.ts";

const origins = new WeakMap<StreamFn, StreamFn>();

/** Records that a stream function of the library calls another one, and nothing else; returns it. */
export function setStreamOrigin(streamFn: StreamFn, origin: StreamFn): StreamFn {
  origins.set(streamFn, origin);
  return streamFn;
}

/** Returns the function that a stream function of the library calls, or the function itself. */
export function getStreamOrigin(streamFn: StreamFn): StreamFn {
  return origins.get(streamFn) ?? streamFn;
}
