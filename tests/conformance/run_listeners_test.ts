/**
 * A run listens to its cancellation and its steering only as long as something waits for them, since a run may have
 * thousands of turns.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { Cancellation } from "../../src/loop/callbacks/cancellation.ts";
import { Steering } from "../../src/loop/queues/steering.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { InstantClock, scriptedPorts } from "./ports.ts";

type Subscribe<Listener> = (listener: Listener) => () => void;

/** Counts the listeners of a class while it is in use. */
class ListenerCount {
  active = 0;
  total = 0;

  /** Returns a function that subscribes as `subscribe` does, and is counted. */
  wrap<Listener>(subscribe: Subscribe<Listener>): Subscribe<Listener> {
    const onSubscribe = () => {
      this.active++;
      this.total++;
    };
    const onUnsubscribe = () => void this.active--;
    return function (this: unknown, listener) {
      const unsubscribe = subscribe.call(this, listener);
      onSubscribe();
      let isActive = true;
      return () => {
        if (isActive) onUnsubscribe();
        isActive = false;
        unsubscribe();
      };
    };
  }
}

/** Counts the listeners of cancellations and of steering until it is disposed of. */
function countListeners(): ListenerCount & Disposable {
  const count = new ListenerCount();
  const { onAbort } = Cancellation.prototype;
  const { onArrival } = Steering.prototype;
  Cancellation.prototype.onAbort = count.wrap(onAbort);
  Steering.prototype.onArrival = count.wrap(onArrival);
  return Object.assign(count, {
    [Symbol.dispose]() {
      Cancellation.prototype.onAbort = onAbort;
      Steering.prototype.onArrival = onArrival;
    },
  });
}

Deno.test("a run has no more listeners in its last turn than in its first", async () => {
  using count = countListeners();
  const counts: number[] = [];
  const call = () => reply([toolCall("write"), toolCall("read")]);
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([
      call(),
      fail("network_error", "gone"),
      call(),
      call(),
      reply("Done"),
    ]),
    tools: [fakeTool({ name: "write" }), fakeTool({ name: "read", readOnly: true })],
    approvalMode: "smart",
    approve: () => true,
    ...scriptedPorts(new InstantClock()),
    policies: [{ name: "count", preTurn: () => void counts.push(count.active) }],
  });
  await agent.prompt("Go");
  assertEquals(counts.length, 4);
  assertEquals(new Set(counts).size, 1, `listeners before each turn: ${counts}`);
  assertEquals(count.total > 10, true);
});
