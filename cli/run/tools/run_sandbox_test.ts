import { assertEquals } from "@std/assert";
import { toRunSandbox } from "./run_sandbox.ts";

Deno.test("toRunSandbox(): reports what confines commands, or that nothing was requested", () => {
  const report = { status: "partly_confined", mechanisms: ["Landlock", "seccomp"] } as const;
  assertEquals(toRunSandbox("auto", report), report);
  assertEquals(toRunSandbox("required", report), report);
  assertEquals(toRunSandbox("off", report), { status: "off", mechanisms: [] });
});
