/**
 * A `fetch` behind which a model speaks that was written beforehand.
 *
 * @module
 */

import { createAnthropicFrames, type ScriptedReply } from "./anthropic_frames.ts";

/** How the words come. */
export interface ScriptedFetchOptions {
  /** Milliseconds before each frame; 0 for all at once. */
  readonly frameMs: number;
  /** Milliseconds before the first frame of a reply: the model's time to think. */
  readonly thinkMs: number;
}

/** Makes a `fetch` that answers one request after the other with the replies, and needs no network. */
export function scriptedFetch(
  replies: readonly ScriptedReply[],
  { frameMs, thinkMs }: ScriptedFetchOptions,
): typeof fetch {
  let asked = 0;
  return (_input, init) => {
    const number = ++asked;
    const reply = replies[number - 1];
    if (!reply) return Promise.reject(new TypeError("The script of the demo is over"));
    const frames = createAnthropicFrames(reply, number);
    const body = createBody(
      frames,
      { frameMs, thinkMs },
      init?.signal ?? new AbortController().signal,
    );
    return Promise.resolve(
      new Response(body, { headers: { "content-type": "text/event-stream" } }),
    );
  };
}

function createBody(
  frames: readonly string[],
  { frameMs, thinkMs }: ScriptedFetchOptions,
  signal: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let next = 0;
  return new ReadableStream({
    async pull(controller) {
      const frame = frames[next];
      if (frame === undefined) return controller.close();
      await delay(next === 0 ? thinkMs : frameMs, signal);
      if (signal.aborted) return controller.error(signal.reason);
      next++;
      controller.enqueue(new TextEncoder().encode(frame));
    },
  }, { highWaterMark: 0 });
}

function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds === 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    signal.addEventListener("abort", wake);
  });
}
