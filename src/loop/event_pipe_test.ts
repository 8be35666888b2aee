import { assertEquals } from "@std/assert";
import type { AgentEvent, AgentEventBody } from "../core/event.ts";
import { zeroCost, zeroUsage } from "../core/usage.ts";
import { EventChannel } from "./event_channel.ts";
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

function pipeWith(observe?: EventObserver): {
  pipe: EventPipe;
  seen: string[];
  read: () => Promise<string[]>;
} {
  const channel = new EventChannel({ onCancel: () => Promise.resolve() });
  const seen: string[] = [];
  const pipe = new EventPipe({
    channel,
    observe: (event) => {
      seen.push(formatEvent(event));
      return observe?.(event);
    },
  });
  const stream = channel.stream();
  const read = async (): Promise<string[]> => {
    channel.close();
    return (await Array.fromAsync(stream)).map(formatEvent);
  };
  return { pipe, seen, read };
}

Deno.test("emit() numbers, observes and writes events in the order of the calls", async () => {
  const { pipe, seen, read } = pipeWith();
  await pipe.begin({ ...start });
  for (const name of ["a", "b"]) pipe.emit(custom(name));
  void pipe.emitDelta({ type: "text_delta", contentIndex: 0, delta: "x" });
  const expected = ["agent_start 1", "a 2", "b 3", "message_update 4"];
  assertEquals([seen, await read()], [expected, expected]);
});

Deno.test("emit() before begin() is delivered after it", async () => {
  const { pipe, seen, read } = pipeWith();
  const waiting = [pipe.emit(custom("early")), pipe.emit(custom("too"))];
  assertEquals(seen, []);
  await pipe.begin({ ...start });
  await Promise.all(waiting);
  const expected = ["agent_start 1", "early 2", "too 3"];
  assertEquals([seen, await read()], [expected, expected]);
});

Deno.test("emit() after agent_end delivers without a number and does not write", async () => {
  const { pipe, seen, read } = pipeWith();
  await pipe.begin({ ...start });
  void pipe.emit({ ...end });
  void pipe.emit(custom("late"));
  assertEquals([seen, await read()], [
    ["agent_start 1", "agent_end 2", "late"],
    ["agent_start 1", "agent_end 2"],
  ]);
});

Deno.test("emit() from the observer is delivered after the current event, before later ones", async () => {
  let answered = false;
  const { pipe, seen, read } = pipeWith((event) => {
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

Deno.test("emit() queues events while the observer handles one", async () => {
  const looking = Promise.withResolvers<void>();
  let answered = false;
  const { pipe, seen, read } = pipeWith((event) => {
    if (formatEvent(event) === "slow 2") return looking.promise;
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
  looking.resolve();
  await Promise.all(all);
  await pipe.emit(custom("d"));
  const expected = ["agent_start 1", "slow 2", "b 3", "c 4", "answer 5", "d 6"];
  assertEquals([seen, await read()], [expected, expected]);
});

Deno.test("drained() waits for the observer and for the reader", async () => {
  const looking = Promise.withResolvers<void>();
  const channel = new EventChannel({ onCancel: () => Promise.resolve() });
  const pipe = new EventPipe({
    channel,
    observe: ({ type }) => type === "custom" ? looking.promise : undefined,
  });
  const reader = channel.stream().getReader();
  void pipe.begin({ ...start });
  await reader.read();
  assertEquals(pipe.drained(), undefined);
  void pipe.emit(custom("a"));
  const order: string[] = [];
  const settled = pipe.drained()?.then(() => order.push("settled"));
  order.push("seen");
  looking.resolve();
  await new Promise((resolve) => setTimeout(resolve, 0));
  order.push("read");
  await reader.read();
  await settled;
  assertEquals(order, ["seen", "read", "settled"]);
});

Deno.test("abandon() delivers the events of a run that does not start", async () => {
  const { pipe, seen, read } = pipeWith();
  const waiting = pipe.emit(custom("early"));
  pipe.abandon();
  await waiting;
  assertEquals([seen, await read()], [["early"], []]);
});

Deno.test("adoptPending() takes the events that are queued behind a slow observer", async () => {
  const stuck = new Promise<void>(() => {});
  const idle = new EventPipe({ observe: (event) => (seen.push(formatEvent(event)), stuck) });
  const { pipe, seen } = pipeWith();
  void idle.emit(custom("a"));
  void idle.emit(custom("b"));
  void pipe.emit(custom("c"));
  pipe.adoptPending(idle);
  await pipe.begin({ ...start });
  assertEquals(seen, ["a", "agent_start 1", "b 2", "c 3"]);
});
