import { assertEquals } from "@std/assert";
import { fakeTool } from "../testing/fake_tool.ts";
import { ToolTime } from "./tool_time.ts";

Deno.test("ToolTime: release() keeps the calls of other runs, also of one whose id begins alike", () => {
  const time = new ToolTime();
  time.reserve({ runId: "a", toolCallId: "1" }, 10);
  time.reserve({ runId: "a b", toolCallId: "1" }, 20);
  time.reserve({ runId: "ab", toolCallId: "1" }, 40);
  time.release({ runId: "a" });
  assertEquals(time.reservedMs, 60);
});

Deno.test("ToolTime: release() ends the running calls of a run, whose time counts no longer", () => {
  const time = new ToolTime();
  const tool = fakeTool({ name: "slow" });
  time.update({ runId: "a" }, [{ toolCallId: "1", tool, durationMs: 10 }]);
  time.update({ runId: "b" }, [{ toolCallId: "1", tool, durationMs: 20 }]);
  assertEquals(time.elapsedMs, 30);
  time.release({ runId: "a" });
  assertEquals(time.elapsedMs, 20);
});
