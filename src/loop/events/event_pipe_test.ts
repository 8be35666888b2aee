import { assertEquals } from "@std/assert";
import type { AgentEvent, AgentEventBody } from "../../core/events/event.ts";
import { zeroCost, zeroUsage } from "../../core/models/usage.ts";
import { EventChannel, HIGH_WATER_MARK } from "./event_channel.ts";
import { type EventObserver, EventPipe } from "./event_pipe.ts";

const custom = (name: string): AgentEventBody => ({ type: "custom", name, data: null });
const start: AgentEventBody = { type: "agent_start", runId: "r" };
const end: AgentEventBody = {
  type: "agent_end",
  messages: [],
  stopReason: "stop",
  usage: zeroUsage(),
  cost: zeroCost(),
};

function formatEvent(event: AgentEvent): string {
  const name = event.type === "custom" ? event.name : event.type;
  return event.seq === undefined ? name : `${name} ${event.seq}`;
}

function createPipe(onEvent?: EventObserver["onEvent"]): {
  pipe: EventPipe;
  seen: string[];
  read: () => Promise<string[]>;
} {
  const channel = new EventChannel({ onCancel: () => Promise.resolve() });
  const seen: string[] = [];
  const pipe = new EventPipe({
    channel,
    observer: {
      onEvent: (event) => {
        seen.push(formatEvent(event));
        return onEvent?.(event);
      },
    },
  });
  const stream = channel.stream();
  const read = async (): Promise<string[]> => {
    channel.close();
    return (await Array.fromAsync(stream)).map(formatEvent);
  };
  return { pipe, seen, read };
}

Deno.test("EventPipe: emit() numbers, observes and writes events in the order of the calls", async () => {
  const { pipe, seen, read } = createPipe();
  await pipe.begin({ ...start });
  for (const name of ["a", "b"]) pipe.emit(custom(name));
  void pipe.emitDelta({ type: "text_delta", contentIndex: 0, delta: "x" });
  const expected = ["agent_start 1", "a 2", "b 3", "message_update 4"];
  assertEquals([seen, await read()], [expected, expected]);
});

Deno.test("EventPipe: emit() before begin() queues the event until then", async () => {
  const { pipe, seen, read } = createPipe();
  const waiting = [pipe.emit(custom("early")), pipe.emit(custom("too"))];
  assertEquals(seen, []);
  await pipe.begin({ ...start });
  await Promise.all(waiting);
  const expected = ["agent_start 1", "early 2", "too 3"];
  assertEquals([seen, await read()], [expected, expected]);
});

Deno.test("EventPipe: emit() after agent_end observes the event without a number and does not write it", async () => {
  const { pipe, seen, read } = createPipe();
  await pipe.begin({ ...start });
  void pipe.emit({ ...end });
  void pipe.emit(custom("late"));
  assertEquals([seen, await read()], [
    ["agent_start 1", "agent_end 2", "late"],
    ["agent_start 1", "agent_end 2"],
  ]);
});

Deno.test("EventPipe: emit() from the observer is delivered after the current event, before later ones", async () => {
  let answered = false;
  const { pipe, seen, read } = createPipe((event) => {
    if (formatEvent(event) !== "a 2" || answered) return undefined;
    answered = true;
    void pipe.emit(custom("answer"));
    void pipe.emit(custom("more"));
    return undefined;
  });
  await pipe.begin({ ...start });
  const first = pipe.emit(custom("a"));
  const second = pipe.emit(custom("b"));
  await Promise.all([first, second]);
  const expected = ["agent_start 1", "a 2", "answer 3", "more 4", "b 5"];
  assertEquals([seen, await read()], [expected, expected]);
});

Deno.test("EventPipe: emit() queues events while the observer handles one", async () => {
  const observing = Promise.withResolvers<void>();
  let answered = false;
  const { pipe, seen, read } = createPipe((event) => {
    if (formatEvent(event) === "slow 2") return observing.promise;
    if (formatEvent(event) === "b 3" && !answered) {
      answered = true;
      void pipe.emit(custom("answer"));
    }
    return undefined;
  });
  await pipe.begin({ ...start });
  const all = ["slow", "b", "c"].map((name) => pipe.emit(custom(name)));
  await Promise.resolve();
  assertEquals(seen, ["agent_start 1", "slow 2"]);
  observing.resolve();
  await Promise.all(all);
  await pipe.emit(custom("d"));
  const expected = ["agent_start 1", "slow 2", "b 3", "c 4", "answer 5", "d 6"];
  assertEquals([seen, await read()], [expected, expected]);
});

Deno.test("EventPipe: emitDelta() queues the delta while the observer handles an event, and later events behind it", async () => {
  const observing = Promise.withResolvers<void>();
  const { pipe, seen, read } = createPipe((event) =>
    formatEvent(event) === "slow 2" ? observing.promise : undefined
  );
  await pipe.begin({ ...start });
  const delta = { type: "text_delta", contentIndex: 0, delta: "x" } as const;
  const all = [pipe.emit(custom("slow")), pipe.emitDelta(delta), pipe.emit(custom("a"))];
  assertEquals(seen, ["agent_start 1", "slow 2"]);
  observing.resolve();
  await Promise.all(all);
  const expected = ["agent_start 1", "slow 2", "message_update 3", "a 4"];
  assertEquals([seen, await read()], [expected, expected]);
});

Deno.test("EventPipe: emit() of a slow or a queued event waits for the reader at the high-water mark", async () => {
  for (const queued of [false, true]) {
    const observing = Promise.withResolvers<void>();
    const channel = new EventChannel({ onCancel: () => Promise.resolve() });
    const pipe = new EventPipe({
      channel,
      observer: {
        onEvent: (event) => formatEvent(event).startsWith("slow") ? observing.promise : undefined,
      },
    });
    await pipe.begin({ ...start });
    for (let count = 2; count < HIGH_WATER_MARK - (queued ? 1 : 0); count++) {
      assertEquals(pipe.emit(custom("fast")), undefined);
    }
    const slow = pipe.emit(custom("slow"));
    const last = queued ? pipe.emit(custom("queued")) : slow;
    let isDelivered = false;
    void last?.then(() => isDelivered = true);
    observing.resolve();
    await new Promise((resolve) => setTimeout(resolve, 0));
    assertEquals(isDelivered, false);
    const reader = channel.stream().getReader();
    for (let read = 0; read < HIGH_WATER_MARK; read++) await reader.read();
    await Promise.all([slow, last]);
  }
});

Deno.test("EventPipe: drained() waits for the observer and for the reader", async () => {
  const observing = Promise.withResolvers<void>();
  const channel = new EventChannel({ onCancel: () => Promise.resolve() });
  const pipe = new EventPipe({
    channel,
    observer: { onEvent: ({ type }) => type === "custom" ? observing.promise : undefined },
  });
  const reader = channel.stream().getReader();
  void pipe.begin({ ...start });
  await reader.read();
  assertEquals(pipe.drained(), undefined);
  void pipe.emit(custom("a"));
  const order: string[] = [];
  const settled = pipe.drained()?.then(() => order.push("settled"));
  order.push("seen");
  observing.resolve();
  await new Promise((resolve) => setTimeout(resolve, 0));
  order.push("read");
  await reader.read();
  await settled;
  assertEquals(order, ["seen", "read", "settled"]);
});

Deno.test("EventPipe: abandon() delivers the queued events when the run does not start", async () => {
  const { pipe, seen, read } = createPipe();
  const waiting = pipe.emit(custom("early"));
  pipe.abandon();
  await waiting;
  assertEquals([seen, await read()], [["early"], []]);
});

Deno.test("EventPipe: adoptPending() takes over the events that wait for a slow observer", async () => {
  const pending = new Promise<void>(() => {});
  const idle = new EventPipe({
    observer: { onEvent: (event) => (seen.push(formatEvent(event)), pending) },
  });
  const { pipe, seen } = createPipe();
  void idle.emit(custom("a"));
  void idle.emit(custom("b"));
  void pipe.emit(custom("c"));
  pipe.adoptPending(idle);
  await pipe.begin({ ...start });
  assertEquals(seen, ["a", "agent_start 1", "b 2", "c 3"]);
});
