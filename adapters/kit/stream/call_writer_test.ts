import { assertEquals, assertThrows } from "@std/assert";
import { BlockWriter } from "../../../src/core/streams/block_writer.ts";
import type { AssistantMessageEvent, ToolSpec } from "../../../src/core/streams/stream.ts";
import { findRenamedProperties } from "../request/property_names.ts";
import { CallWriter } from "./call_writer.ts";

const READ: ToolSpec = {
  name: "read file",
  description: "",
  parameters: { type: "object", properties: { "a path!": { type: "string" } } },
};

function createWriter(renamedTools?: readonly ToolSpec[]) {
  const events: AssistantMessageEvent[] = [];
  const writer = new BlockWriter((event) => events.push(event));
  const decodeToolName = (wireName: string) => wireName.replace("_", " ");
  return { calls: new CallWriter({ writer, decodeToolName }, renamedTools), events };
}

Deno.test("CallWriter: writes calls whose parts interleave, with the names of the tools", () => {
  const { calls, events } = createWriter();
  assertEquals(calls.hasCalls, false);
  const first = calls.open({ id: "1", name: "read_file" });
  const second = calls.open({ id: 2, name: "b" });
  calls.append(second, "{}");
  calls.append(first, '{"a":1}');
  calls.close(second);
  calls.close(first, { signature: "s" });
  assertEquals(calls.hasCalls, true);
  assertEquals(events, [
    { type: "start" },
    { type: "tool_call_start", contentIndex: 0, id: "1", name: "read file" },
    { type: "tool_call_start", contentIndex: 1, id: "", name: "b" },
    { type: "tool_call_delta", contentIndex: 1, delta: "{}" },
    { type: "tool_call_delta", contentIndex: 0, delta: '{"a":1}' },
    { type: "tool_call_end", contentIndex: 1 },
    { type: "tool_call_end", contentIndex: 0, signature: "s" },
  ]);
});

Deno.test("CallWriter: restores the names of parameters when a call ends, also of one that was cut off", () => {
  const { calls, events } = createWriter([READ]);
  const whole = calls.open({ id: "1", name: "read_file" });
  const cut = calls.open({ id: "2", name: "read_file" });
  const [{ wireName = "" } = {}] = findRenamedProperties(READ.parameters);
  calls.append(whole, `{"${wireName}`);
  calls.append(whole, '":"x"}');
  calls.append(cut, '{"oth');
  assertEquals(events.map(({ type }) => type), ["start", "tool_call_start", "tool_call_start"]);
  calls.close(whole);
  calls.flush();
  assertEquals(events.slice(3), [
    { type: "tool_call_delta", contentIndex: 0, delta: '{"a path!":"x"}' },
    { type: "tool_call_end", contentIndex: 0 },
    { type: "tool_call_delta", contentIndex: 1, delta: '{"oth' },
  ]);
});

Deno.test("CallWriter: refuses a name that is no text", () => {
  const { calls, events } = createWriter();
  assertThrows(() => calls.open({ id: "1", name: 5 }), TypeError, "Expected a text");
  assertEquals([calls.hasCalls, events], [false, []]);
});
