/**
 * The events of a run as those of a protocol.
 *
 * @module
 */

import type { AgentEvent } from "../../core/events/event.ts";

/** The two ways to the events of a protocol. */
export interface EventMapping<Output> {
  /** Maps an event. */
  readonly map: (event: AgentEvent) => readonly Output[];
  /** Returns the last events of a run that cannot start, or whose events cannot be mapped. */
  readonly fail: (thrown: unknown) => readonly Output[];
}

/** Maps the events of a run. Cancelling the result aborts the run, and so does an event that cannot be mapped. */
export function mapEvents<Output>(
  stream: ReadableStream<AgentEvent>,
  { map, fail }: EventMapping<Output>,
): ReadableStream<Output> {
  const reader = stream.getReader();
  return new ReadableStream<Output>({
    async pull(controller) {
      try {
        while (true) {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          const outputs = map(value);
          for (const output of outputs) controller.enqueue(output);
          if (outputs.length > 0) return;
        }
      } catch (thrown) {
        await reader.cancel(thrown).catch(() => {});
        for (const output of fail(thrown)) controller.enqueue(output);
        controller.close();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}
