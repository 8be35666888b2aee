import { assertEquals } from "@std/assert";
import { ToolTime } from "./tool_time.ts";

Deno.test("ToolTime: release() keeps the calls of other runs, also of one whose id begins alike", () => {
  const time = new ToolTime();
  time.reserve({ runId: "a", toolCallId: "1" }, 10);
  time.reserve({ runId: "a b", toolCallId: "1" }, 20);
  time.reserve({ runId: "ab", toolCallId: "1" }, 40);
  time.release({ runId: "a" });
  assertEquals(time.reservedMs, 60);
});
